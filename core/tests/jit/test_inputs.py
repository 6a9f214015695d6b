"""Signatures of calls, and the memory that their arguments show."""

from pathlib import Path
from typing import Any

import pytest

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.errors import JitError, ScheduleError
from plugrad.jit.inputs import Inputs, check_devices, read_inputs
from plugrad.nn.state import safe_load, safe_save
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp


def inputs(*args: Any) -> Inputs:
    return read_inputs(args, {})


def test_equal_shapes_have_one_signature_and_others_another() -> None:
    first = inputs(Tensor([1, 2])).signature
    assert inputs(Tensor([3, 4])).signature == first
    assert inputs(Tensor([3, 4, 5])).signature != first
    assert inputs(Tensor([[3, 4]])).signature != first
    assert inputs(Tensor([3.0, 4.0])).signature != first
    here, elsewhere = (inputs(Tensor([3, 4], device=name)).signature for name in ("PYTHON", "NULL"))
    assert here != elsewhere


def test_what_has_to_be_computed_first_has_the_signature_of_memory() -> None:
    first, computed = inputs(Tensor([1, 2]).realize()), inputs(Tensor([1, 2]) + 1)
    assert first.signature == computed.signature
    tensor = Tensor([1, 2]).realize()
    tensor += 1
    assert inputs(tensor).signature == first.signature
    assert inputs(tensor).buffers == [tensor.uop]


def test_one_memory_by_two_tensors_is_one_input() -> None:
    tensor = Tensor([1, 2]).realize()
    assert inputs(tensor, tensor.detach()).buffers == [tensor.uop]
    assert inputs(tensor, tensor.detach()).signature != inputs(tensor, Tensor([1, 2])).signature


def test_an_argument_without_memory_is_refused() -> None:
    uop = UOp.new_buffer("PYTHON", (2,), dtypes.int32)
    with pytest.raises(ScheduleError, match="has no memory"):
        inputs(Tensor._make(uop, "PYTHON"))


def test_views_are_passed_without_a_copy() -> None:
    base = Tensor([[1, 2], [3, 4]]).realize()
    found = inputs(base[0], base[1])
    assert found.buffers == [base.uop]
    assert [view.op is Ops.BUFFER for view in found.views] == [False, False]
    assert inputs(base[0], base[0]).signature != found.signature


def test_constants_get_memory() -> None:
    found = inputs(Tensor(3.0))
    assert storage.is_view(found.views[0])
    assert inputs(Tensor(4.0)).signature == found.signature


def test_the_value_of_a_variable_is_no_part_of_the_signature() -> None:
    n = Variable("n", 1, 8)
    base = Tensor.arange(8).realize()
    short, long = inputs(base[: n.bind(2)], n.bind(2)), inputs(base[: n.bind(7)], n.bind(7))
    assert short.signature == long.signature
    assert (short.values, long.values) == ({"n": 2}, {"n": 7})
    assert len(short.variables) == len(long.variables) == 1


def test_memory_that_no_kernel_can_read_is_refused(tmp_path: Path) -> None:
    safe_save({"x": Tensor([1, 2])}, tmp_path / "m")
    on_disk = safe_load(tmp_path / "m", device=f"DISK:{tmp_path / 'm'}")["x"]
    with pytest.raises(JitError, match="which does not compute"):
        check_devices(inputs(on_disk))
