import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.dtype import dtypes
from plugrad.uop.index_math.divmod import divide_exactly, highest_of
from plugrad.uop.ops import Ops
from plugrad.uop.symbolic import simplify
from plugrad.uop.uop import UOp

x = UOp.variable("x", 0, 1000)
s = UOp.variable("s", -50, 50)
n, m = UOp.variable("n", 1, 40), UOp.variable("m", 1, 40)
r4, r6 = UOp.range(4, 0), UOp.range(6, 2)
rn, rm = UOp.range(n, 3), UOp.range(m, 4)


def num(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


CONSTANT_DIVISORS = [
    (x // 1, x),
    (x % 1, num(0)),
    (x % -1, num(0)),
    (r4 // 4, num(0)),
    (r4 % 4, r4),
    ((r4 + 4) // 4, num(1)),
    ((r4 + 4) % 4, r4),
    ((x * 4 + r4) // 4, x),
    ((x * 4 + r4) % 4, r4),
    ((r4 * 4 + r4) // 4, r4 + (r4 // 4)),
    (x * 6 // 4, x * 3 // 2),
    (x * 6 % 4, x * 2 % 4),
    ((x * 6 + 3) // 4, x + (x * 2 + 3) // 4),
    (x // 3 // 4, x // 12),
    (x % 12 % 4, x % 4),
    (x % 12 // 4, x // 4 % 3),
    ((x // 3 + 5) // 4, (x + 3) // 12 + 1),
    ((x % 12 + s) % 4, (s + x) % 4),
    ((x + 9) // 4, (x + 1) // 4 + 2),
    ((x + 9) % 4, (x + 1) % 4),
    (x // -4, x * -1 // 4),
    (s // -3, s * -1 // 3),
    (s % -3, s * -1 % 3 * -1),
    ((x * 8 + r4) // 24, x // 3),
    ((x * 8 + r4) % 24, x % 3 * 8 + r4),
    ((x * 8 + r4 * 2 + 1) % 24, x % 3 * 8 + r4 * 2 + 1),
    ((r4 * 7 + r6 * 8) // 8, r6 + r4 * 7 // 8),
    ((r4 * -1 + 3) // 4, num(0)),
    ((r4 * -1 + 3) % 4, r4 * -1 + 3),
    ((r4 * -1 + 7) % 4, r4 * -1 + 3),
    ((r4 * 7 + 3) % 8, r4 * -1 + 3),
    ((r4 * 7 + 3) // 8, r4),
    (x // 4 * 4 + x % 4, x),
    (x // 12 * 12 + x // 4 % 3 * 4 + x % 4, x),
    (x // 4 % 3 * 4 + x % 4, x % 12),
    (x // 12 * 24 + x % 12 * 2, x * 2),
    (x // 12 * 3 + x // 4 % 3, x // 4),
    ((x + 5) // 4 * 4 + (x + 5) % 4, x + 5),
    ((s * 6) // 4 * 4 + (s * 6) % 4, s * 6),
]

SYMBOLIC_DIVISORS = [
    (n // n, num(1)),
    (n % n, num(0)),
    (rn // n, num(0)),
    (rn % n, rn),
    ((x * n) // n, x),
    ((x * n) % n, num(0)),
    ((x * n + rn) // n, x),
    ((x * n + rn) % n, rn),
    ((rn * m + rm) // m, rn),
    ((rn * m + rm) % m, rm),
    ((rn * m + rm) // (n * m), num(0)),
    (((r4 * n + rn) * m + rm) // (n * m), r4),
    (((r4 * n + rn) * m + rm) % (n * m), simplify(rn * m + rm)),
    (((r4 * n + rn) * m + rm) // m % n, rn),
    ((x * n + rn) // (n * 4), x // 4),
    ((x * n + rn) % (n * 4), simplify(x % 4 * n + rn)),
    (x // 3 // n, x // (n * 3)),
    (x // n * n + x % n, x),
    ((x + n) // n, x // n + 1),
    ((x + n) % n, x % n),
    (x // (n * -1), x * -1 // n),
    (x % (n * -1), x * -1 % n * -1),
    ((x * (n + 1) + rn) // (n + 1), x),
    ((x * (n + 1) + rn) % (n + 1), rn),
    ((x * n + x) // (n + 1), x),
]


@pytest.mark.parametrize(("before", "after"), CONSTANT_DIVISORS + SYMBOLIC_DIVISORS)
def test_quotient_or_remainder_takes_its_simplest_form(before: UOp, after: UOp) -> None:
    assert simplify(before) is simplify(after)


@pytest.mark.parametrize(("before", "after"), CONSTANT_DIVISORS)
def test_constant_divisor_is_proved(before: UOp, after: UOp, prove_equal: Callable[..., None]) -> None:
    prove_equal(before, simplify(before))
    prove_equal(before, after)


@pytest.mark.parametrize(("before", "after"), SYMBOLIC_DIVISORS)
def test_symbolic_divisor_holds_for_all_small_values(
    before: UOp, after: UOp, compute: Callable[..., Any]
) -> None:
    result = simplify(before)
    for vx, vn, vm, v4 in itertools.product(range(0, 40, 3), range(1, 7), range(1, 5), range(4)):
        for vrn, vrm in itertools.product(range(vn), range(vm)):
            values = {x: vx, n: vn, m: vm, r4: v4, rn: vrn, rm: vrm}
            assert compute(before, values) == compute(result, values) == compute(after, values)


@pytest.mark.parametrize("divisor", [d for d in range(-9, 10) if d])
@pytest.mark.parametrize(
    "numerator",
    [s, s * 2 + 1, s * 6 - 4, s * -3 + 2, s // 2 + 1, s % 6 * 3 - 1, s * 3 + r4 * 6, s * -4 + r4, s // 3 % 5],
)
def test_every_small_divisor_is_proved(divisor: int, numerator: UOp, try_all: Callable[..., None]) -> None:
    for before in (numerator // divisor, numerator % divisor):
        try_all(before, simplify(before))


def test_divisor_that_may_be_zero_is_left_alone() -> None:
    zero_or_more = UOp.variable("z", 0, 5)
    assert simplify(x // zero_or_more) is x // zero_or_more
    assert simplify(zero_or_more // zero_or_more) is zero_or_more // zero_or_more


def _flatten(indices: list[UOp], shape: list[Any]) -> UOp:
    out: Any = num(0)
    for i, size in zip(indices, shape, strict=True):
        out = out * size + i
    return out


def _unflatten(flat: UOp, shape: list[Any]) -> list[UOp]:
    out: list[UOp] = []
    stride: Any = num(1)
    for size in reversed(shape):
        out.append(flat // stride % size)
        stride = stride * size
    return out[::-1]


@pytest.mark.parametrize(
    "shape",
    [
        [4],
        [4, 5],
        [3, 4, 5],
        [2, 3, 4, 5],
        [7, 1, 3],
        [16, 16],
        [n, 4],
        [4, n],
        [n, m],
        [3, n, 4],
        [n, 4, m],
        [n + 1, 4],
        [4, n + 1, m],
    ],
)
def test_flatten_then_unflatten_cancels(shape: list[Any]) -> None:
    ranges = [UOp.range(size, axis) for axis, size in enumerate(shape)]
    back = _unflatten(_flatten(ranges, shape), shape)
    # an axis of size one has one index
    expected = [num(0) if size == 1 else r for r, size in zip(ranges, shape, strict=True)]
    assert [simplify(b) for b in back] == expected


@given(shape=st.lists(st.integers(1, 9), min_size=1, max_size=4), data=st.data())
def test_unflatten_then_flatten_cancels(shape: list[int], data: st.DataObject) -> None:
    size = math.prod(shape)
    flat = UOp.range(size, 0)
    assert simplify(_flatten(_unflatten(flat, shape), shape)) is (flat if size > 1 else num(0))


@given(
    merged=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    parts=st.lists(st.sampled_from([1, 2, 3, 4]), min_size=3, max_size=3),
)
def test_reshape_to_finer_axes_and_back_cancels(merged: list[int], parts: list[int]) -> None:
    coarse = [size * part for size, part in zip(merged, parts, strict=False)]
    fine = [f for pair in zip(merged, parts, strict=False) for f in pair]
    ranges = [UOp.range(size, axis) for axis, size in enumerate(coarse)]
    middle = _unflatten(_flatten(ranges, coarse), fine)
    back = [simplify(b) for b in _unflatten(_flatten(middle, fine), coarse)]
    assert back == [num(0) if size == 1 else r for r, size in zip(ranges, coarse, strict=True)]


def test_convolution_windows_by_reshape_become_sums() -> None:
    # windows of 3 over 8, as a repeated row of 9 taken apart: the address is start plus offset
    o, k = UOp.range(6, 0), UOp.range(3, 1)
    assert simplify((k * 9 + o) % 8) is simplify(o + k)


def test_division_of_polynomials_is_exact() -> None:
    quotient, rest = divide_exactly(simplify((x * n + rm) * m + rn), simplify(n * m))
    assert quotient is x
    assert rest is simplify(rm * m + rn)


def test_loop_variable_stays_below_its_symbolic_size() -> None:
    assert highest_of(simplify(rn - n)) == -1
    assert highest_of(simplify(rn * m + rm - n * m)) == -1
    assert highest_of(simplify(x % n - n)) == -1
    assert simplify(rn < n) is UOp.const(dtypes.bool, True)
    assert simplify(rn * m + rm < n * m) is UOp.const(dtypes.bool, True)
    assert simplify(n < rn).op is Ops.CONST


LEAVES = [UOp.variable("a", 0, 30), UOp.variable("b", -9, 9), UOp.range(7, 0), UOp.range(4, 1)]


def _sums() -> "st.SearchStrategy[UOp]":
    sums = st.lists(st.tuples(st.sampled_from(LEAVES), st.integers(-24, 24)), min_size=1, max_size=4).map(
        lambda terms: sum((u * k for u, k in terms[1:]), terms[0][0] * terms[0][1])
    )
    return st.tuples(sums, st.integers(-30, 30)).map(lambda t: t[0] + t[1])


def _nested() -> "st.SearchStrategy[UOp]":
    def grow(inner: "st.SearchStrategy[UOp]") -> "st.SearchStrategy[UOp]":
        divided = st.tuples(
            inner, st.sampled_from([Ops.FLOORDIV, Ops.FLOORMOD]), st.sampled_from([2, 3, 4, 6, 8, 12, 24, -4])
        )
        part = divided.map(lambda t: t[0].alu(t[1], num(t[2])))
        return st.one_of(part, st.tuples(part, st.integers(-12, 12), inner).map(lambda t: t[0] * t[1] + t[2]))

    return st.recursive(_sums(), grow, max_leaves=5)


@given(before=_nested(), data=st.data())
def test_nested_division_keeps_its_value(
    before: UOp, data: st.DataObject, compute: Callable[..., Any]
) -> None:
    after = simplify(before)
    assert simplify(after) is after
    for _ in range(6):
        values = {u: data.draw(st.integers(u.vmin, u.vmax)) for u in LEAVES}
        assert compute(before, values) == compute(after, values), f"{before}\n{after}"


@given(before=_sums(), data=st.data())
def test_taking_apart_and_putting_together_cancels(before: UOp, data: st.DataObject) -> None:
    c = data.draw(st.sampled_from([2, 3, 4, 6, 8, 12]))
    assert simplify(before // c * c + before % c) is simplify(before)
