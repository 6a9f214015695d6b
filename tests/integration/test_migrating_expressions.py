"""What docs/migrating.md says to write where a name is missing computes what the other library does."""

import importlib
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plugrad
from plugrad import Tensor, nn

ROOT = Path(__file__).resolve().parents[2]
DRAWS = np.random.default_rng(7)
X = DRAWS.normal(size=(4, 6)).astype(np.float32)
Y = DRAWS.normal(size=(4, 6)).astype(np.float32)
IMAGE = DRAWS.uniform(0.1, 1, size=(2, 4, 6, 6)).astype(np.float32)
SIGNS = np.where(Y > 0, 1, -1).astype(np.float32)
V = np.array([3.0, 1.0, 2.0, 7.0, 5.0], np.float32)

Names = dict[str, Any]
# (the name there, what is written here as a part of its row, the names in it, what is called there)
ROWS: tuple[tuple[str, str, Names, Callable[[Any], Any]], ...] = (
    ("np.cbrt", "x.sign() * x.abs() ** (1 / 3)", {"x": X}, lambda np: np.cbrt(X)),
    ("np.fabs", "x.abs()", {"x": X}, lambda np: np.fabs(X)),
    ("np.atan2", "y.atan2(x)", {"x": X, "y": Y}, lambda np: np.atan2(Y, X)),
    ("np.vecdot", "(x * y).sum(-1)", {"x": X, "y": Y}, lambda np: np.vecdot(X, Y)),
    ("np.vecmat", "x @ y", {"x": V[:4], "y": Y}, lambda np: np.vecmat(V[:4], Y)),
    ("np.rint", "x.round()", {"x": X * 3}, lambda np: np.rint(X * 3)),
    ("np.around", "x.round(decimals)", {"x": X, "decimals": 1}, lambda np: np.around(X, 1)),
    ("np.modf", "x.frac()", {"x": X}, lambda np: np.modf(X)[0]),
    ("np.modf", "x.trunc()", {"x": X}, lambda np: np.modf(X)[1]),
    ("np.radians", "x.deg2rad()", {"x": X}, lambda np: np.radians(X)),
    ("np.degrees", "x.rad2deg()", {"x": X}, lambda np: np.degrees(X)),
    ("np.pow", "x ** y", {"x": abs(X), "y": Y}, lambda np: np.pow(abs(X), Y)),
    ("np.rollaxis", "x.movedim(a, b)", {"x": IMAGE, "a": 2, "b": 0}, lambda np: np.rollaxis(IMAGE, 2)),
    ("np.sum", "x.sum(axis)", {"x": X, "axis": 1}, lambda np: np.sum(X, 1)),
    ("np.cumulative_sum", "x.cumsum(axis)", {"x": X, "axis": 1}, lambda np: np.cumulative_sum(X, axis=1)),
    ("np.cumulative_prod", "x.cumprod(axis)", {"x": X, "axis": 1}, lambda np: np.cumulative_prod(X, axis=1)),
    (
        "np.average",
        "(x * weights).sum() / weights.sum()",
        {"x": X, "weights": abs(Y)},
        lambda np: np.average(X, weights=abs(Y)),
    ),
    ("np.dot", "x.dot(y)", {"x": V, "y": V}, lambda np: np.dot(V, V)),
    ("np.ravel", "x.flatten()", {"x": X}, lambda np: np.ravel(X)),
    ("np.ediff1d", "x.flatten().diff()", {"x": X}, lambda np: np.ediff1d(X)),
    (
        "np.trapezoid",
        "((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1])).sum()",
        {"x": V, "y": V * V},
        lambda np: np.trapezoid(V * V, V),
    ),
    ("np.flatnonzero", "x.flatten().nonzero()", {"x": X > 0}, lambda np: np.flatnonzero(X > 0)[:, None]),
    (
        "np.digitize",
        "bins.searchsorted(x, right=True)",
        {"x": V, "bins": np.array([1.0, 2.5, 6.0], np.float32)},
        lambda np: np.digitize(V, [1.0, 2.5, 6.0]),
    ),
    (
        "np.isin",
        "(x.unsqueeze(-1) == y).any(-1)",
        {"x": V, "y": np.array([1.0, 5.0], np.float32)},
        lambda np: np.isin(V, [1.0, 5.0]),
    ),
    ("np.percentile", "x.quantile(q / 100)", {"x": V, "q": 30}, lambda np: np.percentile(V, 30)),
    ("np.identity", "Tensor.eye(n)", {"n": 3}, lambda np: np.identity(3)),
    (
        "np.geomspace",
        "Tensor.linspace(math.log(a), math.log(b), n).exp()",
        {"a": 1.0, "b": 8.0, "n": 4},
        lambda np: np.geomspace(1.0, 8.0, 4),
    ),
    (
        "np.tril_indices",
        "Tensor.ones(n, n).tril().nonzero()",
        {"n": 3},
        lambda np: np.stack(np.tril_indices(3), 1),
    ),
    ("np.row_stack", "Tensor.vstack(x, y)", {"x": X, "y": Y}, lambda np: np.vstack((X, Y))),
    ("np.concatenate", "Tensor.cat(x, y, axis=0)", {"x": X, "y": Y}, lambda np: np.concatenate((X, Y))),
    ("np.bitwise_not", "~x", {"x": np.arange(4)}, lambda np: np.bitwise_not(np.arange(4))),
    (
        "torch.Tensor.sum_to_size",
        "x.sum(axes, keepdim=True)",
        {"x": X, "axes": 0},
        lambda t: t.tensor(X).sum_to_size(1, 6),
    ),
    ("torch.Tensor.select", "x[:, i]", {"x": X, "i": 2}, lambda t: t.tensor(X).select(1, 2)),
    (
        "torch.Tensor.narrow_copy",
        "x[:, a:b]",
        {"x": X, "a": 1, "b": 3},
        lambda t: t.tensor(X).narrow_copy(1, 1, 2),
    ),
    ("torch.Tensor.pinverse", "x.pinv()", {"x": X}, lambda t: t.tensor(X).pinverse()),
    ("torch.sigmoid", "x.sigmoid()", {"x": X}, lambda t: t.sigmoid(t.tensor(X))),
    ("torch.nn.Softmax2d", "nn.Softmax(-3)", {"apply": IMAGE}, lambda t: t.nn.Softmax2d()(t.tensor(IMAGE))),
    (
        "torch.nn.UpsamplingNearest2d",
        "nn.Upsample(size)",
        {"size": (9, 12), "apply": IMAGE},
        lambda t: t.nn.UpsamplingNearest2d((9, 12))(t.tensor(IMAGE)),
    ),
    (
        "torch.nn.UpsamplingBilinear2d",
        'nn.Upsample(size, mode="bilinear", align_corners=True)',
        {"size": (9, 12), "apply": IMAGE},
        lambda t: t.nn.UpsamplingBilinear2d((9, 12))(t.tensor(IMAGE)),
    ),
    (
        "torch.nn.functional.channel_shuffle",
        "x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)",
        {"x": IMAGE, "groups": 2},
        lambda t: t.nn.functional.channel_shuffle(t.tensor(IMAGE), 2),
    ),
    (
        "torch.nn.functional.margin_ranking_loss",
        "(margin - y * (a - b)).relu().mean()",
        {"a": X, "b": Y, "y": SIGNS, "margin": 0.5},
        lambda t: t.nn.functional.margin_ranking_loss(*map(t.tensor, (X, Y, SIGNS)), margin=0.5),
    ),
    (
        "torch.nn.functional.hinge_embedding_loss",
        "(y == 1).where(x, (margin - x).relu()).mean()",
        {"x": X, "y": SIGNS, "margin": 1.0},
        lambda t: t.nn.functional.hinge_embedding_loss(t.tensor(X), t.tensor(SIGNS)),
    ),
    (
        "torch.nn.functional.soft_margin_loss",
        "(-y * x).softplus().mean()",
        {"x": X, "y": SIGNS},
        lambda t: t.nn.functional.soft_margin_loss(t.tensor(X), t.tensor(SIGNS)),
    ),
    (
        "torch.nn.functional.poisson_nll_loss",
        "(x.exp() - y * x).mean()",
        {"x": X, "y": abs(Y)},
        lambda t: t.nn.functional.poisson_nll_loss(t.tensor(X), t.tensor(abs(Y))),
    ),
    (
        "torch.nn.functional.gaussian_nll_loss",
        "0.5 * (v.log() + (x - y) ** 2 / v).mean()",
        {"x": X, "y": Y, "v": abs(Y) + 0.1},
        lambda t: t.nn.functional.gaussian_nll_loss(*map(t.tensor, (X, Y, abs(Y) + 0.1))),
    ),
    (
        "torch.nn.functional.multilabel_soft_margin_loss",
        "x.binary_cross_entropy_with_logits(y)",
        {"x": X, "y": (Y > 0).astype(np.float32)},
        lambda t: t.nn.functional.multilabel_soft_margin_loss(
            t.tensor(X), t.tensor((Y > 0).astype(np.float32))
        ),
    ),
    (
        "torch.nn.functional.lp_pool2d",
        "((x ** p).avg_pool2d(k) * k * k) ** (1 / p)",
        {"x": IMAGE, "p": 2, "k": 2},
        lambda t: t.nn.functional.lp_pool2d(t.tensor(IMAGE), 2, 2),
    ),
)


@pytest.fixture(scope="module")
def rows() -> Iterator[tuple[tuple[str, str], ...]]:
    """The table of what to write, from the generator of the page."""
    sys.path.insert(0, str(ROOT / "docs" / "generate"))
    try:
        yield importlib.import_module("otherwise").OTHERWISE
    finally:
        sys.path.remove(str(ROOT / "docs" / "generate"))
        sys.modules.pop("otherwise", None)


@pytest.mark.parametrize(("name", "written", "names", "theirs"), ROWS, ids=[f"{r[0]}: {r[1]}" for r in ROWS])
def test_what_the_page_says_to_write_computes_the_same(
    rows: tuple[tuple[str, str], ...], name: str, written: str, names: Names, theirs: Callable[[Any], Any]
) -> None:
    library = pytest.importorskip({"np": "numpy"}.get(name.split(".")[0], name.split(".")[0]))
    said = [
        code for listed, texts in rows if name in listed.split() for code in re.findall("`([^`]+)`", texts)
    ]
    assert written in said
    tensors = {
        key: Tensor(value, device="PYTHON") if isinstance(value, np.ndarray) else value
        for key, value in names.items()
    }
    found: Any = eval(written, {"Tensor": Tensor, "nn": nn, "math": math, "plugrad": plugrad, **tensors})
    if "apply" in tensors:
        found = found(tensors["apply"])
    np.testing.assert_allclose(found.numpy(), np.asarray(theirs(library)), rtol=2e-4, atol=2e-5)
