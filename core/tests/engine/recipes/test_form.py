from collections.abc import Callable

import pytest

from plugrad.autodiff import with_rule
from plugrad.dtype import dtypes
from plugrad.engine.realize import realize
from plugrad.engine.recipes.form import form_of
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import put


def memory(*shape: int, device: str = "PYTHON") -> UOp:
    size = 1
    for axis in shape:
        size *= axis
    return put([1.0] * size, device).reshape(shape)


def key_of(*roots: UOp) -> object:
    form = form_of(roots)
    assert form is not None
    return form.key


def test_graphs_that_differ_in_their_buffers_have_one_form() -> None:
    assert key_of(memory(4) + memory(4)) == key_of(memory(4) + memory(4))


def test_a_buffer_that_is_used_twice_is_not_two() -> None:
    x, y = memory(4), memory(4)
    assert key_of(x * (x + 1)) != key_of(x * (y + 1))


def test_a_value_that_is_used_twice_is_not_computed_twice() -> None:
    x, y = memory(4), memory(4)
    one, other = x + 1, y + 1
    assert key_of(one * one) != key_of(one * other)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x - 1,
        lambda x: x + 2,
        lambda x: (x + 1) * 2,
        lambda x: x.reshape((2, 2)) + 1,
        lambda x: memory(5) + 1,
        lambda x: x.cast(dtypes.float64) + 1,
    ],
)
def test_another_computation_has_another_form(change: Callable[[UOp], UOp]) -> None:
    x = memory(4)
    assert key_of(change(x)) != key_of(x + 1)


def test_zeros_of_two_signs_are_told_apart() -> None:
    x = memory(4)
    assert key_of(x * x.const_like(0.0)) != key_of(x * x.const_like(-0.0))


def test_the_order_of_roots_makes_a_difference() -> None:
    x = memory(4)
    assert key_of(x + 1, x * 2) != key_of(x * 2, x + 1)


def test_offsets_of_slices_are_no_part_of_the_form() -> None:
    x = memory(10, 4)
    first, second = [x.shrink(((i, i + 1), (0, 4))) + 1 for i in (3, 7)]
    assert key_of(first) == key_of(second)
    forms = [form_of([u]) for u in (first, second)]
    assert [list(form.values.values()) for form in forms if form] == [[3], [7]]


def test_slices_of_another_length_or_alignment_have_another_form() -> None:
    x = memory(128)
    keys = {key_of(x.shrink((pair,)) + 1) for pair in [(32, 64), (36, 68), (33, 65), (32, 63)]}
    assert len(keys) == 4


def test_offsets_of_two_slices_of_one_memory_are_fixed() -> None:
    x = memory(10, 4)
    pairs = [(0, 5), (1, 6)]
    sums = [x.shrink(((a, a + 4), (0, 4))) + x.shrink(((b, b + 4), (0, 4))) for a, b in pairs]
    assert key_of(sums[0]) != key_of(sums[1])


def test_more_than_kernels_has_no_form() -> None:
    x = memory(4)
    n = UOp.variable("n", 1, 4)
    assert form_of([x.assign(x + 1)]) is None
    assert form_of([(x + 1).copy_to_device("PYTHON:1")]) is None
    assert form_of([x.shrink(((0, n.bind(2)),)) + 1]) is None
    assert form_of([UOp.const(dtypes.float32, 1.0) + 1]) is None
    assert form_of([x]) is None or not form_of([x])


def test_copies_of_memory_have_a_form() -> None:
    keys = {key_of(memory(4, device="PYTHON:1").copy_to_device("PYTHON") + 1) for _ in range(2)}
    assert len(keys) == 1
    other = key_of(memory(4, device="PYTHON:2").copy_to_device("PYTHON") + 1)
    assert other not in keys


def test_rules_of_gradients_are_no_part_of_the_form() -> None:
    x = memory(4)
    forms = [form_of([with_rule([x + 1], [x], lambda gradients, _: gradients)[0]]) for _ in range(2)]
    assert forms[0] is not None
    assert forms[1] is not None
    assert forms[0].key == forms[1].key


def test_values_that_lie_in_memory_have_no_form_as_they_were_written_down() -> None:
    y = memory(4) + 1
    assert form_of([y * 2]) is not None
    realize([y])
    assert form_of([y * 2]) is None
