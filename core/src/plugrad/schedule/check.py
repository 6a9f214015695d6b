"""Refuse graphs that have no schedule, and say why."""

from plugrad.dtype import dtypes
from plugrad.errors import ScheduleError
from plugrad.schedule.versions import IN_PLACE, Descent
from plugrad.uop import ELEMENTWISE, MOVEMENT, Ops, UOp
from plugrad.uop.spec import tensor_spec

# Ops that show each element of a target at most once. (A strided slice pads and shrinks; that nothing of the
# padding is left is found when its addresses are.)
_SHOW_TARGETS = (IN_PLACE | MOVEMENT) - {Ops.EXPAND}


def check_graph(sink: UOp) -> None:
    """Do nothing for a graph that can be scheduled.

    Raises:
        ScheduleError: a node is no operation on tensors, mixes devices, or assigns to what is no memory.
    """
    below = Descent(lambda u: u.op in _SHOW_TARGETS)
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
        if u.op is Ops.ASSIGN and (target := below(u.src[0])).op is not Ops.BUFFER:
            raise ScheduleError(
                f"cannot assign to {target.op.name} of shape {target.shape}: a target is memory, or part of "
                "it (reshaped, permuted, shrunk, flipped). Assign to a buffer, and compute with that."
            )


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
