from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.shape.rearrange import parse_formula

X = np.arange(2 * 12 * 6, dtype=np.float32).reshape(2, 12, 6)
SPLIT = X.reshape(2, 3, 4, 6)

CASES: list[tuple[str, dict[str, int], Any]] = [
    ("a b c -> c b a", {}, X.transpose(2, 1, 0)),
    ("a b c -> a (b c)", {}, X.reshape(2, 72)),
    ("a b c -> (a b c)", {}, X.reshape(-1)),
    ("a (h w) c -> a c h w", {"h": 3}, SPLIT.transpose(0, 3, 1, 2)),
    ("a (h w) c -> (w h) a c", {"h": 3, "w": 4}, SPLIT.transpose(2, 1, 0, 3).reshape(12, 2, 6)),
    ("... c -> c ...", {}, X.transpose(2, 0, 1)),
    ("a ... -> (... a)", {}, X.transpose(1, 2, 0).reshape(-1)),
    ("a b c -> a 1 b c 1", {}, X.reshape(2, 1, 12, 6, 1)),
    ("a b c -> a () b c", {}, X.reshape(2, 1, 12, 6)),
    ("a b c ... -> ... a b c", {}, X),
    ("... -> (...)", {}, X.reshape(-1)),
    ("a ... -> a (...)", {}, X.reshape(2, 72)),
    ("a b (c1 c2)->c2 a(b c1)", {"c2": 2}, X.reshape(2, 12, 3, 2).transpose(3, 0, 1, 2).reshape(2, 2, 36)),
]


@pytest.mark.parametrize(("formula", "sizes", "expected"), CASES, ids=[case[0] for case in CASES])
def test_formulas_say_what_happens(formula: str, sizes: dict[str, int], expected: Any) -> None:
    out = Tensor(X).rearrange(formula, **sizes)
    assert out.shape == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)


def test_axes_of_size_one_may_go() -> None:
    assert Tensor(X).reshape(2, 1, 12, 6).rearrange("a 1 b c -> c b a").shape == (6, 12, 2)
    with pytest.raises(ShapeError, match=r"an axis of 12 elements is no \(\)"):
        Tensor(X).rearrange("a 1 c -> a c")


def test_sizes_may_be_symbolic_and_scalars_have_no_names() -> None:
    n = Variable("n", 1, 12).bind(3)
    out = Tensor(X)[:, :n].rearrange("a b (c d) -> d a (b c)", d=2)
    assert out.sum().item() == X[:, :3].sum()
    assert Tensor(3.0).rearrange("-> 1 1").tolist() == [[3.0]]
    assert Tensor(np.zeros((0, 4))).rearrange("a (b c) -> (a b) c", c=2).shape == (0, 2)


@pytest.mark.parametrize(
    ("formula", "sizes", "message"),
    [
        ("a b c", {}, "has 0 arrows"),
        ("a -> b -> c", {}, "has 2 arrows"),
        ("a a b -> a b", {}, "has 'a' twice on one side"),
        ("a b c -> a b", {}, "has 'c' on one side only"),
        ("a b -> a b c", {}, "has 'c' on one side only"),
        ("(a b c -> a b c", {}, r"a '\(' is not closed"),
        ("a b) c -> a b c", {}, r"a '\)' that belongs to no other"),
        ("((a b) c) d -> a b c d", {}, "Groups do not nest"),
        ("a b 2 -> a b 2", {}, "'2' is no name of an axis"),
        ("(a ...) b -> a ... b", {}, "in parentheses before the arrow"),
        ("(...) -> ...", {}, "in parentheses before the arrow"),
        (5, {}, r"5 \(int\) is no formula"),
        ("a b c -> c b a", {"d": 3}, "has no 'd', whose size was passed"),
        ("a (b d) c -> a b d c", {}, "sizes of b and d are not known. Pass all but one"),
    ],
)
def test_malformed_formulas_are_refused(formula: str, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Tensor(X).rearrange(formula, **sizes)


def test_formulas_that_do_not_fit_the_shape_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"names 2 axes before the arrow, the tensor has shape \(2, 12, 6\)"):
        Tensor(X).rearrange("a b -> b a")
    with pytest.raises(ShapeError, match="names 5 axes"):
        Tensor(X).rearrange("a b c d ... -> a b c d ...")
    with pytest.raises(ShapeError, match=r"an axis of 12 elements is no \(h w\) with h=5"):
        Tensor(X).rearrange("a (h w) c -> a h w c", h=5)
    with pytest.raises(ShapeError, match="an axis of 6 elements is no"):
        Tensor(X).rearrange("a b c -> a b c", c=5)


def test_a_formula_is_understood_without_a_tensor() -> None:
    formula = parse_formula("a (b c) ... -> ... (c a) b 1")
    assert formula.before == (("a",), ("b", "c"), ("...",))
    assert formula.after == (("...",), ("c", "a"), ("b",), ())
    moves = formula.for_shape((2, 6, 5), {"b": 3})
    assert (moves.split, moves.order, moves.joined) == ((2, 3, 2, 5), (3, 2, 0, 1), (5, 4, 3, 1))


def test_any_name_is_one_of_an_axis_and_sizes_are_integers() -> None:
    x = Tensor(X)
    assert x.rearrange("self (formula axis) dim -> formula dim axis self", formula=3).shape == (3, 6, 4, 2)
    assert x.rearrange("a (b c) d -> a b c d", b=np.int64(2)).shape == (2, 2, 6, 6)
    wrong: Any = "x"
    with pytest.raises(ShapeError, match=r"rearrange: 'x' \(str\) is no size of an axis"):
        x.rearrange("a (b c) d -> a b c d", b=wrong)
