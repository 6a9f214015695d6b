"""Refuse graphs that have no schedule, and say why."""

from plugrad.dtype import dtypes
from plugrad.errors import ScheduleError
from plugrad.schedule.versions import check_target, targets
from plugrad.uop import ELEMENTWISE, Ops, UOp
from plugrad.uop.spec import tensor_spec


def check_graph(sink: UOp) -> None:
    """Do nothing for a graph that can be scheduled.

    Raises:
        ScheduleError: a node is no operation on tensors, mixes devices, or assigns to what is no memory.
    """
    below = targets()
    for u in sink.toposort():
        if u.op not in tensor_spec.checks:
            raise ScheduleError(
                f"cannot schedule {u.op.name}: it is no operation on tensors, but a part of kernels. "
                "Build graphs with the methods of UOp that give values with a shape."
            )
        if u.dtype is dtypes.index:
            continue
        if u.op in ELEMENTWISE or u.op is Ops.ASSIGN:
            _check_devices(u)
        if u.op is Ops.ASSIGN:
            check_target(u, below)


def _check_devices(u: UOp) -> None:
    first = u.src[0].device
    for s in u.src[1:]:
        device = s.device
        if device is None or device == first:
            continue
        if first is not None:
            raise ScheduleError(
                f"{u.op.name} of shape {u.shape} takes values on {first} and on {device}: a kernel runs "
                f"on one device. Copy one of them first: .to({first!r})."
            )
        first = device
