"""Tests of plugrad.schedule.prepare.lower_complex."""

import pytest

from plugrad.dtype import dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.schedule.prepare.lower_complex import (
    complex_view,
    join_parts,
    lower_complex,
    real_memory,
    split_parts,
)
from plugrad.uop.ops import Ops
from plugrad.uop.spec import real_spec, verify
from plugrad.uop.uop import UOp


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.complex64)


def lowered(u: UOp) -> UOp:
    out = lower_complex(UOp.sink(u))
    verify(out, real_spec)
    return out.src[0]


def part(memory: UOp, index: int) -> UOp:
    shape = memory.shape[:-1]
    return memory.shrink((*((0, size) for size in shape), (index, index + 1))).reshape(shape)


def test_a_graph_of_real_numbers_stays() -> None:
    sink = UOp.sink(UOp.new_buffer("PYTHON", (3,), dtypes.float32) + 1)
    assert lower_complex(sink) is sink


def test_memory_has_a_last_axis_of_parts() -> None:
    z = buffer(3, 4)
    memory = lowered(z)
    assert memory is real_memory(z)
    assert memory.shape == (3, 4, 2)
    assert memory.arg.ident == z.arg.ident


def test_views_of_memory_stay_views_of_it() -> None:
    z = buffer(3, 4)
    memory = real_memory(z)
    view = z.permute((1, 0)).shrink(((1, 3), (0, 2))).flip((0,)).reshape((4,))
    expected = memory.permute((1, 0, 2)).shrink(((1, 3), (0, 2), (0, 2))).flip((0,)).reshape((4, 2))
    assert lowered(view) is expected


def test_both_parts_side_by_side_are_the_memory_as_it_lies() -> None:
    z = buffer(3, 4)
    assert lowered(join_parts(z.real(), z.imag()) + 1).src[0] is real_memory(z)
    assert lowered(join_parts(z.imag(), z.real()) + 1).src[0] is not real_memory(z)


def test_parts_of_one_value_side_by_side_are_that_value() -> None:
    x = UOp.new_buffer("PYTHON", (3, 2), dtypes.float32) + 1
    real, imag = split_parts(x)
    assert join_parts(real, imag) is x
    assert join_parts(imag, real) is not x
    assert join_parts(real, real) is not x


def test_parts_that_lie_side_by_side_are_written_as_they_are() -> None:
    x = UOp.new_buffer("PYTHON", (3, 2), dtypes.float32) * 2
    real, imag = split_parts(x)
    assert lowered(real.with_imag(imag)) is x
    assert lowered(imag.with_imag(real)) is not x


def test_the_view_of_complex_memory_is_found_again() -> None:
    z = buffer(3, 4)
    for view in (
        z.permute((1, 0)),
        z.shrink(((1, 3), (0, 2))),
        z.flip((0,)),
        z.reshape((12,)),
        z.pad(((1, 0), (0, 2))),
    ):
        moved = lowered(view)
        assert complex_view(moved, moved.src[1:], z) is view


def test_a_part_that_is_asked_for_has_memory_of_its_own() -> None:
    z = buffer(3)
    assert lowered(z.real()) is part(real_memory(z), 0).contiguous()
    assert lowered(z.imag() + 1.0) is part(real_memory(z), 1) + 1.0


def test_a_product_is_four_of_its_parts() -> None:
    z, w = buffer(3), buffer(3)
    (a, b), (c, d) = ((part(real_memory(u), 0), part(real_memory(u), 1)) for u in (z, w))
    assert lowered((z * w).real()) is a * c - b * d
    assert lowered((z * w).imag()) is a * d + b * c


def test_comparisons_look_at_both_parts() -> None:
    z, w = buffer(3), buffer(3)
    (a, b), (c, d) = ((part(real_memory(u), 0), part(real_memory(u), 1)) for u in (z, w))
    assert lowered(z.eq(w)) is a.eq(c) & b.eq(d)
    assert lowered(z.ne(w)) is a.ne(c) | b.ne(d)


def test_what_is_written_to_memory_is_interleaved() -> None:
    z, w = buffer(3), buffer(3)
    written = lowered(z.assign(w * 2.0))
    assert written.op is Ops.ASSIGN
    assert written.dtype is dtypes.float32
    assert written.src[0] is real_memory(z)
    assert written.src[1].shape == (3, 2)
    assert written.src[1].op is Ops.WHERE


def test_a_product_along_an_axis_of_symbolic_size_is_refused() -> None:
    size = UOp.variable("n", 1, 3).bind(2)
    with pytest.raises(ShapeError, match="symbolic size"):
        lowered(buffer(3).shrink(((0, size),)).reduce_axis(Ops.MUL, (0,)))


def test_operations_of_ordered_numbers_are_refused_when_they_are_built() -> None:
    z = buffer(3)
    for build in (
        lambda: z < z,
        lambda: z.maximum(z),
        lambda: z.exp(),
        lambda: z // z,
        lambda: z.reduce_axis(Ops.MAX, (0,)),
    ):
        with pytest.raises(DtypeError, match="complex"):
            build()
