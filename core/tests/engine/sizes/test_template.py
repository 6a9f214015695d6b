from collections.abc import Callable, Sequence

import pytest

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.engine.sizes.skeleton import fill, skeleton_of
from plugrad.engine.sizes.template import Numbers, Template, Term, template_of
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.spec import kernel_spec, verify
from plugrad.uop.uop import UOp


def _kernel(rows: int, columns: int, numel: int, start: int = 0) -> UOp:
    """Add up the elements of each row, from an element on."""
    out, x = UOp(Ops.PARAM, dtypes.float32, (), (0, rows)), UOp(Ops.PARAM, dtypes.float32, (), (1, numel))
    i, k = UOp.range(rows, 0), UOp.range(columns, 1, AxisType.REDUCE)
    value = x.index(i * columns + k + start).load()
    total = UOp(Ops.REDUCE, dtypes.float32, (value, k), (Ops.ADD, 1))
    return UOp.sink(out.index(i).store(total, i), arg=KernelInfo(f"reduce_{rows}_{columns}"))


def _template(*asts: UOp) -> Template:
    found = [skeleton_of(ast) for ast in asts]
    assert len({skeleton for skeleton, _ in found}) == 1
    template = template_of(found[0][0], [numbers for _, numbers in found])
    assert template is not None
    return template


def _at(template: Template, ast: UOp) -> UOp | None:
    """Return the template with its variables at the values that `ast` asks for."""
    skeleton, numbers = skeleton_of(ast)
    if (values := template.bind(numbers)) is None:
        return None
    kept = [n for f, n in zip(template.fillings, numbers, strict=True) if isinstance(f, str)]
    names = iter(kept)
    fillings = [
        f.at(values) if isinstance(f, Term) else next(names) if isinstance(f, str) else f
        for f in template.fillings
    ]
    return fill(skeleton, fillings)


def test_a_template_with_its_variables_at_values_is_the_kernel() -> None:
    asts = [_kernel(rows, 8, 8 * rows + 5, 5) for rows in (3, 4, 30)]
    template = _template(*asts[:2])
    verify(template.kernel, kernel_spec)
    for ast in asts:
        assert _at(template, ast) is ast


def test_what_is_equal_stays_and_one_size_is_one_variable() -> None:
    template = _template(_kernel(3, 8, 24, 1), _kernel(4, 8, 32, 1))
    assert [v.arg for v in template.places] == [("_size0", 1, 1024)]
    assert template.kernel.arg == KernelInfo("reduce_n_8")
    params = {u.arg[0]: u.arg[1] for u in template.kernel.toposort() if u.op is Ops.PARAM}
    (n,) = template.places
    assert params == {0: n, 1: n * 8}


def test_numbers_at_a_fixed_distance_are_sums() -> None:
    template = _template(_kernel(3, 8, 40, 3 - 1), _kernel(4, 8, 40, 4 - 1))
    (smallest,) = template.places
    assert {f.offset for f in template.fillings if isinstance(f, Term) and f.variable is smallest} == {0, 1}


def test_sizes_that_move_apart_are_variables_of_their_own() -> None:
    by_chance = [_kernel(3, 6, 100), _kernel(4, 8, 100)]
    template = _template(*by_chance)
    assert len(template.places) == 1
    other = _kernel(5, 7, 100)
    assert template.bind(skeleton_of(other)[1]) is None
    wider = _template(*by_chance, other)
    assert len(wider.places) == 2
    assert all(_at(wider, ast) is ast for ast in [*by_chance, other])


@pytest.mark.parametrize(("starts", "lowest"), [((2, 3), 1), ((0, 3), 0), ((-2, 3), -1024)])
def test_sizes_that_are_never_0_stay_so(starts: Sequence[int], lowest: int) -> None:
    # a sum with a constant 0 has another skeleton
    asts = [
        UOp.sink(
            UOp(Ops.PARAM, dtypes.float32, (), (0, 9))
            .index(UOp.const(dtypes.index, s))
            .store(UOp.const(dtypes.float32, 1.0)),
            arg=KernelInfo("fill"),
        )
        for s in starts
    ]
    (variable,) = _template(*asts).places
    assert variable.arg[1:] == (lowest, 1024)


def test_values_beyond_the_limits_do_not_fit() -> None:
    template = _template(_kernel(3, 8, 1 << 14), _kernel(4, 8, 1 << 14))
    assert template.bind(skeleton_of(_kernel(1024, 8, 1 << 14))[1]) == {"_size0": 1024}
    assert template.bind(skeleton_of(_kernel(1025, 8, 1 << 14))[1]) is None
    assert template.bind(skeleton_of(_kernel(5, 9, 1 << 14))[1]) is None


def test_limits_have_room_above_large_sizes() -> None:
    (variable,) = _template(_kernel(3, 8, 1 << 14), _kernel(3000, 8, 1 << 14)).places
    assert variable.arg[2] == 1 << 14


def test_sizes_too_large_for_arithmetic_have_no_template() -> None:
    asts = [_kernel(1 << 25, 8, 1 << 28), _kernel(1 << 24, 8, 1 << 28)]
    found = [skeleton_of(ast) for ast in asts]
    assert template_of(found[0][0], [numbers for _, numbers in found]) is None


def _examples(kernels: Sequence[UOp]) -> list[Numbers]:
    return [skeleton_of(kernel)[1] for kernel in kernels]


def test_too_many_variables_are_no_template() -> None:
    def kernel(step: int) -> UOp:
        places = [UOp(Ops.PARAM, dtypes.float32, (), (slot, 7 + step * 3**slot)) for slot in range(10)]
        values = [place.index(UOp.const(dtypes.index, 0)).load() for place in places[1:]]
        zero = UOp.const(dtypes.index, 0)
        return UOp.sink(places[0].index(zero).store(sum(values[1:], values[0])), arg=KernelInfo("add"))

    kernels = [kernel(1), kernel(2)]
    assert template_of(skeleton_of(kernels[0])[0], _examples(kernels)) is None


def test_a_number_of_elements_varies_with_the_size(
    kernel_of: Callable[[Tensor], UOp], memory: Callable[..., Tensor]
) -> None:
    means = [kernel_of(memory(n, 5).mean()) for n in (3, 4, 7)]
    template = _template(*means[:2])
    assert template.bind(skeleton_of(means[2])[1]) == {"_size0": 7}
    (n,) = template.places
    assert (n * 5).cast(dtypes.float32) in template.kernel.toposort()


def test_a_factor_that_no_size_decides_is_another_kernel(
    kernel_of: Callable[[Tensor], UOp], memory: Callable[..., Tensor]
) -> None:
    kernels = [kernel_of(memory(5) * factor) for factor in (3.0, 5.0)]
    assert skeleton_of(kernels[0])[0] == skeleton_of(kernels[1])[0]
    assert template_of(skeleton_of(kernels[0])[0], _examples(kernels)) is None


def test_limits_of_other_variables_are_widened() -> None:
    def kernel(highest: int) -> UOp:
        n = UOp.variable("n", 0, highest)
        place = UOp(Ops.PARAM, dtypes.float32, (), (0, highest + 1)).index(n)
        return UOp.sink(place.store(UOp.const(dtypes.float32, 1.0)), arg=KernelInfo("fill"))

    template = _template(kernel(3), kernel(4))
    (n,) = [u for u in template.kernel.toposort() if u.op is Ops.DEFINE_VAR and u.arg[0] == "n"]
    assert n.arg == ("n", 0, 1024)
    assert template.bind(skeleton_of(kernel(1000))[1]) is not None
    assert template.bind(skeleton_of(kernel(1024))[1]) is None
