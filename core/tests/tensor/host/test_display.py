"""Tensors as text: as NumPy shows them, where that takes no computing."""

import numpy as np
import pytest

from plugrad import Tensor, Variable, dtypes, events
from plugrad.jit import jit
from plugrad.tensor.host.display import describe, text_of
from plugrad.uop.ops import Ops


def test_printing_never_computes() -> None:
    t = Tensor([[1.0, 2.0]], device="PYTHON") + 1
    with events.subscribe(events.KernelEvent, lambda event: pytest.fail("ran a kernel")):
        text = str(t)
        flipped = str(Tensor([[1, 2], [3, 4]], device="PYTHON").realize().T.reshape(4))
    assert text == "<Tensor (1, 2) float32 on PYTHON, not computed: add of 1 buffer>"
    assert t.uop.op is Ops.ADD
    assert flipped == "<Tensor (4,) int32 on PYTHON>"


@pytest.mark.parametrize("values", [[1, 2, 3], [[1.0, 2.5], [3.0, -4e9]], [True, False], [1 + 2j], 7, []])
def test_what_lies_in_memory_prints_as_in_numpy(values: object) -> None:
    t = Tensor(values, device="PYTHON")
    shown = np.array2string(np.array(values, t.numpy().dtype), separator=", ", prefix="Tensor(")
    assert str(t).startswith(f"Tensor({shown}, dtype={t.dtype.name}, device='PYTHON'")
    assert repr(t.realize()) == str(t)


def test_numbers_that_are_no_memory_print_too() -> None:
    assert str(Tensor(3, device="PYTHON")) == "Tensor(3, dtype=int32, device='PYTHON')"
    assert str(Tensor.ones(2, device="PYTHON")) == "Tensor([1., 1.], dtype=float32, device='PYTHON')"
    padded = Tensor.ones(2, device="PYTHON").pad(((1, 1),))
    assert "not computed" in str(padded) or "0., 1., 1., 0." in str(padded)


def test_a_large_tensor_takes_a_screen_at_most_and_reads_only_what_it_shows() -> None:
    x = Tensor.arange(120_000, device="PYTHON").reshape(30, 40, 100).realize()
    for view in (x, x[3], x.T, x.flip(0), x.reshape(60_000, 2), x.reshape(*[2] * 6, 1875)):
        lines = str(view).splitlines()
        assert len(lines) <= 64
        assert "..." in lines[0] or len(lines) > 1
        assert str(view).endswith(f"shape={view.shape})")
    shown = np.array2string(x.numpy(), separator=", ", prefix="Tensor(", threshold=0, edgeitems=2)
    assert str(x).startswith(f"Tensor({shown}")


def test_small_floats_print_as_float32() -> None:
    assert str(Tensor([1.5], dtype=dtypes.bfloat16, device="PYTHON")).startswith(
        "Tensor([1.5], dtype=bfloat16"
    )


def test_memory_that_nobody_wrote_and_symbolic_shapes_are_described() -> None:
    assert str(Tensor.empty(3, device="PYTHON")) == "<Tensor (3,) float32 on PYTHON>"
    assert "(n,)" in repr(Tensor.ones(Variable("n", 1, 5), device="PYTHON"))


def test_values_of_a_symbolic_shape_are_those_of_today() -> None:
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device="PYTHON")
    t = (x[:, : Variable("n", 1, 3).bind(2)] + 1).realize()
    assert str(t) == "Tensor([[2., 3.],\n        [5., 6.]], dtype=float32, device='PYTHON')"
    assert "not computed" in str(t * 2)


def test_a_write_that_waits_is_not_computed() -> None:
    t = Tensor([1.0, 2.0], device="PYTHON")
    t.assign(t + 1)
    assert "not computed: assign, add" in str(t)
    assert str(t.realize()).startswith("Tensor([2., 3.]")


def test_requires_grad_is_said() -> None:
    t = Tensor([1.0], device="PYTHON", requires_grad=True)
    assert "requires_grad=True" in repr(t)
    assert ", requires_grad>" in describe(t)


def test_format_without_a_spec_is_the_text() -> None:
    t = Tensor([[1.0, 2.0]], device="PYTHON") + 1
    assert f"{t}" == text_of(t)
    assert f"{t.sum():.2f}" == "5.00"


def test_a_traced_function_may_print_its_arguments() -> None:
    said: list[str] = []

    @jit
    def double(x: Tensor) -> Tensor:
        said.append(str(x))
        return x * 2

    for value in (1.0, 2.0, 3.0):
        assert double(Tensor([value], device="PYTHON")).tolist() == [2 * value]
    assert said[-1].startswith("<Tensor (1,) float32") or said[-1].startswith("Tensor([")
