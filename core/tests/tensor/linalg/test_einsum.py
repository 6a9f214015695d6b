"""Tests of plugrad.tensor.linalg.einsum, against torch and NumPy."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DeviceError, DtypeError, ShapeError
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(0)


def random(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


FORMULAS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ji,jk", (3, 4), (3, 5)),
    ("ba", (3, 4)),
    ("i,i", (4,), (4,)),
    ("i,j->ij", (3,), (4,)),
    ("i,j->ji", (3,), (4,)),
    ("ij->", (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (3, 3, 3)),
    ("ijj,jk->ik", (2, 3, 3), (3, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    ("...ij,jk", (2, 3, 4), (4, 5)),
    ("i...,i...->...", (3, 2, 4), (3, 4)),
    ("...i->...", (2, 3)),
    ("...,...", (3, 1, 2), (4, 1)),
    ("i...j->j...i", (2, 3, 4)),
    ("ij,ij->ij", (1, 4), (3, 1)),
    ("ij,j->i", (3, 1), (4,)),
    ("ij,kl->k", (2, 3), (4, 5)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("ab,bc,cd,de,ea", (2, 3), (3, 2), (2, 4), (4, 3), (3, 2)),
    ("a,ab,b->", (2,), (2, 3), (3,)),
    ("aB,Bc->ca", (2, 3), (3, 4)),
    ("ij,jk", (2, 0), (0, 3)),
    (" i j , j k -> i k ", (2, 3), (3, 2)),
]


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: case[0])
def test_formulas_mean_what_they_do_in_torch(case: Any) -> None:
    formula, *shapes = case
    arrays = [random(*shape) for shape in shapes]
    mine = [Tensor(x, requires_grad=True) for x in arrays]
    theirs = [torch.tensor(x, requires_grad=True) for x in arrays]
    out, expected = Tensor.einsum(formula, *mine), torch.einsum(formula, *theirs)
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    out.square().sum().backward()
    expected.square().sum().backward()
    realize_all([x.grad for x in mine])
    for a, b in zip(mine, theirs, strict=True):
        assert a.grad is not None
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_integers_are_exact() -> None:
    a, b = RNG.integers(-5, 5, (3, 4)), RNG.integers(-5, 5, (4, 2))
    out = Tensor.einsum("ij,jk->ki", Tensor(a), Tensor(b))
    assert out.dtype.name == "int64"
    np.testing.assert_array_equal(out.numpy(), (a @ b).T)


def test_dtypes_are_promoted_or_chosen() -> None:
    a, b = Tensor([1, 2]), Tensor([0.5, 1.0], dtype="float16")
    assert Tensor.einsum("i,i", a, b).dtype.name == "float16"
    assert Tensor.einsum("i,i", a, b, dtype="float64").item() == 2.5
    assert Tensor.einsum("i->", Tensor([100, 100], dtype="int8")).item() == -56


@pytest.mark.parametrize(
    ("formula", "shapes", "error", "message"),
    [
        ("ij,jk", [(2, 3)], ArgumentError, "names 2 operands, 1 came"),
        ("ij->ik", [(2, 3)], ArgumentError, "'k' of the result is in no operand"),
        ("ij->ii", [(2, 3)], ArgumentError, "'i' of the result comes twice"),
        ("i1->i", [(2, 3)], ArgumentError, "'1' is no label"),
        ("i....j", [(2, 3)], ArgumentError, "'.' is no label"),
        ("ijk", [(2, 3)], ShapeError, "names 3 axes, its operand has shape"),
        ("i", [(2, 3)], ShapeError, "or the rest by"),
        ("ij,jk", [(2, 3), (4, 2)], ShapeError, "'j' has sizes 3 and 4"),
        ("ii", [(2, 3)], ShapeError, "'i' has two sizes in one operand"),
    ],
)
def test_errors_say_what_is_wrong(formula: str, shapes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Tensor.einsum(formula, *[Tensor.zeros(*shape) for shape in shapes])


def test_einsum_takes_a_formula_and_tensors() -> None:
    with pytest.raises(ArgumentError, match="takes a formula"):
        Tensor.einsum("ij")
    with pytest.raises(DtypeError, match="is no tensor"):
        Tensor.einsum("ij", [[1]])  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeviceError, match="do not mix"):
        Tensor.einsum("i,i", Tensor([1], device="PYTHON"), Tensor([1], device="CPU"))


def test_a_chain_is_joined_from_its_small_end() -> None:
    a, b, c = (Tensor(random(*shape)) for shape in ((64, 64), (64, 64), (64, 1)))
    out = Tensor.einsum("ij,jk,kl->il", a, b, c)
    np.testing.assert_allclose(out.numpy(), a.numpy() @ (b.numpy() @ c.numpy()), rtol=1e-3, atol=1e-3)
    sizes = [step.bufs[0].nbytes for step in out.schedule()]
    assert max(sizes, default=0) <= 64 * 64


@pytest.mark.parametrize("axes", [0, 1, 2, ([1, 0], [0, 1]), ([2], [1])])
def test_tensordot_is_that_of_numpy(axes: Any) -> None:
    shapes = {1: ((2, 3, 4), (4, 3, 2)), 2: ((2, 3, 4), (3, 4, 2)), 0: ((2, 3), (4,))}
    left, right = shapes.get(axes if isinstance(axes, int) else -1, ((3, 2, 4), (2, 3, 5)))
    if axes == ([2], [1]):
        right = (2, 4, 5)
    a, b = random(*left), random(*right)
    out = Tensor(a).tensordot(Tensor(b), axes)
    np.testing.assert_allclose(out.numpy(), np.tensordot(a, b, axes), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (4, 5)), ((3,), (2, 2)), ((2, 1, 2), (3,)), ((2,), (3,))]
)
def test_kronecker_products_are_those_of_numpy(left: Any, right: Any) -> None:
    a, b = random(*left), random(*right)
    np.testing.assert_array_equal(Tensor(a).kron(Tensor(b)).numpy(), np.kron(a, b))


def test_vectors_multiply_as_in_numpy() -> None:
    a, b, m = random(3), random(3), random(2, 3)
    np.testing.assert_array_equal(Tensor(a).outer(Tensor(b)).numpy(), np.outer(a, b))
    np.testing.assert_allclose(Tensor(a).vdot(Tensor(b)).numpy(), np.vdot(a, b), rtol=1e-5)
    np.testing.assert_allclose(Tensor(m).inner(Tensor(a)).numpy(), np.inner(m, a), rtol=1e-5)
    assert Tensor(2.0).inner(Tensor([3.0])).tolist() == [6.0]


def test_traces_are_those_of_numpy() -> None:
    x = RNG.integers(-9, 9, (3, 4, 5))
    for offset in (-1, 0, 2):
        np.testing.assert_array_equal(Tensor(x).trace(offset).numpy(), np.trace(x, offset))
        np.testing.assert_array_equal(Tensor(x).trace(offset, 1, 2).numpy(), np.trace(x, offset, 1, 2))


def test_cross_products_are_those_of_torch() -> None:
    for left, right, axis in [((2, 3), (2, 3), -1), ((3, 2), (3, 1), 0), ((3,), (4, 3), -1)]:
        a, b = random(*left), random(*right)
        mine, theirs = Tensor(a, requires_grad=True), torch.tensor(a, requires_grad=True)
        out = mine.cross(Tensor(b), axis)
        other = theirs.expand(torch.broadcast_shapes(left, right))
        expected = torch.linalg.cross(other, torch.tensor(b).expand(other.shape), dim=axis)
        np.testing.assert_allclose(out.numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
        out.square().sum().backward()
        expected.square().sum().backward()
        assert mine.grad is not None
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_products_of_vectors_refuse_other_shapes() -> None:
    m, v = Tensor.zeros(2, 2), Tensor.zeros(3)
    with pytest.raises(ShapeError, match="outer of shapes"):
        m.outer(v)
    with pytest.raises(ShapeError, match="vdot of shapes"):
        v.vdot(m)
    with pytest.raises(ShapeError, match="differ in size"):
        v.inner(m)
    with pytest.raises(ShapeError, match="must have three elements"):
        Tensor.zeros(2).cross(Tensor.zeros(2))
    with pytest.raises(ArgumentError, match="Both need as many"):
        v.tensordot(m, 2)
    with pytest.raises(ArgumentError, match="are no pairs"):
        v.tensordot(m, ([0], [0, 1]))
    with pytest.raises(AxisError, match="twice"):
        m.tensordot(m, ([0, 0], [0, 1]))


def test_lists_of_numbers_stand_for_labels() -> None:
    a, b = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))
    pair = Tensor(a), Tensor(b)
    np.testing.assert_allclose(Tensor.einsum(pair[0], [0, 1], pair[1], [1, 2], [2, 0]).numpy(), (a @ b).T)
    np.testing.assert_allclose(Tensor.einsum(pair[0], [9, 30], pair[1], [30, 2]).numpy(), (a @ b).T)
    dots = Tensor.einsum(pair[0], [..., 1], pair[1], [1, 2], [2, ...])
    np.testing.assert_allclose(dots.numpy(), (a @ b).T)
    np.testing.assert_allclose(Tensor.einsum("ij , jk", list(pair)).numpy(), a @ b)
    with pytest.raises(ArgumentError, match=r"einsum: the label 52 is out of range"):
        Tensor.einsum(pair[0], [0, 52])
    with pytest.raises(ArgumentError, match=r"einsum: 'ij' \(str\) is no list of labels"):
        Tensor.einsum(pair[0], "ij")
    with pytest.raises(ArgumentError, match=r"einsum: label='i' \(str\) is no integer"):
        Tensor.einsum(pair[0], ["i", 0])
    with pytest.raises(ArgumentError, match="is no list of labels"):
        Tensor.einsum(pair[0])


def test_axes_of_tensordot_may_be_numbers() -> None:
    a, b = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4))
    np.testing.assert_allclose(Tensor(a).tensordot(Tensor(b), (1, 0)).numpy(), a @ b)
    np.testing.assert_allclose(Tensor(a).tensordot(Tensor(b), np.array([[1], [0]])).numpy(), a @ b)
    np.testing.assert_allclose(Tensor(a).tensordot(Tensor(b), np.int64(1)).numpy(), a @ b)
    for axes in (None, "x", 1.5, (1,), ((1,), (0, 1))):
        with pytest.raises(ArgumentError, match="tensordot: axes="):
            Tensor(a).tensordot(Tensor(b), axes)  # pyright: ignore[reportArgumentType]
    for axes in ((1.5, 0), ((0, 0), (0, 1)), (2, 0)):
        with pytest.raises(AxisError, match="tensordot: "):
            Tensor(a).tensordot(Tensor(b), axes)  # pyright: ignore[reportArgumentType]
