"""Operations that leave values as they are and say when things happen."""

from plugrad_conformance.programs.ops.op_spec import op

OPS = (
    op("realize", 1, lambda x: x, lambda x: x.realize(), is_view=True),
    op("contiguous", 1, lambda x: x, lambda x: x.contiguous()),
    op("detach", 1, lambda x: x, lambda x: x.detach(), is_view=True),
)
