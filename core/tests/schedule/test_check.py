import pytest

from plugrad.dtype import dtypes
from plugrad.errors import ScheduleError
from plugrad.schedule.check import check_graph
from plugrad.uop.uop import UOp


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def test_values_of_two_devices_in_one_operation_are_refused() -> None:
    with pytest.raises(ScheduleError, match="on PYTHON and on PYTHON:1"):
        check_graph(UOp.sink(buffer(3) + buffer(3, device="PYTHON:1")))
    with pytest.raises(ScheduleError, match="on PYTHON and on PYTHON:1"):
        check_graph(UOp.sink(buffer(3).assign(buffer(3, device="PYTHON:1"))))


def test_numbers_live_on_every_device() -> None:
    check_graph(UOp.sink(UOp.iota(3).cast(dtypes.float32) + buffer(3, device="PYTHON:1")))


def test_parts_of_kernels_are_no_tensors() -> None:
    with pytest.raises(ScheduleError, match="cannot schedule RANGE"):
        check_graph(UOp.sink(buffer(3) + UOp.range(3, 0).cast(dtypes.float32)))


def test_targets_are_memory() -> None:
    x = buffer(4, 1)
    check_graph(x.permute((1, 0)).flip((1,)).assign(x.permute((1, 0))))
    with pytest.raises(ScheduleError, match="cannot assign to EXPAND"):
        check_graph(x.expand((4, 2)).assign(x.expand((4, 2))))
    with pytest.raises(ScheduleError, match="cannot assign to MUL"):
        check_graph((x * 2).assign(x))
