"""Tensors that move from device to device."""

from collections.abc import Callable

import pytest

from plugrad import Device, Tensor, dtypes
from plugrad.errors import DeviceError, DeviceNotFound
from plugrad.uop.ops import Ops


def test_tensors_move_between_devices() -> None:
    t = Tensor([1.0, 2.0])
    assert t.to(None) is t
    assert t.to(t.device) is t
    other = "NULL" if Device.DEFAULT == "PYTHON" else "PYTHON"
    moved = t.to(other)
    assert moved.device == other
    assert moved.uop.op is Ops.COPY
    if other == "PYTHON":
        assert (moved + 1).tolist() == [2.0, 3.0]
    assert Tensor(1.0).to(other).device == other


def test_tensors_of_two_devices_do_not_mix() -> None:
    a, b = Tensor([1.0], device="PYTHON"), Tensor([1.0], device="NULL")
    for mix in (lambda: a + b, lambda: a.cat(b), lambda: a @ b, lambda: a.assign(b)):
        with pytest.raises(DeviceError, match=r"on (PYTHON|NULL)"):
            mix()


def test_constants_go_anywhere() -> None:
    out = Tensor(2.0) * Tensor([1.0], device="NULL")
    assert out.device == "NULL"
    assert (Tensor.ones(2) + Tensor.zeros(2)).device == Device.DEFAULT
    assert Tensor.ones(2, device="NULL").realize().uop.device == "NULL"


def test_a_device_that_is_not_there_is_refused_at_once() -> None:
    with pytest.raises(DeviceNotFound, match="NOWHERE"):
        Tensor([1], device="NOWHERE")


@pytest.mark.parametrize(
    "ask",
    [
        lambda name: Tensor([1.0]).to(name),
        lambda name: Tensor([1.0]).to_(name),
        lambda name: Tensor([1.0], device=name),
        lambda name: Tensor.zeros(2, device=name),
        lambda name: Tensor.empty(2, device=name),
        lambda name: Tensor.rand(2, device=name),
        lambda name: Tensor.randperm(2, device=name),
    ],
)
def test_a_device_that_cannot_be_found_is_refused_when_it_is_asked_for(ask: Callable[[str], object]) -> None:
    # not when something is computed there: until then values could be printed as though they had moved
    with pytest.raises(DeviceNotFound, match="CPU"):
        ask("CPU:4096")


def test_tensors_move_to_a_device_a_dtype_or_another_tensor() -> None:
    t = Tensor([1, 2])
    assert (
        t.to(dtypes.float16).dtype is t.to(None, "half").dtype is t.to(dtype="half").dtype is dtypes.float16
    )
    other = Tensor([0.5], device="PYTHON", dtype="float64")
    assert (t.to(other).device, t.to(other).dtype) == ("PYTHON", dtypes.float64)
    assert (t.to("PYTHON", "int8").device, t.to("PYTHON", "int8").tolist()) == ("PYTHON", [1, 2])
    assert t.to(None) is t.to() is t


def test_a_parameter_moves_in_place_with_its_gradient(device: str) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    (w * 3).sum().backward()
    target = "CPU" if device == "PYTHON" else "PYTHON"
    assert w.to_(device) is w
    assert w.to_(target) is w
    assert (w.device, w.grad.device, w.tolist(), w.grad.tolist()) == (target, target, [1.0, 2.0], [3.0, 3.0])
    (w * 2).sum().backward()
    assert w.grad.tolist() == [5.0, 5.0]
    assert w.assign(w.detach() - 1).tolist() == [0.0, 1.0]


def test_what_was_computed_moves_in_place_with_its_history(device: str) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    y = w * 2
    y.to_("CPU" if device == "PYTHON" else "PYTHON").sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]
