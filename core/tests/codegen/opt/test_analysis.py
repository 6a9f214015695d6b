from dataclasses import replace

import pytest

from plugrad.codegen.opt.analysis import bodies_of, divisors, element_time, lanes_along, steps_of
from plugrad.dtype import STORABLE, DType, dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp


def vectors(bits: int) -> Capabilities:
    return Capabilities(frozenset(STORABLE), frozenset(STORABLE), vector_bits=bits)


def param(slot: int, numel: int, dtype: DType = dtypes.float32) -> UOp:
    return UOp(Ops.PARAM, dtype, (), (slot, numel))


i, j, k = UOp.range(4, 0), UOp.range(8, 1), UOp.range(16, 2, AxisType.REDUCE)
a, b = param(1, 64).index(i * 16 + k), param(2, 128).index(k * 8 + j)
total = (a.load() * b.load()).reduce(Ops.ADD, k)
matmul = UOp.sink(param(0, 32).index(i * 8 + j).store(total * 2.0, i, j), arg=KernelInfo())


def test_a_kernel_has_a_body_for_its_stores_and_one_for_each_reduction() -> None:
    outside, inside = bodies_of(matmul)
    assert (outside.reduce, outside.steps, outside.operations) == (None, 32, 1)
    assert [p.is_store for p in outside.places] == [True]
    assert (inside.reduce, inside.steps, inside.operations) == (total, 512, 1)
    assert {p.index for p in inside.places} == {a, b}


def test_places_know_how_they_move() -> None:
    places = {p.index: p for p in bodies_of(matmul)[1].places}
    assert not places[a].moves(j)
    assert places[b].moves(j)
    assert places[b].is_contiguous(j)
    assert not places[b].is_contiguous(k)


def test_a_gate_that_moves_breaks_a_run_of_elements() -> None:
    gated = UOp.sink(param(0, 8).index(j).store(param(1, 8).index(j, j < 5).load(), j), arg=KernelInfo())
    store, load = sorted(bodies_of(gated)[0].places, key=lambda p: not p.is_store)
    assert store.is_contiguous(j)
    assert not load.is_contiguous(j)


def test_lanes_that_are_loaded_apart_write_out_their_addresses() -> None:
    places = {p.index: p for p in bodies_of(matmul)[1].places}
    assert [places[b].written_out(r) for r in (i, j, k)] == [0, 0, 2]
    label = param(2, 16, dtypes.int32).index(k).load().cast(dtypes.index)
    chosen = param(1, 160).index(k * 10 + label.maximum(0)).load().reduce(Ops.ADD, k)
    kernel = UOp.sink(param(0, 1).index(UOp.const(dtypes.index, 0)).store(chosen), arg=KernelInfo())
    product_sum_and_maximum = 3
    assert bodies_of(kernel)[1].places[0].written_out(k) == 2 + product_sum_and_maximum


def test_lanes_fit_the_widest_element_and_the_axis() -> None:
    places = bodies_of(matmul)[1].places
    assert lanes_along(places, j, vectors(512)) == 8
    assert lanes_along(places, j, vectors(128)) == 4
    assert lanes_along(places, j, replace(vectors(512), max_lanes=2)) == 2
    assert lanes_along(places, UOp.range(12, 1), vectors(512)) == 8
    assert lanes_along(places, UOp.range(7, 1), vectors(512)) == 4


@pytest.mark.parametrize(
    ("bits", "unit", "time"), [(512, 256, 0.5), (512, 0, 1), (256, 256, 1), (128, 256, 1)]
)
def test_an_element_takes_less_than_a_vector_wider_than_its_unit(bits: int, unit: int, time: float) -> None:
    can = Capabilities(frozenset(), frozenset(), vector_bits=bits, vector_unit_bits=unit)
    assert element_time(can) == time


def test_lanes_of_small_floats_that_are_only_stored_fit_as_float32() -> None:
    r = UOp.range(64, 0)
    value = param(1, 64, dtypes.float16).index(r).load()
    kernel = UOp.sink(param(0, 64, dtypes.float16).index(r).store(value + value, r), arg=KernelInfo())
    places = bodies_of(kernel)[0].places
    assert lanes_along(places, r, vectors(512)) == 32
    stored = vectors(512).compute_dtypes - {dtypes.float16}
    assert lanes_along(places, r, replace(vectors(512), compute_dtypes=stored)) == 16


def test_symbolic_axes_count_at_their_highest() -> None:
    n = UOp.range(UOp.variable("n", 1, 10), 3)
    assert steps_of([n, i]) == 40


def test_divisors_come_in_the_given_order() -> None:
    assert divisors(12, (8, 6, 5, 4)) == [6, 4]


def copied(size: int) -> UOp:
    r = UOp.range(size, 0)
    value = param(1, size).index(r).load() + 1.0
    return UOp.sink(param(0, size).index(r).store(value, r), arg=KernelInfo())


@pytest.mark.parametrize(("size", "counts"), [(1024, [1, 2, 4]), (40, [1]), (48, [1, 2]), (1001, [1, 2, 4])])
def test_short_work_on_long_axes_takes_four_vectors_at_a_time(size: int, counts: list[int]) -> None:
    (body,) = bodies_of(copied(size))
    (r,) = body.loops
    assert body.side_by_side(r, 8) == counts


def test_lanes_that_are_loaded_apart_are_computed_a_vector_at_a_time() -> None:
    r = UOp.range(1024, 0)
    far = param(1, 3072).index(r * 3).load()
    (body,) = bodies_of(UOp.sink(param(0, 1024).index(r).store(far, r), arg=KernelInfo()))
    assert body.side_by_side(r, 8) == [1]
