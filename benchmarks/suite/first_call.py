"""Time a model's first call in this process: `python -m suite.first_call NAME` prints JSON.

Events mark where one part of the work ends: the processor time since the mark before is that part's.
"""

import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from plugrad import Tensor, events, jit, nn
from suite.networks import convnet, language_model, resnet18, sentence_encoder, tagger
from suite.vision import unet

#: the shapes of inputs by name of the case: of quick runs, and of others
SHAPES = {
    "small": ((16,), (16,)),
    "sentence_encoder": ((1, 8), (1, 16)),
    "resnet18": ((1, 3, 32, 32), (1, 3, 224, 224)),
    "unet": ((1, 3, 8, 8), (2, 3, 32, 32)),
    "convnet_step": ((4, 1, 28, 28), (256, 1, 28, 28)),
    "tagger_step": ((1, 4), (8, 32)),
    "language_model_step": ((1, 8), (8, 256)),
}

_MARKS = (
    events.PassEvent,
    events.LowerEvent,
    events.CompileEvent,
    events.KernelEvent,
    events.CopyEvent,
    events.RealizeEvent,
)


class Clock:
    """Observer of all events that adds up the processor time of this thread by part of the work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.kernels = 0
        self._last = time.thread_time()

    def __call__(self, event: events.Event) -> None:
        """Add the time since the event before to the part that has ended."""
        now = time.thread_time()
        self.seconds[self._part(event)] += now - self._last
        self._last = time.thread_time()

    def _part(self, event: events.Event) -> str:
        match event:
            case events.PassEvent(pipeline=pipeline, name=name):
                return name if pipeline.startswith("codegen") else "schedule"
            case events.LowerEvent():
                self.kernels += 1
                return "linearize"
            case events.CompileEvent():
                # what is rendered before the next kernel's first pass counts as that pass
                return "load"
            case events.KernelEvent() | events.CopyEvent() | events.RealizeEvent():
                return "run"
            case _:
                return "trace"


def make_call(name: str, shape: tuple[int, ...]) -> Callable[[], Any]:
    """Return the function whose first call is timed; weights and inputs have their values already."""
    rng = np.random.default_rng(0)
    is_tokens = name in ("sentence_encoder", "tagger_step", "language_model_step")
    x = Tensor(rng.integers(0, 65, shape) if is_tokens else rng.standard_normal(shape, np.float32)).realize()
    if name == "small":
        return lambda: (x + x).relu().sum().item()
    if name == "convnet_step":
        return _step(convnet(nn), x, Tensor(rng.integers(0, 10, shape[0])).realize())
    if name == "language_model_step":
        return _step(language_model(nn, Tensor.scaled_dot_product_attention), x, x.reshape(-1).contiguous())
    if name == "tagger_step":
        return _step(tagger(nn), x, x.reshape(-1).contiguous())
    model = {"resnet18": resnet18, "sentence_encoder": sentence_encoder, "unet": _unet}[name](nn)
    model.eval()
    Tensor.realize(*nn.state.get_parameters(model))
    function = jit(lambda x: model(x))
    return lambda: function(x).numpy()


def _unet(layers: Any) -> Any:
    return unet(layers, Tensor.cat)


def _step(model: Any, x: Tensor, labels: Tensor) -> Callable[[], Any]:
    parameters = nn.state.get_parameters(model)
    optimizer = nn.optim.AdamW(parameters, lr=1e-4)
    Tensor.realize(labels, *parameters)

    @jit
    def step(x: Tensor, labels: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = model(x).cross_entropy(labels)
            loss.backward()
            return loss.realize(*optimizer.schedule_step())

    return lambda: step(x, labels).numpy()


def main(name: str, *, quick: bool) -> dict[str, Any]:
    """Make a model, call it once, and return what that took."""
    imported = time.process_time()
    call = make_call(name, SHAPES[name][0 if quick else 1])
    compiler, started, clock = _seconds_of_children(), time.perf_counter(), Clock()
    with events.subscribe(_MARKS, clock):
        call()
    return {
        "wall": time.perf_counter() - started,
        "kernels": clock.kernels,
        "parts": {"import": imported, "compiler": _seconds_of_children() - compiler, **clock.seconds},
    }


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], quick="--quick" in sys.argv)))
