"""Each rule against finite differences in float64, and against torch where derivatives have conventions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad.autodiff.gradient import compute_gradient
from plugrad.autodiff.vjp import VJP
from plugrad.dtype import DType, dtypes
from plugrad.uop.ops import ELEMENTWISE, MOVEMENT, Ops
from plugrad.uop.uop import UOp

Array = np.ndarray[Any, Any]
Build = Callable[..., UOp]

SHAPE = (2, 3)
LOWEST, HIGHEST = 0.5, 2.0


def buffer(shape: tuple[int, ...] = SHAPE, dtype: DType = dtypes.float64) -> UOp:
    return UOp.new_buffer("PYTHON", shape, dtype)


def const(value: float) -> UOp:
    return UOp.const(dtypes.float64, value)


def alu(op: Ops) -> Build:
    return lambda x, *others: x.alu(op, *others)


UNARY: dict[str, Build] = {
    "neg": alu(Ops.NEG),
    "recip": alu(Ops.RECIP),
    "exp": alu(Ops.EXP),
    "exp2": alu(Ops.EXP2),
    "log2": alu(Ops.LOG2),
    "sin": alu(Ops.SIN),
    "cos": alu(Ops.COS),
    "sqrt": alu(Ops.SQRT),
    "trunc": lambda x: x.trunc() + x,
    "cast there and back": lambda x: x.cast(dtypes.float64),
    "reshape": lambda x: x.reshape((3, 1, 2)),
    "expand": lambda x: x.reshape((2, 1, 3)).expand((2, 4, 3)),
    "permute": lambda x: x.reshape((2, 1, 3)).permute((2, 0, 1)),
    "pad": lambda x: x.pad([(1, 2), (0, 3)]),
    "shrink": lambda x: x.shrink([(1, 2), (0, 2)]),
    "flip": lambda x: x.flip((0, 1)),
    "sum": lambda x: x.reduce_axis(Ops.ADD, (1,)),
    "max": lambda x: x.reduce_axis(Ops.MAX, (0,)),
    "product": lambda x: x.reduce_axis(Ops.MUL, (0,)),
    "product of all": lambda x: x.reduce_axis(Ops.MUL, (0, 1)),
    "contiguous": lambda x: x.contiguous(),
    "copy": lambda x: x.copy_to_device("NULL"),
    "assign": lambda x: buffer().assign(x),
    "after": lambda x: x.after(buffer()),
    "scalar on the left": lambda x: const(3.0) / x,
    "used twice": lambda x: x * x + x.sin() * x,
    "a shape () inside": lambda x: x.reduce_axis(Ops.ADD, (0, 1)).reshape(()) * x,
    "where on a scalar": lambda x: (const(1.0) < const(2.0)).where(x, const(0.0)),
}
BINARY: dict[str, Build] = {
    "add": alu(Ops.ADD),
    "sub": alu(Ops.SUB),
    "mul": alu(Ops.MUL),
    "fdiv": alu(Ops.FDIV),
    "fmod": alu(Ops.FMOD),
    "max": alu(Ops.MAX),
    "pow": alu(Ops.POW),
    "where": lambda x, y: (x < y).where(x * 2.0, y * 3.0),
}


def weighted(u: UOp) -> UOp:
    """Return a node of shape () that depends on each element of `u` in its own way."""
    flat = u.reshape((math.prod(u.shape),))
    weights = UOp.iota(flat.shape[0]).cast(dtypes.float64) * 0.3 + 1.0
    return (flat * weights).reduce_axis(Ops.ADD, (0,)).reshape(())


def gradients(root: UOp, *targets: UOp) -> list[UOp]:
    found = compute_gradient(root, UOp.const(root.dtype, 1.0), targets)
    return [found[target] for target in targets]


def numeric(evaluate: Any, root: UOp, values: dict[UOp, Array], target: UOp, step: float = 1e-6) -> Array:
    """Return the gradient of `root` by central differences."""
    out = np.zeros(target.shape)
    for place in np.ndindex(*target.shape):
        sides: list[float] = []
        for sign in (1, -1):
            moved = values[target].copy()
            moved[place] += sign * step
            sides.append(float(evaluate(root, {**values, target: moved})))
        out[place] = (sides[0] - sides[1]) / (2 * step)
    return out


def check(evaluate: Any, root: UOp, values: dict[UOp, Array]) -> None:
    """Compare first derivatives, and second ones of a sum over the first, with differences."""
    targets = list(values)
    first = gradients(root, *targets)
    for target, gradient in zip(targets, first, strict=True):
        assert gradient.shape == target.shape
        assert gradient.dtype is target.dtype
        expected = numeric(evaluate, root, values, target)
        np.testing.assert_allclose(evaluate(gradient, values), expected, rtol=1e-6, atol=1e-7)
    again = weighted(first[0])
    for target in targets:
        if target in again.toposort():
            expected = numeric(evaluate, again, values, target)
            second = (
                gradients(again * 1.0 + weighted(target), target)[0] - gradients(weighted(target), target)[0]
            )
            np.testing.assert_allclose(evaluate(second, values), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_agree_with_differences(evaluate: Any, name: str) -> None:
    x = buffer()
    values = np.random.default_rng(1).uniform(LOWEST, HIGHEST, SHAPE)
    check(evaluate, weighted(UNARY[name](x)), {x: values})


@pytest.mark.parametrize("shapes", [(SHAPE, SHAPE), (SHAPE, ()), ((), SHAPE), ((), ())])
@pytest.mark.parametrize("name", BINARY)
def test_binary_ops_agree_with_differences(evaluate: Any, name: str, shapes: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(2)
    x, y = (buffer(shape) for shape in shapes)
    values = {u: np.asarray(rng.uniform(LOWEST, HIGHEST, u.shape)) for u in (x, y)}
    check(evaluate, weighted(BINARY[name](x, y)), values)


def test_mulacc_agrees_with_differences(evaluate: Any) -> None:
    rng = np.random.default_rng(3)
    x, y, z = buffer(), buffer(()), buffer()
    values = {u: np.asarray(rng.uniform(LOWEST, HIGHEST, u.shape)) for u in (x, y, z)}
    check(evaluate, weighted(x.mulacc(y, z)), values)


def test_every_op_between_floats_has_an_entry() -> None:
    integers_only = {
        *(Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR),
        Ops.THREEFRY,
    }
    comparisons = {Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}
    assert (ELEMENTWISE | MOVEMENT) - integers_only - comparisons <= VJP.keys()


def against_torch(evaluate: Any, build: Build, reference: Callable[..., torch.Tensor], *given: Any) -> None:
    arrays = [np.array(values, np.float64) for values in given]
    nodes = [buffer(a.shape) for a in arrays]
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    reference(*leaves).sum().backward()
    root = build(*nodes)
    total = root.reduce_axis(Ops.ADD, tuple(range(len(root.shape)))).reshape(())
    for gradient, leaf in zip(gradients(total, *nodes), leaves, strict=True):
        assert leaf.grad is not None
        found = evaluate(gradient, dict(zip(nodes, arrays, strict=True)))
        np.testing.assert_allclose(found, leaf.grad.numpy(), rtol=1e-12)


def test_max_splits_evenly_between_equal_values(evaluate: Any) -> None:
    nan = math.nan
    given = [1.0, 2.0, 3.0, nan, 1.0], [3.0, 2.0, 1.0, 1.0, nan]
    against_torch(evaluate, alu(Ops.MAX), torch.maximum, *given)


def test_maximum_over_axes_splits_evenly_between_ties(evaluate: Any) -> None:
    given = [[1.0, 3.0, 3.0], [3.0, 0.0, -1.0], [7.0, 7.0, 7.0]]
    against_torch(evaluate, lambda x: x.reduce_axis(Ops.MAX, (0,)), lambda x: x.amax(0), given)
    against_torch(evaluate, lambda x: x.reduce_axis(Ops.MAX, (0, 1)), lambda x: x.amax((0, 1)), given)


def test_maximum_over_axes_splits_evenly_between_what_is_nan(evaluate: Any) -> None:
    x = buffer((2, 3))
    highest = x.reduce_axis(Ops.MAX, (1,))
    (gradient,) = gradients(highest.reduce_axis(Ops.ADD, (0, 1)).reshape(()), x)
    values = np.array([[math.nan, 1.0, math.nan], [math.inf, 1.0, math.inf]])
    np.testing.assert_array_equal(evaluate(gradient, {x: values}), [[0.5, 0.0, 0.5]] * 2)


def test_power_is_flat_where_torch_says_so(evaluate: Any) -> None:
    bases = [0.0, 0.0, 0.0, 2.0, -2.0, 0.0, 3.0]
    exponents = [0.0, 2.0, 1.0, 0.0, 3.0, 0.5, -1.0]
    nodes = buffer((7,)), buffer((7,))
    leaves = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (bases, exponents)]
    (leaves[0] ** leaves[1]).sum().backward()
    total = nodes[0].alu(Ops.POW, nodes[1]).reduce_axis(Ops.ADD, (0,)).reshape(())
    values = dict(zip(nodes, (np.array(bases), np.array(exponents)), strict=True))
    for gradient, leaf in zip(gradients(total, *nodes), leaves, strict=True):
        assert leaf.grad is not None
        np.testing.assert_allclose(evaluate(gradient, values), leaf.grad.numpy(), rtol=1e-12)


def test_second_derivative_of_a_power_is_finite_at_zero(evaluate: Any) -> None:
    x = buffer((3,))
    y = UOp.const(dtypes.float64, 2.0)
    total = x.alu(Ops.POW, y).reduce_axis(Ops.ADD, (0,)).reshape(())
    first = gradients(total, x)[0]
    second = gradients(first.reduce_axis(Ops.ADD, (0,)).reshape(()), x)[0]
    np.testing.assert_allclose(evaluate(second, {x: np.array([0.0, 1.0, -2.0])}), [2.0, 2.0, 2.0])


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_gradient_of_a_product_is_right_beside_zeros(evaluate: Any, zeros: int) -> None:
    given = np.random.default_rng(4).uniform(LOWEST, HIGHEST, (2, 4))
    given[0, :zeros] = 0
    against_torch(evaluate, lambda x: x.reduce_axis(Ops.MUL, (1,)), lambda x: x.prod(1), given)
    x = buffer((2, 4))
    check(evaluate, weighted(x.reduce_axis(Ops.MUL, (1,))), {x: given})


def test_product_over_several_axes_of_a_higher_rank(evaluate: Any) -> None:
    x = buffer((2, 3, 2, 2))
    given = np.random.default_rng(5).uniform(LOWEST, HIGHEST, x.shape)
    given[0, 0, 0, 0] = 0
    check(evaluate, weighted(x.reduce_axis(Ops.MUL, (0, 2))), {x: given})


def test_cast_gives_the_gradient_in_the_dtype_of_the_source(evaluate: Any) -> None:
    x = buffer((3,), dtypes.float16)
    gradient = gradients(weighted(x.cast(dtypes.float64) * 2.0), x)[0]
    assert gradient.dtype is dtypes.float16
    expected = np.array([2.0, 2.6, 3.2], np.float16)
    np.testing.assert_array_equal(evaluate(gradient, {x: np.ones(3, np.float16)}), expected)


def test_sums_of_narrow_gradients_accumulate_in_float32(evaluate: Any) -> None:
    x = buffer((1,), dtypes.float16)
    root = x.expand((4096,)).cast(dtypes.float32).reduce_axis(Ops.ADD, (0,)).reshape(())
    gradient = gradients(root, x)[0]
    assert evaluate(gradient, {x: np.ones(1, np.float16)}).tolist() == [4096.0]


def test_copy_brings_the_gradient_back() -> None:
    x = buffer()
    assert gradients(weighted(x.copy_to_device("NULL")), x)[0].device == "PYTHON"
