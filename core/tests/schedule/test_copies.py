from plugrad.dtype import dtypes
from plugrad.schedule.copies import with_copies
from plugrad.uop.uop import UOp


def buffer(*shape: int, device: str = "PYTHON") -> UOp:
    return UOp.new_buffer(device, shape, dtypes.float32)


def test_a_copied_version_is_read_and_the_original_assigned_to() -> None:
    x = buffer(4)
    changed = x.flip((0,)).assign(x.shrink(((0, 4),)) + x)
    graph, _ = with_copies(UOp.sink(changed, x.reshape((2, 2))), set(), versions={x})
    new, view = graph.src
    own = x.contiguous()
    assert new is x.flip((0,)).assign(own.shrink(((0, 4),)) + own)
    assert view is x.reshape((2, 2))


def test_the_value_of_an_assign_can_be_computed_first() -> None:
    x = buffer(4)
    changed = x.assign(x.flip((0,)))
    graph, _ = with_copies(UOp.sink(changed), set(), values_of={changed})
    assert graph.src[0] is x.assign(x.flip((0,)).contiguous())
