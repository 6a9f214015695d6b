"""The references of the table of operations, and their finite differences, are what PyTorch says.

So what the table compares a device with is PyTorch as well, wherever PyTorch has the operation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad_conformance.operations import Operation
from plugrad_conformance.operations.admitted import FLOATS, INTEGERS, WIDENING, admits, result_dtype
from plugrad_conformance.operations.check import gradient_by_differences, references, wide
from plugrad_conformance.operations.table import WRITTEN
from plugrad_conformance.operations.variations import sweep
from plugrad_conformance.operations.variations.edges import OUTERMOST


class Theirs(torch.Tensor):
    """A tensor of PyTorch whose methods are also what PyTorch has as functions."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        for where in (F, torch, torch.linalg):
            if hasattr(where, name):
                return lambda *args, **options: getattr(where, name)(self, *args, **options)
        raise AttributeError(name)

    def contiguous(self, **options: Any) -> torch.Tensor:
        # a leaf is its own contiguous tensor, and must not be written to
        return self.clone()


def from_end(index: Any, size: int) -> Any:
    """Return positions without negative ones, which PyTorch's functions refuse."""
    return torch.where(index < 0, index + size, index)


def conv(name: str) -> dict[str, Callable[..., Any]]:
    def spelled(groups: int, stride: int, dilation: int, padding: int) -> Callable[..., Any]:
        return lambda x, w, b: getattr(F, name)(x, w, b, stride, padding, dilation, groups)

    return {
        f"{name}/groups {g}, stride {s}, dilation {d}, padding {p}": spelled(g, s, d, p)
        for g, s, d, p in ((1, 1, 1, 0), (2, 2, 1, 1), (1, 1, 2, 2), (2, 2, 2, 1))
    }


def weighted(x: Any, y: Any, weight: Any) -> Any:
    """Return the binary cross entropy in words that have a derivative by `weight`."""
    return -(weight * y * F.logsigmoid(x) + (1 - y) * F.logsigmoid(-x)).mean()


EXTREMES: tuple[tuple[str, Any, bool], ...] = (
    ("axis None", (), False),
    ("axis 1", 1, False),
    ("axis (0, -1)", (0, -1), False),
    ("keepdim", -1, True),
    ("int8", 0, False),
    ("int64", 0, False),
    ("nan and inf", 1, False),
)
#: What PyTorch spells otherwise, by the name of an operation or by a case's.
SPELLED: dict[str, Callable[..., Any]] = {
    "fftshift": torch.fft.fftshift,
    "ifftshift": torch.fft.ifftshift,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "gelu/exact": F.gelu,
    "swish": F.silu,
    "clip": lambda x: x.clamp(max=0.25),
    **{f"{name}{digits}{rest}": lambda x, digits=digits: torch.round(x, decimals=digits)
       for name, rest in (("round/", " decimals"), ("__round__/", "")) for digits in (1, -1)},
    **{f"{name}/a number": lambda x, name=name: getattr(torch, name)(x, torch.tensor(1.5))
       for name in ("maximum", "minimum", "atan2", "hypot", "logaddexp")},
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "lshift": lambda x, y: x << y,
    "rshift": lambda x, y: x >> y,
    "where": lambda m, x, y: torch.where(m, x, y),
    "where/numbers": lambda m: torch.where(m, 2.0, 0.5),
    "prod/axis None": torch.prod,
    "prod/shape ()": torch.prod,
    **{f"{ours}/{variation}": lambda x, f=f, axis=axis, keepdim=keepdim: f(x, axis, keepdim)
       for ours, f in (("max", torch.amax), ("min", torch.amin)) for variation, axis, keepdim in EXTREMES},
    "sum/dtype": lambda x: x.sum(1, dtype=torch.float64),
    "reshape_as": lambda x: x.reshape_as(torch.zeros(6, 4)),
    "view_as": lambda x: x.view_as(torch.zeros(8, 3)),
    "expand_as": lambda x: x[0, :1].expand_as(torch.zeros(5, 4)),
    "repeat_interleave/each its own": lambda x: x.repeat_interleave(torch.tensor([2, 0, 1]), 1),
    "pad/a value": lambda x: F.pad(x, (0, 2, 1, 0), value=3.5),
    "pad/negative": lambda x: F.pad(x, (1, -2, -1, 1)),
    "pad/empty": lambda x: F.pad(x, (0, 0, 1, 1)),
    "cat": lambda x, y: torch.cat([x, y]),
    "cat/axis -1": lambda x, y: torch.cat([x.T, y.T], -1),
    "cat/with an empty one": lambda x, y: torch.cat([x, y], 1),
    **dict.fromkeys(("concat", "concatenate"), lambda x, y: torch.cat([x, y], 1)),
    "astype": lambda x: x.to(torch.int32),
    "stack": lambda x, y: torch.stack([x, y], 1),
    "gather/axis 1": lambda x, i: x.gather(1, from_end(i, 5)),
    "index_select": lambda x, i: x.index_select(1, from_end(i, 5)),
    "take/axis 1": lambda x, i: x[:, i],
    "take_along_axis": lambda x, i: x.take_along_dim(from_end(i, 5), -1),
    "scatter/add": lambda x, i, y: x.scatter_add(0, from_end(i, 4), y),
    "scatter_add": lambda x, i, y: x.scatter_add(0, from_end(i, 4), y),
    **{f"scatter_reduce/{how}": lambda x, i, y, how=how: x.scatter_reduce(0, from_end(i, 4), y, how)
       for how in ("sum", "prod", "amax", "amin")},
    "index_add": lambda x, i, y: x.index_add(0, i, y, alpha=2),
    "unique/inverse and counts": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "dot": torch.matmul,
    "solve": torch.linalg.solve,
    "qr/reduced": torch.linalg.qr,
    "qr/complete": lambda x: torch.linalg.qr(x, "complete"),
    "svd/values": torch.linalg.svdvals,
    "eigh/values": lambda x: torch.linalg.eigvalsh(x + x.transpose(1, 2)),
    "pinv": torch.linalg.pinv,
    "lstsq": lambda x, b: torch.linalg.pinv(x) @ b,
    **{f"matrix_norm/p={p}": lambda x, p=p: torch.linalg.matrix_norm(x, p)
       for p in ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf)},
    "linear": lambda x, w, b: F.linear(x, w.T, b),
    "cross": lambda x, y: torch.linalg.cross(x, y[None]),
    **{f"einsum/{formula}": lambda *xs, formula=formula: torch.einsum(formula, *xs)
       for formula in ("ij,jk->ik", "bij,bkj->bik", "ii->i", "...j,j->...", "i,j,ij->")},
    **conv("conv1d"), **conv("conv2d"), **conv("conv3d"),
    **{f"conv_transpose{n}d/groups {g}, stride {s}, dilation {d}, padding {p}":
       lambda x, w, b, n=n, o=(s, p, more, g, d): getattr(F, f"conv_transpose{n}d")(x, w, b, *o)
       for n in (1, 2, 3) for g, s, d, p, more in ((2, 2, 1, 1, 1), (1, 1, 2, 1, 0), (2, 3, 2, 0, 2))},
    **{f"avg_pool{n}d/kernel 3, stride 2, padding 1": lambda x, n=n: getattr(F, f"avg_pool{n}d")(x, 3, 2, 1)
       for n in (1, 2, 3)},
    **{f"max_unpool{n}d": lambda x, i, n=n: getattr(F, f"max_unpool{n}d")(x, i, 2) for n in (1, 2, 3)},
    # torch takes a divisor for images only
    "avg_pool1d/divisor": lambda x: F.avg_pool1d(x, 3, 1, 1) * 3 / 4,
    **{f"avg_pool{n}d/divisor": lambda x, n=n: getattr(F, f"avg_pool{n}d")(x, 3, 1, 1, divisor_override=4)
       for n in (2, 3)},
    "avg_pool2d/without padding": lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
    **{f"interpolate/{mode}": lambda x, mode=mode: F.interpolate(x, (7, 3), mode=mode)
       for mode in ("nearest", "nearest-exact", "area")},
    "layernorm": lambda x: F.layer_norm(x, (3,)),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (3,), w, b),
    "rms_norm": lambda x, w: F.rms_norm(x, (3,), w, 1e-3),
    "groupnorm": lambda x, w, b: F.group_norm(x, 2, w, b),
    "instance_norm": lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
    "batch_norm/running statistics": lambda x, m, v: (x - m[:, None]) / (v[:, None] + 1e-5).sqrt(),
    "mse_loss/none": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "l1_loss": lambda x, y: F.l1_loss(x, y, reduction="sum"),
    "smooth_l1_loss": lambda x, y: F.smooth_l1_loss(x, y, reduction="none", beta=0.7),
    "cosine_embedding_loss": lambda x, y, s: F.cosine_embedding_loss(x, y, s, -0.5, reduction="none"),
    "binary_crossentropy": F.binary_cross_entropy,
    "binary_crossentropy_logits": F.binary_cross_entropy_with_logits,
    "binary_cross_entropy_with_logits/positive weight": weighted,
    "kl_div/batchmean": lambda x, t: F.kl_div(x, t, reduction="batchmean"),
    "kl_div/log target": lambda x, t: F.kl_div(x, t, reduction="none", log_target=True),
    "cross_entropy/label smoothing":
        lambda x, y: F.cross_entropy(x, y, reduction="none", label_smoothing=0.3),
    "sparse_categorical_crossentropy": lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2),
    "dropout": lambda x: F.dropout(x, training=False),
    **{f"dropout{n}d": lambda x, n=n: getattr(F, f"dropout{n}d")(x, training=False) for n in (1, 2, 3)},
    **{name: lambda *xs, name=name: getattr(torch, name)(xs)
       for name in ("hstack", "vstack", "dstack", "column_stack")},
    **{f"unique/slices of axis {axis}": lambda x, axis=axis: torch.unique(
           x, return_inverse=True, return_counts=True, dim=axis) for axis in (0, 2)},
    "unique_consecutive/rows": lambda x: torch.unique_consecutive(x, return_inverse=True, dim=0),
    "linear/in float64": lambda x, w: F.linear(x.double(), w.T.double()),
}  # fmt: skip
#: What PyTorch does not have, or means otherwise.
OTHERWISE: dict[str, str] = {
    "quick_gelu": "not there",
    **dict.fromkeys(
        ("abs/uint64", "neg/uint64", "sign/uint64", "square/uint64", "relu/uint64"), "not implemented"
    ),
    **dict.fromkeys(("max/uint32", "min/uint32", "bitwise_not/uint16"), "not implemented"),
    **dict.fromkeys(
        (
            f"{name}/elements of {dtype}"
            for name in ("flip", "tril", "triu")
            for dtype in ("uint16", "uint64")
        ),
        "not implemented",
    ),
    "matmul/elements of uint64": "not implemented",
    **dict.fromkeys(("max/shape ()", "min/shape ()", "prod/axis (0, -1)"), "other axes"),
    **dict.fromkeys(
        (f"{name}/int32" for name in ("logsigmoid", "softplus", "celu", "elu", "selu")), "floats only"
    ),
    "sign/edges": "the sign of NaN is 0",
    "sgn/edges": "the sign of NaN is 0",
    "round/tens of int8": "not implemented",
    **dict.fromkeys(("__divmod__", "__rdivmod__"), "not there"),
    "__rmatmul__": "arrays are refused",
    **dict.fromkeys(
        ("rearrange", "shrink", "shrink_to", "pad_to", "sequential", "cast", "bitcast"), "not there"
    ),
    **dict.fromkeys(("nonzero/of a size", "masked_select/of a size"), "not there"),
    **dict.fromkeys(("assign", "batchnorm", "batch_statistics"), "not there"),
    "bfloat16": "NumPy cannot read it",
    "cat/int16 and float16": "the cases' floats are wide",
    "__getitem__/a negative step": "steps are positive",
    "gather/outside gives 0": "an error",
    **dict.fromkeys(("svd/product", "eigh/product"), "multiplied again in words of tensors"),
    **dict.fromkeys(
        (
            f"{way}{axes}"
            for way in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
            for axes in ("", "2", "n")
        ),
        "complex numbers are a dtype",
    ),
    **dict.fromkeys(("ptp", "newton_schulz"), "not there"),
    "nanmean/int32": "floats only",
    **dict.fromkeys(
        ("nanmedian/NaN", "kthvalue/second, axis 0, equals", "kthvalue/second, axis -1, equals"),
        "another of equals",
    ),
    **dict.fromkeys(
        (f"{name}/special values of float{n}" for name in ("var_mean", "std_mean") for n in (16, 32, 64)),
        "the mean of what is infinite is NaN here, and infinite by itself",
    ),
    "vander/reals": "no gradient",
    "unique/floats": "each NaN is its own",
    "bincount/weights": "no gradient",
    "one_hot/outside gives zeros": "an error",
    "trace": "no offset",
    "index_copy": "indices of another dtype",
    "cross_entropy/weights": "no gradient by weights",
    "nll_loss/weights": "no gradient by weights",
}


def called(case: Operation, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    spelled = SPELLED.get(case.id) or SPELLED.get(case.name) or case.call
    out: Any = spelled(*inputs)
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def theirs(x: Any) -> torch.Tensor:
    x = wide(x)
    return torch.tensor(x.astype(np.int64) if x.dtype == np.int32 else x).as_subclass(Theirs)


def compared(case: Operation) -> bool:
    # PyTorch has no shifts of integers without signs, nor most of what else there is of them
    is_there = case.variation != OUTERMOST and case.name not in OTHERWISE
    return bool(case.inputs) and case.id not in OTHERWISE and is_there


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [c for c in WRITTEN if compared(c)], ids=lambda case: case.id)
def test_references_are_what_torch_says(case: Operation) -> None:
    inputs = [theirs(x) for x in case.inputs]
    for i in case.differentiated:
        inputs[i].requires_grad_()
    found = called(case, inputs)
    with np.errstate(all="ignore"):
        expected = references(case)
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        values = got.detach().numpy()
        assert values.shape == want.shape
        np.testing.assert_allclose(values.astype(np.float64), want.astype(np.float64), rtol=1e-6, atol=1e-7)
    if not case.differentiated:
        return
    total = sum(
        (value * torch.cos(torch.arange(value.numel(), dtype=torch.float64)).reshape(value.shape)).sum()
        for value in found
        if value.is_floating_point()
    )
    total.backward()
    for i in case.differentiated:
        gradient = inputs[i].grad
        values = np.zeros(case.inputs[i].shape) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(values, gradient_by_differences(case, i), rtol=1e-6, atol=1e-6)


# --- dtypes of results ---

_TOGETHER = "integers that meet a fraction become floats"
#: Methods whose dtypes differ from PyTorch's, and why.
OTHER_DTYPES: dict[str, str] = {
    **dict.fromkeys(["hardtanh", "threshold", "masked_fill", "addcmul", "pad"], _TOGETHER),
    **dict.fromkeys(["addmm", "addmv", "baddbmm", "addbmm"], "weights of integers are whole"),
    **dict.fromkeys(["avg_pool1d", "avg_pool2d", "avg_pool3d"], "means of integers are floats"),
    **dict.fromkeys(("any", "all"), "uint8 is no truth value"),
    **dict.fromkeys(("square", "vander"), "truth values and what is unsigned stay"),
    "bincount": "weights stay what they are",
    "l1_loss": "losses are of floats",
    **dict.fromkeys(
        (f"{kind}dropout{n}" for kind in ("", "alpha_", "feature_alpha_") for n in ("", "1d", "2d", "3d")),
        "floats only, in training or not",
    ),
}


def typed(case: Operation, dtype: str) -> list[torch.Tensor]:
    """Return the inputs of a case for PyTorch, with elements of a dtype."""
    elements = sweep.moved(case)
    arrays = [sweep.whole_numbers(x, dtype) if dtype in INTEGERS else x for x in case.inputs]
    kind = getattr(torch, dtype)
    tensors = [
        torch.tensor(new).to(kind) if i in elements else torch.tensor(x)
        for i, (x, new) in enumerate(zip(case.inputs, arrays, strict=True))
    ]
    return [x.as_subclass(Theirs) for x in tensors]


DTYPED = [case for case in sweep.plain_cases(WRITTEN).values() if case.name not in OTHER_DTYPES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", DTYPED, ids=lambda case: case.name)
def test_dtypes_of_results_are_those_of_torch(case: Operation) -> None:
    for dtype in (*FLOATS, *INTEGERS):
        try:
            first = called(case, typed(case, dtype))[0]
        except Exception:  # not implemented there, which is of as many kinds
            continue
        found = str(first.dtype).removeprefix("torch.")
        assert admits(case.name, dtype), f"{case.name} of {dtype} is {found} in PyTorch"
        ours = result_dtype(case.name, dtype, case.dtype or "")
        # the default integer has 32 bits here, and sums of what is unsigned are unsigned
        widened = {"int32", "uint32", "uint64"} if case.name in WIDENING else {"int32"}
        assert ours == found or (found == "int64" and ours in widened), f"{dtype} gives {found}, not {ours}"
