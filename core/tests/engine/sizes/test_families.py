from collections.abc import Iterator

import pytest

from plugrad.device import Device
from plugrad.dtype import dtypes
from plugrad.engine.sizes.families import Instance, clear_families, instances
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp


@pytest.fixture(autouse=True)
def _no_families() -> Iterator[None]:
    clear_families()
    yield
    clear_families()


def _sums(rows: int, columns: int) -> UOp:
    out = UOp(Ops.PARAM, dtypes.float32, (), (0, rows))
    x = UOp(Ops.PARAM, dtypes.float32, (), (1, rows * columns))
    i, k = UOp.range(rows, 0), UOp.range(columns, 1, AxisType.REDUCE)
    total = UOp(Ops.REDUCE, dtypes.float32, (x.index(i * columns + k).load(), k), (Ops.ADD, 1))
    return UOp.sink(out.index(i).store(total, i), arg=KernelInfo(f"reduce_{rows}_{columns}"))


def _asked(*asts: UOp) -> list[Instance]:
    """Return the instances of kernels that are asked for together."""
    found = instances(Device["PYTHON"], asts)
    return [found[ast] for ast in asts]


def _alone(*asts: UOp) -> list[Instance]:
    """Return the instances of kernels that are asked for one by one."""
    return [_asked(ast)[0] for ast in asts]


def test_the_first_size_is_exact_and_others_share_a_template() -> None:
    (first, second, third) = _alone(_sums(3, 8), _sums(4, 8), _sums(50, 8))
    assert first == (_sums(3, 8), {})
    assert second[1] == {"_size0": 4}
    assert third == (second[0], {"_size0": 50})


def test_kernels_that_are_asked_for_together_are_exact() -> None:
    layers = [_sums(3, 8), _sums(3, 16), _sums(3, 5)]
    assert _asked(*layers) == [(ast, {}) for ast in layers]


def test_each_layer_has_the_template_with_fewest_variables() -> None:
    layers = [(8, 16), (16, 32), (32, 12)]
    _asked(*[_sums(rows, columns) for rows, columns in layers])
    again = _asked(*[_sums(rows + 1, columns) for rows, columns in layers])
    assert [len(values) for _, values in again] == [1, 1, 1]
    assert _asked(*[_sums(rows + 7, columns) for rows, columns in layers]) == [
        (graph, {"_size0": rows + 7}) for (graph, _), (rows, _) in zip(again, layers, strict=True)
    ]


def test_many_that_are_asked_for_together_share_as_well() -> None:
    asts = [_sums(rows, 8) for rows in range(2, 22)]
    exact = [graph is ast for ast, (graph, _) in zip(asts, _asked(*asts), strict=True)]
    assert exact == [True] * 8 + [False] * 12


def test_a_template_that_does_not_fit_is_widened() -> None:
    _alone(_sums(3, 6), _sums(4, 8))
    ((wide, values),) = _alone(_sums(5, 7))
    assert sorted(values.values()) == [5, 7, 35]
    # who needs fewer variables keeps the first template
    (narrow,) = _alone(_sums(10, 20))
    assert narrow[0] is not wide
    assert sorted(narrow[1].values()) == [10, 200]


def test_large_kernels_are_exact() -> None:
    _alone(_sums(3, 64), _sums(4, 64))
    for rows, is_exact in ((1000, False), (5000, True)):
        ((graph, _),) = _alone(_sums(rows, 64))
        assert (graph is _sums(rows, 64)) == is_exact


def test_kernels_without_lanes_are_exact_from_fewer_elements_on() -> None:
    _alone(_sums(3, 6), _sums(4, 7))
    for rows, is_exact in ((900, False), (5000, True)):
        ((graph, _),) = _alone(_sums(rows, 7))
        assert (graph is _sums(rows, 7)) == is_exact


def test_devices_have_families_of_their_own() -> None:
    _alone(_sums(3, 8))
    assert instances(Device["NULL"], [_sums(4, 8)]) == {_sums(4, 8): (_sums(4, 8), {})}
