"""The models that are timed, with their inputs; no library is imported."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.networks import convnet, language_model, resnet18, tagger
from suite.vision import mobilenet, unet, vision_transformer

RATE = 1e-4


@dataclass(frozen=True)
class Case:
    """Describe a model, its input and, where it is trained, its labels and step size.

    `network` takes the library's layers, attention, and concatenation. `winograd` is for plugrad's `WINO`.
    """

    title: str
    network: Callable[[Any, Any, Any], Any]
    example: np.ndarray
    labels: np.ndarray | None = None
    decay: float = 0.0
    winograd: bool = False


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(0)

    def images(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    def alone(network: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
        return lambda layers, attend, join: network(layers)

    def characters(layers: Any, attend: Any, join: Any) -> Any:
        return language_model(layers, attend, 1 if quick else 6)

    def joining(layers: Any, attend: Any, join: Any) -> Any:
        return unet(layers, join)

    def text(rows: int, length: int) -> np.ndarray:
        return rng.integers(0, 65, (rows, length))

    if quick:
        return [
            Case("ResNet-18, 1 image of 32 x 32", alone(resnet18), images(1, 3, 32, 32)),
            Case("language model, 2 x 8 characters", characters, text(2, 8), text(2, 8), 0.01),
        ]
    return [
        Case("ResNet-18, 1 image of 224 x 224", alone(resnet18), images(1, 3, 224, 224)),
        Case("the same, `WINO=1`", alone(resnet18), images(1, 3, 224, 224), winograd=True),
        Case("ResNet-18, 8 images of 224 x 224", alone(resnet18), images(8, 3, 224, 224)),
        Case("MobileNetV2, 1 image of 224 x 224", alone(mobilenet), images(1, 3, 224, 224)),
        Case("vision transformer, 2 images of 224 x 224", alone(vision_transformer), images(2, 3, 224, 224)),
        Case("U-Net, 2 images of 32 x 32", joining, images(2, 3, 32, 32)),
        Case(
            "step of a convnet, 256 digits", alone(convnet), images(256, 1, 28, 28), rng.integers(0, 10, 256)
        ),
        Case("step of an LSTM, 8 x 32 words", alone(tagger), text(8, 32), text(8, 32)),
        Case("step of a language model, 8 x 256", characters, text(8, 256), text(8, 256), 0.01),
    ]
