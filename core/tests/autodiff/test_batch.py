"""One rule an op: each puts a graph in a batch as computing the examples one by one would."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad.autodiff import compute_gradient, recomputed, with_rule
from plugrad.autodiff.batch import Batch
from plugrad.dtype import dtypes
from plugrad.errors import TransformError
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

MANY = np.random.default_rng(0).standard_normal((5, 2, 3)).astype(np.float32)
SHARED = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)


def buffer(shape: tuple[int, ...]) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtypes.float32)


GRAPHS: dict[str, Callable[[UOp, UOp], UOp]] = {
    "elementwise": lambda x, y: (x * y + x.sin()) * 2.0,
    "compared": lambda x, y: (x < y).where(x, y.const_like(0.0)),
    "a number each": lambda x, y: x.reduce_axis(Ops.ADD, (0, 1)).reshape(()) * y,
    "a number in all": lambda x, y: y.reduce_axis(Ops.ADD, (0, 1)).reshape(()) * x,
    "cast": lambda x, y: x.cast(dtypes.int32).cast(dtypes.float32),
    "reshape": lambda x, y: x.reshape((3, 2)),
    "expand": lambda x, y: x.reshape((2, 1, 3)).expand((2, 4, 3)),
    "permute": lambda x, y: x.permute((1, 0)) * y.permute((1, 0)),
    "pad": lambda x, y: x.pad(((1, 0), (0, 2))),
    "shrink": lambda x, y: x.shrink(((0, 1), (1, 3))),
    "flip": lambda x, y: x.flip((1,)),
    "reduce": lambda x, y: (x * y).reduce_axis(Ops.MAX, (1,)),
    "contiguous": lambda x, y: x.contiguous() + y.contiguous().detach() * x.detach(),
    "later": lambda x, y: x.later(y.contiguous()) * y.later(x.contiguous()),
    "function": lambda x, y: with_rule([x * y], [x, y], lambda g, f: [None, None])[0],
    "dispatch": lambda x, y: (x * y).dispatch(lambda device, runs_loops, inputs: None, x, y),
    "other memory": lambda x, y: y.later(x) * 2.0,
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_batch_is_what_its_examples_are(graph: Callable[[UOp, UOp], UOp], evaluate: Any) -> None:
    one, many, shared = buffer((2, 3)), buffer((5, 2, 3)), buffer((2, 3))
    root = graph(one, shared)
    (batched,) = Batch(5, {one: many}).apply([root])
    found = evaluate(batched, {many: MANY, shared: SHARED})
    expected = [evaluate(root, {one: example, shared: SHARED}) for example in MANY]
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-6)


def test_what_does_not_depend_on_the_example_stays() -> None:
    one, shared = buffer((3,)), buffer((3,))
    costly = shared.exp2().sin()
    batch = Batch(4, {one: buffer((4, 3))})
    (batched,) = batch.apply([one * costly])
    assert costly in batched.toposort()
    assert not batch.depends(costly)
    assert batch.depends(one * costly)


def test_the_rule_of_a_function_gets_one_example(evaluate: Any) -> None:
    one, many, shared = buffer((2, 3)), buffer((5, 2, 3)), buffer((2, 3))

    def rule(gradients: tuple[UOp | None, ...], function: UOp) -> list[UOp | None]:
        (g,) = gradients
        assert g is not None
        assert g.shape == (2, 3)
        return [g * 2.0, UOp.const(dtypes.float32, 1.0)]

    (y,) = with_rule([one * shared], [one, shared], rule)
    (batched,) = Batch(5, {one: many}).apply([y])
    found = compute_gradient(batched, UOp.const(dtypes.float32, 1.0), [many, shared])
    np.testing.assert_array_equal(evaluate(found[many], {}), np.full((5, 2, 3), 2, np.float32))
    np.testing.assert_array_equal(evaluate(found[shared], {}), np.full((2, 3), 5, np.float32))


def test_another_way_to_compute_a_value_is_put_in_a_batch(evaluate: Any) -> None:
    one, many, shared = buffer((2, 3)), buffer((5, 2, 3)), buffer((2, 3))

    def rule(device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp:
        x, y = inputs
        assert x.shape == y.shape == (2, 3)
        return y * x

    (batched,) = Batch(5, {one: many}).apply([(one * shared).dispatch(rule, one, shared)])
    found = batched.arg.rule("PYTHON", True, batched.src[1:])
    assert found is not batched.src[0]
    values = {many: MANY, shared: SHARED}
    np.testing.assert_array_equal(evaluate(found, values), evaluate(batched, values))


def test_recomputing_waits_in_a_batch_too(evaluate: Any) -> None:
    one, many = buffer((2, 3)), buffer((5, 2, 3))
    (y,) = recomputed([one.exp2().sin()], {one})
    (batched,) = Batch(5, {one: many}).apply([y])
    gradient = compute_gradient(batched, many, [many])[many]
    assert any(u.op is Ops.LATER for u in gradient.toposort())
    plain = compute_gradient(many.exp2().sin(), many, [many])[many]
    values = {many: MANY}
    np.testing.assert_allclose(evaluate(gradient, values), evaluate(plain, values), rtol=1e-6)


def test_assigns_of_what_depends_on_the_example_are_refused() -> None:
    one = buffer((3,))
    batch = Batch(2, {one: buffer((2, 3))})
    with pytest.raises(TransformError, match="ASSIGN of shape"):
        batch.apply([buffer((3,)).assign(one)])
    with pytest.raises(TransformError, match="ASSIGN of shape"):
        batch.apply([one.assign(one * 2.0)])
