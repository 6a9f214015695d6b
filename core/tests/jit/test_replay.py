"""Recorded steps run again on other buffers."""

from plugrad import Tensor, events
from plugrad.engine import storage
from plugrad.engine.capture import capturing
from plugrad.jit.replay import Replay


def buffer(tensor: Tensor) -> storage.Buffer:
    return storage.buffer_of(storage.base_of(tensor.realize().uop))


def test_open_buffers_are_exchanged_and_others_stay() -> None:
    x, w = Tensor([1.0, 2.0]).realize(), Tensor([10.0, 100.0]).realize()
    with capturing() as capture:
        out = (x * w).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result = Tensor([3.0, 4.0]), Tensor([0.0, 0.0])
    replay.run([buffer(other), buffer(result)], {})
    assert result.tolist() == [30.0, 400.0]
    assert out.tolist() == [10.0, 200.0]


def test_copies_between_devices_are_repeated() -> None:
    x = Tensor([1, 2], device="PYTHON").realize()
    with capturing() as capture:
        out = (x.to(None if Tensor([1]).device == "PYTHON" else Tensor([1]).device) + 1).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result = Tensor([5, 6], device="PYTHON"), Tensor([0, 0])
    replay.run([buffer(other), buffer(result)], {})
    assert result.tolist() == [6, 7]


def test_observers_see_the_launches_of_a_replay() -> None:
    x = Tensor([1.0, 2.0]).realize()
    with capturing() as capture:
        out = (x + 1).realize()
    replay = Replay(capture.steps, [buffer(x), buffer(out)])
    other, result, seen = Tensor([3.0, 4.0]), Tensor([0.0, 0.0]), []
    buffers = [buffer(other), buffer(result)]
    with events.subscribe(events.KernelEvent, seen.append):
        replay.run(buffers, {})
    assert len(seen) == 1
    assert result.tolist() == [4.0, 5.0]
