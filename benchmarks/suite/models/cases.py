"""The models that are timed, with their inputs; no library is imported."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from suite.networks import convnet, language_model, resnet18

RATE = 1e-4


@dataclass(frozen=True)
class Case:
    """Describe a model, its input and, where it is trained, its labels and step size."""

    title: str
    network: Callable[[Any, Any], Any]
    example: np.ndarray
    labels: np.ndarray | None = None
    decay: float = 0.0


def cases(quick: bool) -> list[Case]:
    rng = np.random.default_rng(0)

    def images(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    def resnet(library: Any, _: Any) -> Any:
        return resnet18(library)

    def digits(library: Any, _: Any) -> Any:
        return convnet(library)

    def text(rows: int, length: int) -> np.ndarray:
        return rng.integers(0, 65, (rows, length))

    if quick:
        model = partial(language_model, layers=1)
        return [
            Case("ResNet-18, 1 image of 32 x 32", resnet, images(1, 3, 32, 32)),
            Case("language model, 2 x 8 characters", model, text(2, 8), text(2, 8), 0.01),
        ]
    return [
        Case("ResNet-18, 1 image of 224 x 224", resnet, images(1, 3, 224, 224)),
        Case("ResNet-18, 8 images of 224 x 224", resnet, images(8, 3, 224, 224)),
        Case("step of a convnet, 256 digits", digits, images(256, 1, 28, 28), rng.integers(0, 10, 256)),
        Case("step of a language model, 8 x 256", language_model, text(8, 256), text(8, 256), 0.01),
    ]
