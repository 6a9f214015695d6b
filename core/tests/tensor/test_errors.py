"""Every error that a method of Tensor is documented to raise, with its message."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from plugrad import Tensor, Variable
from plugrad.errors import (
    ArgumentError,
    AxisError,
    DeviceError,
    DeviceNotFound,
    DownloadError,
    DtypeError,
    GradientError,
    JitError,
    PlugradError,
    ShapeError,
    SharingError,
    ViewError,
)
from plugrad.jit import jit


def trained(call: Callable[[], Any]) -> None:
    with Tensor.train():
        call()


def jitted(call: Callable[[Tensor], Any]) -> None:
    function = jit(call)
    for _ in range(3):
        function(Tensor([1.0, 2.0]).contiguous().realize())


# errors that say which method refused what it was given
REFUSALS = (ArgumentError, AxisError, DtypeError, ShapeError, ViewError)

# (method, error, what is wrong, and a part of what is said)
WRONG: list[tuple[str, type[Exception], Callable[[Any], Any], str]] = [
    (
        "gelu",
        ArgumentError,
        lambda t: t.floats.gelu("erf"),
        "gelu: approximate='erf' is neither 'tanh' nor 'none'",
    ),
    (
        "index_put",
        ArgumentError,
        lambda t: t.floats.index_put((slice(1),), 1.0),
        "index_put: indices (slice(None, 1, None),)",
    ),
    (
        "index_put",
        AxisError,
        lambda t: t.floats.index_put((t.row, t.row, t.row), 1.0),
        "3 indices for a tensor with 2 axes, shape (2, 3)",
    ),
    (
        "index_put",
        ShapeError,
        lambda t: t.floats.index_put((t.row,), Tensor.ones(5)),
        "index_put: shapes (5,) and (2, 3) do not broadcast: axis -1 has sizes 5 and 3",
    ),
    (
        "index_put",
        DtypeError,
        lambda t: t.floats.index_put((Tensor([0.5]),), 1.0),
        "cannot index axis 0 with a tensor of float32",
    ),
    (
        "index_add",
        AxisError,
        lambda t: t.floats.index_add(2, t.row, t.floats),
        "index_add: axis 2 is out of range",
    ),
    (
        "index_add",
        ShapeError,
        lambda t: t.floats.index_add(0, t.row, Tensor.ones(2, 5)),
        "index_add: shapes (2, 5) and (2, 3) do not broadcast: axis -1 has sizes 5 and 3",
    ),
    (
        "index_add",
        DtypeError,
        lambda t: t.floats.index_add(0, Tensor([0.5]), t.floats),
        "index_add with an index of float32: positions are integers",
    ),
    (
        "index_copy",
        AxisError,
        lambda t: t.floats.index_copy(2, t.row, t.floats),
        "index_copy: axis 2 is out of range",
    ),
    (
        "index_copy",
        ShapeError,
        lambda t: t.floats.index_copy(0, t.row, Tensor.ones(2, 5)),
        "index_copy: shapes (2, 5) and (2, 3) do not broadcast: axis -1 has sizes 5 and 3",
    ),
    (
        "index_copy",
        DtypeError,
        lambda t: t.floats.index_copy(0, Tensor([0.5]), t.floats),
        "index_copy with an index of float32: positions are integers",
    ),
    (
        "index_fill",
        AxisError,
        lambda t: t.floats.index_fill(-3, t.row, 0),
        "index_fill: axis -3 is out of range",
    ),
    (
        "index_fill",
        DtypeError,
        lambda t: t.floats.index_fill(0, Tensor([0.5]), 0),
        "index_fill with an index of float32: positions are integers",
    ),
    (
        "sub",
        DtypeError,
        lambda t: t.bools.sub(t.bools),
        "subtraction of bool and bool: it takes numbers (use ^ for bools)",
    ),
    ("pow", DtypeError, lambda t: t.ints.pow(-1), "int32 to the power of -1 is no integer"),
    (
        "where",
        DtypeError,
        lambda t: t.floats.where(t.floats, t.floats),
        "where of float32: it takes a bool condition",
    ),
    ("clamp", DtypeError, lambda t: t.floats.clamp(), "clamp without a limit changes nothing"),
    ("div", ArgumentError, lambda t: t.floats.div(2, rounding_mode="up"), "there is no rounding_mode 'up'"),
    ("bitwise_not", DtypeError, lambda t: t.floats.bitwise_not(), "~ of float32: it takes integers or bools"),
    ("lshift", DtypeError, lambda t: t.floats.lshift(1), "<< of float32 and 1 (int): it takes integers"),
    ("rshift", DtypeError, lambda t: t.floats.rshift(1), ">> of float32 and 1 (int): it takes integers"),
    ("neg", DtypeError, lambda t: t.bools.neg(), "bools have no negative"),
    (
        "scaled_dot_product_attention",
        ShapeError,
        lambda t: t.floats.scaled_dot_product_attention(Tensor.ones(2, 4), Tensor.ones(2, 4)),
        "scaled_dot_product_attention of queries (2, 3), keys (2, 4) and values (2, 4): it",
    ),
    (
        "scaled_dot_product_attention",
        DtypeError,
        lambda t: t.ints.scaled_dot_product_attention(t.ints, t.ints),
        "scaled_dot_product_attention of int32, int32 and int32: it takes floats of one dtype",
    ),
    (
        "scaled_dot_product_attention",
        ArgumentError,
        lambda t: t.floats.scaled_dot_product_attention(
            t.floats, t.floats, Tensor.ones(2, 2), is_causal=True
        ),
        "scaled_dot_product_attention: both attn_mask and is_causal",
    ),
    ("nbytes", ShapeError, lambda t: t.symbolic.nbytes(), "nbytes: the shape (size,) is symbolic"),
    (
        "static_shape",
        ShapeError,
        lambda t: t.symbolic.static_shape(),
        "static_shape: the shape (size,) is symbolic",
    ),
    ("one_hot", DtypeError, lambda t: t.floats.one_hot(3), "one_hot of float32: it takes integers"),
    ("one_hot", ShapeError, lambda t: t.ints.one_hot(0), "one_hot with 0 classes"),
    (
        "sparse_categorical_crossentropy",
        ShapeError,
        lambda t: t.floats.sparse_categorical_crossentropy(Tensor([1, 2, 0])),
        "sparse_categorical_crossentropy: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "sparse_categorical_crossentropy",
        ArgumentError,
        lambda t: t.floats.sparse_categorical_crossentropy(t.row, label_smoothing=2.0),
        "sparse_categorical_crossentropy: label_smoothing=2.0 lies outside of 0..1",
    ),
    (
        "sparse_categorical_crossentropy",
        DtypeError,
        lambda t: t.floats.sparse_categorical_crossentropy(Tensor([0.5, 1.0])),
        "sparse_categorical_crossentropy of float32: it takes integers",
    ),
    (
        "cross_entropy",
        ShapeError,
        lambda t: t.floats.cross_entropy(Tensor([1, 2, 0])),
        "cross_entropy: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "cross_entropy",
        ArgumentError,
        lambda t: t.floats.cross_entropy(t.row, "all"),
        "cross_entropy: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "cross_entropy",
        DtypeError,
        lambda t: t.ints.cross_entropy(t.row),
        "cross_entropy of int32: it takes floats as logits",
    ),
    (
        "nll_loss",
        ShapeError,
        lambda t: t.floats.nll_loss(Tensor([1, 2, 0])),
        "nll_loss: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "nll_loss",
        ArgumentError,
        lambda t: t.floats.nll_loss(t.row, reduction="all"),
        "nll_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "nll_loss",
        DtypeError,
        lambda t: t.floats.nll_loss(Tensor([0.5, 1.0])),
        "nll_loss of float32: it takes integers",
    ),
    ("cast", DtypeError, lambda t: t.floats.cast("float33"), "'float33' is not a dtype"),
    (
        "bitcast",
        ShapeError,
        lambda t: Tensor.ones(3, dtype="int8").bitcast("int16"),
        "bitcast of shape (3,) from int8 to int16: the last axis must be a multiple of 2",
    ),
    (
        "bitcast",
        DtypeError,
        lambda t: t.bools.bitcast("int32"),
        "bitcast from bool to int32: bools have no bits of their own",
    ),
    (
        "conv1d",
        ShapeError,
        lambda t: t.floats.conv1d(Tensor.ones(4, 5, 1)),
        "conv1d of shape (2, 3): it takes sequences (N, C, L) with a weight of shape (4, 5,",
    ),
    (
        "conv2d",
        ShapeError,
        lambda t: t.images.conv2d(Tensor.ones(4, 3, 1, 1)),
        "conv2d: images of shape (1, 5, 4, 4) and weight (4, 3, 1, 1) with groups=1: the",
    ),
    (
        "conv3d",
        ShapeError,
        lambda t: t.images.conv3d(Tensor.ones(4, 5, 1, 1, 1)),
        "conv3d of shape (1, 5, 4, 4): it takes volumes (N, C, D, H, W) with a weight of",
    ),
    (
        "conv_transpose1d",
        ShapeError,
        lambda t: t.floats.conv_transpose1d(Tensor.ones(4, 5, 1)),
        "conv_transpose1d of shape (2, 3): it takes sequences (N, C, L) with a weight of",
    ),
    (
        "conv_transpose2d",
        ShapeError,
        lambda t: t.images.conv_transpose2d(Tensor.ones(4, 3, 1, 1)),
        "conv_transpose2d of shape (1, 5, 4, 4) with weight (4, 3, 1, 1) and groups=1: the",
    ),
    (
        "conv_transpose3d",
        ShapeError,
        lambda t: t.images.conv_transpose3d(Tensor.ones(4, 5, 1, 1, 1)),
        "conv_transpose3d of shape (1, 5, 4, 4): it takes volumes (N, C, D, H, W) with a",
    ),
    (
        "full",
        DtypeError,
        lambda t: Tensor.full((2,), 300, dtype="uint8"),
        "300 does not fit uint8, which holds 0..255",
    ),
    ("arange", ArgumentError, lambda t: Tensor.arange(0, 3, 0), "arange(0, 3, 0) never ends"),
    ("arange", DtypeError, lambda t: Tensor.arange("3"), "arange with '3' (str)"),
    ("linspace", ShapeError, lambda t: Tensor.linspace(0, 1, -1), "linspace: (-1,) has a negative size"),
    (
        "ctc_loss",
        ShapeError,
        lambda t: t.floats.ctc_loss(t.ints, [2], [1]),
        "ctc_loss of shape (2, 3) with labels of shape (2, 3): it takes (T, N, C) and (N,",
    ),
    (
        "ctc_loss",
        DtypeError,
        lambda t: Tensor.ones(4, 2, 3).ctc_loss(t.floats, [4, 4], [1, 1]),
        "ctc_loss of float32 with labels of float32: it takes log-probabilities and integers",
    ),
    (
        "ctc_loss",
        ArgumentError,
        lambda t: Tensor.ones(4, 2, 3).ctc_loss(t.ints[:, :1], [4, 4], [1, 1], reduction="all"),
        "ctc_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("tri", ShapeError, lambda t: Tensor.tri(-1), "tri: (-1, -1) has a negative size"),
    ("tril", ShapeError, lambda t: t.vector.tril(), "tril of shape (3,): a matrix has two axes"),
    ("triu", ShapeError, lambda t: t.vector.triu(), "triu of shape (3,): a matrix has two axes"),
    ("diagonal", AxisError, lambda t: t.floats.diagonal(0, 0, 2), "diagonal: axis 2 is out of range"),
    (
        "diagonal",
        ShapeError,
        lambda t: t.symbolic.reshape(1, -1).diagonal(),
        "diagonal of shape (1, size): axes 0 and 1 must be numbers",
    ),
    (
        "diag",
        ShapeError,
        lambda t: Tensor.ones(2, 2, 2).diag(),
        "diag of shape (2, 2, 2): it takes one axis or two",
    ),
    (
        "diag_embed",
        ShapeError,
        lambda t: Tensor(1.0).diag_embed(),
        "diag_embed of shape (): the last axis must be there, and a number",
    ),
    (
        "meshgrid",
        ArgumentError,
        lambda t: t.vector.meshgrid(indexing="yx"),
        "meshgrid: indexing='yx' is neither 'ij' nor 'xy'",
    ),
    (
        "meshgrid",
        ShapeError,
        lambda t: t.vector.meshgrid(t.floats),
        "meshgrid of shape (2, 3): each axis takes one axis of numbers",
    ),
    ("rand", DtypeError, lambda t: Tensor.rand(2, dtype="int32"), "rand of int32: it takes a float dtype"),
    ("randn", DtypeError, lambda t: Tensor.randn(2, dtype="int32"), "randn of int32: it takes a float dtype"),
    (
        "randint",
        DtypeError,
        lambda t: Tensor.randint(2, high=300, dtype="int8"),
        "299 does not fit int8, which holds -128..127",
    ),
    (
        "randint",
        ArgumentError,
        lambda t: Tensor.randint(2, low=3, high=3),
        "randint: there is no integer from 3 to below 3",
    ),
    (
        "randint_like",
        DtypeError,
        lambda t: t.floats.randint_like(),
        "randint_like of float32: it takes an integer dtype",
    ),
    (
        "randint_like",
        ArgumentError,
        lambda t: t.ints.randint_like(low=3, high=3),
        "randint_like: there is no integer from 3 to below 3",
    ),
    (
        "glorot_uniform",
        ShapeError,
        lambda t: Tensor.glorot_uniform(3),
        "glorot_uniform of shape (3,): weights have axes (out, in, *kernel)",
    ),
    (
        "kaiming_uniform",
        ShapeError,
        lambda t: Tensor.kaiming_uniform(3),
        "kaiming_uniform of shape (3,): weights have axes (out, in, *kernel)",
    ),
    (
        "kaiming_normal",
        ShapeError,
        lambda t: Tensor.kaiming_normal(3),
        "kaiming_normal of shape (3,): weights have axes (out, in, *kernel)",
    ),
    ("dropout", ArgumentError, lambda t: t.floats.dropout(1.5), "dropout: p=1.5 lies outside of 0..1"),
    (
        "dropout",
        DtypeError,
        lambda t: trained(lambda: t.ints.dropout(0.5)),
        "dropout of int32: it takes floats",
    ),
    (
        "einsum",
        ArgumentError,
        lambda t: Tensor.einsum("ij->k", t.floats),
        "einsum 'ij->k': 'k' of the result is in no operand",
    ),
    (
        "einsum",
        ShapeError,
        lambda t: Tensor.einsum("ij,jk->ik", t.floats, t.floats),
        "einsum 'ij,jk->ik' of shapes (2, 3) and (2, 3): 'j' has sizes 3 and 2",
    ),
    (
        "tensordot",
        ArgumentError,
        lambda t: t.floats.tensordot(t.floats, -1),
        "tensordot: -1 axes of shapes (2, 3) and (2, 3)",
    ),
    (
        "tensordot",
        AxisError,
        lambda t: t.floats.tensordot(t.floats, ((2,), (0,))),
        "tensordot: axis 2 is out of range",
    ),
    (
        "tensordot",
        ShapeError,
        lambda t: t.floats.tensordot(t.floats, 1),
        "tensordot of shapes (2, 3) and (2, 3): axis 1 of the first and 0 of the second",
    ),
    (
        "outer",
        ShapeError,
        lambda t: t.floats.outer(t.vector),
        "outer of shapes (2, 3) and (3,): it takes vectors",
    ),
    (
        "inner",
        ShapeError,
        lambda t: t.floats.inner(Tensor.ones(4)),
        "inner of shapes (2, 3) and (4,): axis 1 of the first and 0 of the second differ",
    ),
    (
        "vdot",
        ShapeError,
        lambda t: t.floats.vdot(t.vector),
        "vdot of shapes (2, 3) and (3,): it takes vectors",
    ),
    ("trace", AxisError, lambda t: t.floats.trace(0, 0, 0), "trace: axes 0 and 0 are the same"),
    ("cross", AxisError, lambda t: t.floats.cross(t.floats, axis=2), "cross: axis 2 is out of range"),
    (
        "cross",
        ShapeError,
        lambda t: Tensor.ones(4).cross(Tensor.ones(4)),
        "cross of shapes (4,) and (4,): axis -1 must have three elements",
    ),
    ("from_blob", ArgumentError, lambda t: Tensor.from_blob(0, (2,)), "from_blob: 0 is no address of memory"),
    ("from_blob", ShapeError, lambda t: Tensor.from_blob(64, (-2,)), "from_blob: (-2,) has a negative size"),
    (
        "from_url",
        DownloadError,
        lambda t: Tensor.from_url("nowhere://there", folder=str(t.folder), progress=False),
        "cannot fetch nowhere://there: <urlopen error unknown url type: nowhere>. Check the",
    ),
    ("fft", ArgumentError, lambda t: t.pairs.fft(0), "fft: n=0 elements"),
    ("fft", AxisError, lambda t: t.pairs.fft(axis=2), "fft: axis 2 is out of range"),
    (
        "fft",
        ShapeError,
        lambda t: t.floats.fft(),
        "fft of shape (2, 3): complex numbers are a last axis of 2 elements",
    ),
    (
        "rfft",
        ArgumentError,
        lambda t: t.floats.rfft(norm="both"),
        "rfft: norm='both' is none of 'backward', 'ortho' and 'forward'",
    ),
    ("rfft", AxisError, lambda t: t.floats.rfft(axis=2), "rfft: axis 2 is out of range"),
    ("irfft", ArgumentError, lambda t: t.pairs.irfft(0), "irfft: n=0 elements"),
    ("irfft", AxisError, lambda t: t.pairs.irfft(axis=2), "irfft: axis 2 is out of range"),
    (
        "irfft",
        ShapeError,
        lambda t: t.floats.irfft(),
        "irfft of shape (2, 3): complex numbers are a last axis of 2 elements",
    ),
    ("glu", AxisError, lambda t: t.floats.glu(2), "glu: axis 2 is out of range"),
    ("glu", ShapeError, lambda t: t.floats.glu(1), "glu: axis 1 of shape (2, 3) has no two equal halves"),
    (
        "prelu",
        ShapeError,
        lambda t: t.floats.prelu(Tensor.ones(4)),
        "prelu of shape (2, 3): weight has shape (4,)",
    ),
    ("hardshrink", ArgumentError, lambda t: t.floats.hardshrink(-1.0), "hardshrink: lambd=-1.0 is negative"),
    ("softshrink", ArgumentError, lambda t: t.floats.softshrink(-1.0), "softshrink: lambd=-1.0 is negative"),
    (
        "gather",
        DtypeError,
        lambda t: t.floats.gather(0, t.floats),
        "gather with an index of float32: positions are integers",
    ),
    (
        "gather",
        ShapeError,
        lambda t: t.floats.gather(0, t.row),
        "gather: an index of shape (2,) for shape (2, 3)",
    ),
    ("gather", AxisError, lambda t: t.floats.gather(2, t.ints), "gather: axis 2 is out of range"),
    (
        "take_along_axis",
        DtypeError,
        lambda t: t.floats.take_along_axis(t.floats),
        "take_along_axis with an index of float32: positions are integers",
    ),
    (
        "take_along_axis",
        ShapeError,
        lambda t: t.floats.take_along_axis(t.row),
        "take_along_axis: indices of shape (2,) for shape (2, 3)",
    ),
    (
        "take_along_axis",
        AxisError,
        lambda t: t.floats.take_along_axis(t.ints, 2),
        "take_along_axis: axis 2 is out of range",
    ),
    (
        "index_select",
        DtypeError,
        lambda t: t.floats.index_select(0, t.vector),
        "index_select with an index of float32: positions are integers",
    ),
    (
        "index_select",
        ShapeError,
        lambda t: t.floats.index_select(0, t.ints),
        "index_select: an index of shape (2, 3)",
    ),
    (
        "index_select",
        AxisError,
        lambda t: t.floats.index_select(2, t.row),
        "index_select: axis 2 is out of range",
    ),
    (
        "scatter",
        ArgumentError,
        lambda t: t.floats.scatter(0, t.ints, t.floats, reduce="mean"),
        "scatter: reduce='mean' is none of 'add', 'multiply', None",
    ),
    (
        "scatter",
        DtypeError,
        lambda t: t.floats.scatter(0, t.floats, t.floats),
        "scatter with an index of float32: positions are integers",
    ),
    (
        "scatter",
        ShapeError,
        lambda t: t.floats.scatter(0, t.row, t.floats),
        "scatter: an index of shape (2,) for shape (2, 3)",
    ),
    (
        "scatter",
        AxisError,
        lambda t: t.floats.scatter(2, t.ints, t.floats),
        "scatter: axis 2 is out of range",
    ),
    (
        "scatter_reduce",
        DtypeError,
        lambda t: t.floats.scatter_reduce(0, t.floats, t.floats, "sum"),
        "scatter_reduce with an index of float32: positions are integers",
    ),
    (
        "scatter_reduce",
        ShapeError,
        lambda t: t.floats.scatter_reduce(0, t.row, t.floats, "sum"),
        "scatter_reduce: an index of shape (2,) for shape (2, 3)",
    ),
    (
        "scatter_reduce",
        ArgumentError,
        lambda t: t.floats.scatter_reduce(0, t.ints, t.floats, "last"),
        "scatter_reduce: reduce='last' is none of 'sum', 'prod', 'mean', 'amax', 'amin'",
    ),
    (
        "scatter_reduce",
        AxisError,
        lambda t: t.floats.scatter_reduce(2, t.ints, t.floats, "sum"),
        "scatter_reduce: axis 2 is out of range",
    ),
    ("gradient", GradientError, lambda t: t.floats.sum().gradient(t.vector), "does not depend on"),
    (
        "gradient",
        ShapeError,
        lambda t: t.floats.gradient(t.floats, gradient=t.vector),
        "gradient of shape (3,) for a tensor of shape (2, 3)",
    ),
    (
        "gradient",
        DtypeError,
        lambda t: t.floats.sum().gradient(3),
        "gradient for 3 (int), which is no tensor",
    ),
    ("backward", GradientError, lambda t: t.floats.sum().backward(), "does not depend on"),
    (
        "backward",
        ShapeError,
        lambda t: t.tracked.backward(t.vector),
        "gradient of shape (3,) for a tensor of shape (2, 3)",
    ),
    (
        "grid_sample",
        ShapeError,
        lambda t: t.images.grid_sample(t.floats),
        "grid_sample of shape (1, 5, 4, 4) with a grid of shape (2, 3): it takes (N, C, H,",
    ),
    (
        "grid_sample",
        ArgumentError,
        lambda t: t.images.grid_sample(t.grid, "cubic"),
        "grid_sample: mode='cubic' is none of 'bilinear', 'nearest', 'bicubic'",
    ),
    (
        "grid_sample",
        DtypeError,
        lambda t: t.images.int().grid_sample(t.grid),
        "grid_sample of int32: it takes floats",
    ),
    (
        "from_dlpack",
        SharingError,
        lambda t: Tensor.from_dlpack(3),
        "3 (int) has no __dlpack__. Use Tensor(...)",
    ),
    (
        "from_torch",
        SharingError,
        lambda t: Tensor.from_torch(torch.ones(2, dtype=torch.complex64)),
        "DLPack's type with code 5, 64 bits and 1 lanes has no plugrad dtype",
    ),
    ("to_torch", ShapeError, lambda t: t.symbolic.to_torch(), "to_torch: the shape (size,) is symbolic"),
    (
        "interpolate",
        ArgumentError,
        lambda t: t.images.interpolate(3, mode="cubic"),
        "interpolate: mode='cubic' is none of 'nearest', 'nearest-exact', 'linear',",
    ),
    ("interpolate", ShapeError, lambda t: t.images.interpolate((3, 3, 3)), "size=(3, 3, 3) has 3 numbers"),
    ("cat", AxisError, lambda t: t.floats.cat(t.floats, axis=2), "cat: axis 2 is out of range"),
    ("cat", DtypeError, lambda t: t.floats.cat(3), "cat of 3 (int)"),
    (
        "cat",
        ShapeError,
        lambda t: t.floats.cat(Tensor.ones(2, 4)),
        "cat: shapes (2, 3) and (2, 4) differ in more than axis 0",
    ),
    ("stack", DtypeError, lambda t: t.floats.stack(3), "stack of 3 (int)"),
    ("stack", ShapeError, lambda t: t.floats.stack(t.vector), "stack: shapes (2, 3) and (3,) differ"),
    ("split", AxisError, lambda t: t.floats.split(1, 2), "split: axis 2 is out of range"),
    ("split", ShapeError, lambda t: t.floats.split((1, 2)), "split: sizes (1, 2) add up to 3, axis 0 has 2"),
    ("repeat", ShapeError, lambda t: t.floats.repeat(2), "repeat: 1 numbers (2,) for shape (2, 3)"),
    ("tile", ShapeError, lambda t: t.floats.tile(-1, 2), "tile: (-1, 2) has a negative size"),
    (
        "inv",
        ShapeError,
        lambda t: t.floats.inv(),
        "inv of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "slogdet",
        ShapeError,
        lambda t: t.floats.slogdet(),
        "slogdet of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "det",
        ShapeError,
        lambda t: t.floats.det(),
        "det of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "solve",
        ShapeError,
        lambda t: t.square.solve(t.floats),
        "solve of shapes (3, 3) and (2, 3): the right sides need 3 rows, one for each row of",
    ),
    (
        "cholesky",
        ShapeError,
        lambda t: t.floats.cholesky(),
        "cholesky of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    (
        "qr",
        ArgumentError,
        lambda t: t.floats.qr("full"),
        "qr: mode='full' is none of 'reduced', 'complete' and 'r'",
    ),
    ("qr", ShapeError, lambda t: t.vector.qr(), "qr of shape (3,): it takes matrices: (..., m, n)"),
    (
        "matrix_power",
        ArgumentError,
        lambda t: t.square.matrix_power(0.5),
        "matrix_power: n=0.5 is no integer",
    ),
    (
        "matrix_power",
        ShapeError,
        lambda t: t.floats.matrix_power(2),
        "matrix_power of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    ("svd", ShapeError, lambda t: t.vector.svd(), "svd of shape (3,): it takes matrices: (..., m, n)"),
    (
        "eigh",
        ShapeError,
        lambda t: t.floats.eigh(),
        "eigh of shape (2, 3): it takes square matrices: (..., n, n)",
    ),
    ("pinv", ShapeError, lambda t: t.vector.pinv(), "pinv of shape (3,): it takes matrices: (..., m, n)"),
    (
        "lstsq",
        ShapeError,
        lambda t: t.floats.lstsq(Tensor.ones(3)),
        "lstsq of shapes (2, 3) and (3,): the right sides need 2 rows, one for each row of",
    ),
    (
        "matrix_norm",
        ArgumentError,
        lambda t: t.floats.matrix_norm(3),
        "matrix_norm: p=3 is none of 'fro', 'nuc', 1, -1, 2, -2, inf and -inf",
    ),
    (
        "matrix_norm",
        AxisError,
        lambda t: t.floats.matrix_norm(axis=(0, 2)),
        "matrix_norm: axis 2 is out of range",
    ),
    (
        "matrix_norm",
        ShapeError,
        lambda t: t.symbolic.reshape(1, -1).matrix_norm(2),
        "matrix_norm: the shape (1, size) is symbolic",
    ),
    (
        "mse_loss",
        ShapeError,
        lambda t: t.floats.mse_loss(t.vector),
        "mse_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "mse_loss",
        ArgumentError,
        lambda t: t.floats.mse_loss(t.floats, "all"),
        "mse_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "mse_loss",
        DtypeError,
        lambda t: t.ints.mse_loss(t.ints),
        "mse_loss of int32 and int32: it takes floats",
    ),
    (
        "l1_loss",
        ShapeError,
        lambda t: t.floats.l1_loss(t.vector),
        "l1_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "l1_loss",
        ArgumentError,
        lambda t: t.floats.l1_loss(t.floats, "all"),
        "l1_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("l1_loss", DtypeError, lambda t: t.ints.l1_loss(t.ints), "l1_loss of int32 and int32: it takes floats"),
    (
        "smooth_l1_loss",
        ShapeError,
        lambda t: t.floats.smooth_l1_loss(t.vector),
        "smooth_l1_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "smooth_l1_loss",
        ArgumentError,
        lambda t: t.floats.smooth_l1_loss(t.floats, beta=-1.0),
        "smooth_l1_loss: beta=-1.0 is negative",
    ),
    (
        "smooth_l1_loss",
        DtypeError,
        lambda t: t.ints.smooth_l1_loss(t.ints),
        "smooth_l1_loss of int32 and int32: it takes floats",
    ),
    (
        "huber_loss",
        ShapeError,
        lambda t: t.floats.huber_loss(t.vector),
        "huber_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "huber_loss",
        ArgumentError,
        lambda t: t.floats.huber_loss(t.floats, delta=0.0),
        "huber_loss: delta=0.0 is not positive",
    ),
    (
        "huber_loss",
        DtypeError,
        lambda t: t.ints.huber_loss(t.ints),
        "huber_loss of int32 and int32: it takes floats",
    ),
    (
        "binary_cross_entropy",
        ShapeError,
        lambda t: t.floats.binary_cross_entropy(t.vector),
        "binary_cross_entropy of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "binary_cross_entropy",
        ArgumentError,
        lambda t: t.floats.binary_cross_entropy(t.floats, reduction="all"),
        "binary_cross_entropy: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "binary_cross_entropy",
        DtypeError,
        lambda t: t.ints.binary_cross_entropy(t.ints),
        "binary_cross_entropy of int32: it takes floats",
    ),
    (
        "binary_cross_entropy_with_logits",
        ShapeError,
        lambda t: t.floats.binary_cross_entropy_with_logits(t.vector),
        "binary_cross_entropy_with_logits of shape (2, 3) with a target of shape (3,): they",
    ),
    (
        "binary_cross_entropy_with_logits",
        ArgumentError,
        lambda t: t.floats.binary_cross_entropy_with_logits(t.floats, reduction="all"),
        "binary_cross_entropy_with_logits: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "binary_cross_entropy_with_logits",
        DtypeError,
        lambda t: t.ints.binary_cross_entropy_with_logits(t.ints),
        "binary_cross_entropy_with_logits of int32: it takes floats",
    ),
    (
        "kl_div",
        ShapeError,
        lambda t: t.floats.kl_div(t.vector),
        "kl_div of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "kl_div",
        ArgumentError,
        lambda t: t.floats.kl_div(t.floats, "all"),
        "kl_div: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("kl_div", DtypeError, lambda t: t.ints.kl_div(t.ints), "kl_div of int32: it takes floats"),
    (
        "cosine_similarity",
        ShapeError,
        lambda t: t.floats.cosine_similarity(Tensor.ones(2, 4)),
        "cosine_similarity: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "cosine_similarity",
        AxisError,
        lambda t: t.floats.cosine_similarity(t.floats, 2),
        "cosine_similarity: axis 2 is out of range",
    ),
    (
        "pairwise_distance",
        ShapeError,
        lambda t: t.floats.pairwise_distance(Tensor.ones(2, 4)),
        "pairwise_distance: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "pairwise_distance",
        ArgumentError,
        lambda t: t.floats.pairwise_distance(t.floats, 0.0),
        "pairwise_distance: p=0.0 is not positive",
    ),
    (
        "triplet_margin_loss",
        ShapeError,
        lambda t: t.floats.triplet_margin_loss(t.floats, Tensor.ones(2, 4)),
        "triplet_margin_loss: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "triplet_margin_loss",
        ArgumentError,
        lambda t: t.floats.triplet_margin_loss(t.floats, t.floats, p=0.0),
        "triplet_margin_loss: p=0.0 is not positive",
    ),
    (
        "cosine_embedding_loss",
        ShapeError,
        lambda t: t.floats.cosine_embedding_loss(Tensor.ones(2, 4), t.row),
        "cosine_embedding_loss: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "cosine_embedding_loss",
        ArgumentError,
        lambda t: t.floats.cosine_embedding_loss(t.floats, t.row, reduction="all"),
        "cosine_embedding_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "matmul",
        ShapeError,
        lambda t: t.floats.matmul(t.floats),
        "matmul of shapes (2, 3) and (2, 3): the left has 3 columns, the right 2 rows",
    ),
    (
        "reshape",
        ShapeError,
        lambda t: t.floats.reshape(4, 2),
        "cannot reshape (2, 3) to (4, 2): 6 elements do not fit 8",
    ),
    ("permute", AxisError, lambda t: t.floats.permute(0, 0), "permute: axes (0, 0) name one axis twice"),
    ("permute", ShapeError, lambda t: t.floats.permute(0), "permute: 1 axes (0,) for shape (2, 3)"),
    ("transpose", AxisError, lambda t: t.floats.transpose(0, 2), "transpose: axis 2 is out of range"),
    ("mT", ShapeError, lambda t: t.vector.mT, "mT of shape (3,): a matrix has two axes"),
    (
        "expand",
        ShapeError,
        lambda t: t.floats.expand(4, 3),
        "cannot expand (2, 3) to (4, 3): only axes of size 1 expand, counted from the last",
    ),
    (
        "shrink",
        ShapeError,
        lambda t: t.floats.shrink(((0, 5), None)),
        "shrink: [0, 5) of axis 0 is no part of [0, 2)",
    ),
    ("flip", AxisError, lambda t: t.floats.flip(2), "flip: axis 2 is out of range"),
    ("squeeze", AxisError, lambda t: t.floats.squeeze(2), "squeeze: axis 2 is out of range"),
    ("unsqueeze", AxisError, lambda t: t.floats.unsqueeze(4), "unsqueeze: axis 4 is out of range"),
    ("flatten", AxisError, lambda t: t.floats.flatten(0, 2), "flatten: axis 2 is out of range"),
    ("flatten", ShapeError, lambda t: t.floats.flatten(1, 0), "flatten: axis 1 comes after axis 0"),
    ("layernorm", AxisError, lambda t: t.floats.layernorm(2), "layernorm: axis 2 is out of range"),
    ("layernorm", DtypeError, lambda t: t.ints.layernorm(), "layernorm of int32: it takes floats"),
    (
        "layer_norm",
        ShapeError,
        lambda t: t.floats.layer_norm(2),
        "layer_norm over (2,) of shape (2, 3), which does not end in it",
    ),
    ("layer_norm", DtypeError, lambda t: t.ints.layer_norm(3), "layer_norm of int32: it takes floats"),
    (
        "rms_norm",
        ShapeError,
        lambda t: t.floats.rms_norm(2),
        "rms_norm over (2,) of shape (2, 3), which does not end in it",
    ),
    ("rms_norm", DtypeError, lambda t: t.ints.rms_norm(3), "rms_norm of int32: it takes floats"),
    (
        "group_norm",
        ShapeError,
        lambda t: t.floats.group_norm(2),
        "group_norm of shape (2, 3) in 2 groups: it takes (N, C, ...) with a number of",
    ),
    ("group_norm", DtypeError, lambda t: t.ints.group_norm(3), "group_norm of int32: it takes floats"),
    (
        "instance_norm",
        ShapeError,
        lambda t: t.floats.instance_norm(),
        "instance_norm of shape (2, 3): it takes (N, C, *sizes)",
    ),
    (
        "instance_norm",
        DtypeError,
        lambda t: t.images.int().instance_norm(),
        "instance_norm of int32: it takes floats",
    ),
    (
        "batchnorm",
        AxisError,
        lambda t: t.floats.batchnorm(None, None, t.vector, t.vector, 2),
        "batchnorm: axis 2 is out of range",
    ),
    (
        "batchnorm",
        DtypeError,
        lambda t: t.ints.batchnorm(None, None, t.vector, t.vector),
        "batchnorm of int32: it takes floats",
    ),
    (
        "batch_norm",
        ShapeError,
        lambda t: t.floats.batch_norm(),
        "batch_norm without training normalizes by running_mean and running_var, which are",
    ),
    (
        "batch_norm",
        DtypeError,
        lambda t: t.ints.batch_norm(training=True),
        "batch_norm of int32: it takes floats",
    ),
    (
        "batch_statistics",
        ShapeError,
        lambda t: Tensor(1.0).batch_statistics(),
        "batch_statistics of shape (): it takes (N, C, ...)",
    ),
    (
        "batch_statistics",
        DtypeError,
        lambda t: t.ints.batch_statistics(),
        "batch_statistics of int32: it takes floats",
    ),
    ("norm", ArgumentError, lambda t: t.floats.norm(float("nan")), "norm: p=nan is no number"),
    ("norm", AxisError, lambda t: t.floats.norm(axis=2), "norm: axis 2 is out of range"),
    (
        "norm",
        ShapeError,
        lambda t: Tensor.zeros(0).norm(float("inf")),
        "norm over axis None of shape (0,): there are no elements",
    ),
    ("normalize", AxisError, lambda t: t.floats.normalize(axis=2), "normalize: axis 2 is out of range"),
    ("softmin", AxisError, lambda t: t.floats.softmin(2), "softmin: axis 2 is out of range"),
    ("sort", AxisError, lambda t: t.floats.sort(2), "sort: axis 2 is out of range"),
    ("argsort", AxisError, lambda t: t.floats.argsort(2), "argsort: axis 2 is out of range"),
    ("topk", AxisError, lambda t: t.floats.topk(1, 2), "topk: axis 2 is out of range"),
    ("topk", ArgumentError, lambda t: t.floats.topk(4), "topk: k=4 of 3 elements on axis -1"),
    ("median", AxisError, lambda t: t.floats.median(2), "median: axis 2 is out of range"),
    (
        "median",
        ShapeError,
        lambda t: Tensor.zeros(0).median(),
        "median over axis 0 of shape (0,): there are no elements",
    ),
    ("quantile", ArgumentError, lambda t: t.floats.quantile(1.5), "quantile: q=1.5 lies outside of 0..1"),
    ("quantile", DtypeError, lambda t: t.ints.quantile(0.5), "quantile of int32: it takes floats"),
    (
        "quantile",
        ShapeError,
        lambda t: Tensor.zeros(0).quantile(0.5),
        "quantile over axis 0 of shape (0,): there are no elements",
    ),
    ("quantile", AxisError, lambda t: t.floats.quantile(0.5, 2), "quantile: axis 2 is out of range"),
    (
        "pad",
        ArgumentError,
        lambda t: t.floats.pad((1, 1), mode="wrap"),
        "pad: mode='wrap' is none of 'constant', 'reflect', 'replicate', 'circular'",
    ),
    ("pad", ShapeError, lambda t: t.floats.pad((1, 1, 1)), "pad: 3 widths (1, 1, 1) for shape (2, 3)"),
    (
        "pad_to",
        ShapeError,
        lambda t: t.floats.pad_to(1, 3),
        "pad_to: axis 0 of shape (2, 3) has more than 1 elements",
    ),
    (
        "shrink_to",
        ShapeError,
        lambda t: t.floats.shrink_to(3, 3),
        "shrink_to: [0, 3) of axis 0 is no part of [0, 2)",
    ),
    ("pixel_shuffle", ArgumentError, lambda t: t.images.pixel_shuffle(0), "pixel_shuffle: a factor of 0"),
    (
        "pixel_shuffle",
        ShapeError,
        lambda t: t.images.pixel_shuffle(2),
        "pixel_shuffle of shape (1, 5, 4, 4) by 2: 2*2 must divide the 5 channels",
    ),
    (
        "pixel_unshuffle",
        ArgumentError,
        lambda t: t.images.pixel_unshuffle(0),
        "pixel_unshuffle: a factor of 0",
    ),
    (
        "pixel_unshuffle",
        ShapeError,
        lambda t: t.images.pixel_unshuffle(3),
        "pixel_unshuffle of shape (1, 5, 4, 4) by 3: it must divide 4 and 4",
    ),
    (
        "max_pool1d",
        ShapeError,
        lambda t: t.floats.max_pool1d(4),
        "max_pool1d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 3",
    ),
    (
        "max_pool2d",
        ShapeError,
        lambda t: t.floats.max_pool2d(4),
        "max_pool2d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 2",
    ),
    (
        "max_pool3d",
        ShapeError,
        lambda t: t.images.max_pool3d(9),
        "max_pool3d: a window of 9 (kernel size 9, dilation 1) does not fit into an axis of 5",
    ),
    (
        "max_unpool2d",
        ShapeError,
        lambda t: t.floats.max_unpool2d(t.row),
        "max_unpool2d of shape (2, 3) with indices (2,) of int32",
    ),
    (
        "max_unpool2d",
        DtypeError,
        lambda t: t.floats.max_unpool2d(t.floats),
        "max_unpool2d of shape (2, 3) with indices (2, 3) of float32",
    ),
    (
        "avg_pool1d",
        ShapeError,
        lambda t: t.floats.avg_pool1d(4),
        "avg_pool1d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 3",
    ),
    (
        "avg_pool2d",
        ShapeError,
        lambda t: t.floats.avg_pool2d(4),
        "avg_pool2d: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 2",
    ),
    (
        "avg_pool3d",
        ShapeError,
        lambda t: t.images.avg_pool3d(9),
        "avg_pool3d: a window of 9 (kernel size 9, dilation 1) does not fit into an axis of 5",
    ),
    (
        "adaptive_avg_pool2d",
        ShapeError,
        lambda t: t.floats.adaptive_avg_pool2d(0),
        "adaptive_avg_pool2d of shape (2, 3) to (0, 0): all sizes must be at least 1",
    ),
    (
        "adaptive_max_pool2d",
        ShapeError,
        lambda t: t.floats.adaptive_max_pool2d((1, 1, 1)),
        "adaptive_max_pool2d of shape (2, 3): it takes at least 3 axes",
    ),
    *[
        (
            f"avg_pool{n}d",
            ArgumentError,
            lambda t, n=n: getattr(t.images, f"avg_pool{n}d")(1, divisor_override=0),
            f"avg_pool{n}d: divisor_override=0",
        )
        for n in (1, 2, 3)
    ],
    ("sum", AxisError, lambda t: t.floats.sum(2), "sum: axis 2 is out of range"),
    ("max", AxisError, lambda t: t.floats.max((0, 2)), "max: axis 2 is out of range"),
    (
        "max",
        ShapeError,
        lambda t: Tensor.zeros(0).max(),
        "max over axis None of shape (0,): there are no elements",
    ),
    ("min", AxisError, lambda t: t.floats.min(-3), "min: axis -3 is out of range"),
    (
        "min",
        ShapeError,
        lambda t: Tensor.zeros(0).min(),
        "min over axis None of shape (0,): there are no elements",
    ),
    ("argmax", AxisError, lambda t: t.floats.argmax(2), "argmax: axis 2 is out of range"),
    (
        "argmax",
        ShapeError,
        lambda t: Tensor.zeros(0).argmax(),
        "max over axis 0 of shape (0,): there are no elements",
    ),
    ("movedim", AxisError, lambda t: t.floats.movedim(0, 2), "movedim: axis 2 is out of range"),
    ("movedim", ShapeError, lambda t: t.floats.movedim((0, 1), 0), "movedim: axes (0, 1) to places (0,)"),
    ("rot90", ShapeError, lambda t: t.floats.rot90(1, (0, 0)), "rot90: axes (0, 0) span no plane"),
    ("rot90", AxisError, lambda t: t.floats.rot90(1, (0, 2)), "rot90: axis 2 is out of range"),
    ("roll", AxisError, lambda t: t.floats.roll(1, 2), "roll: axis 2 is out of range"),
    ("roll", ShapeError, lambda t: t.floats.roll((1, 2), 0), "roll: 2 shifts for 1 axes"),
    ("unfold", AxisError, lambda t: t.floats.unfold(2, 1, 1), "unfold: axis 2 is out of range"),
    (
        "unfold",
        ShapeError,
        lambda t: t.floats.unfold(1, 4, 1),
        "unfold: a window of 4 (kernel size 4, dilation 1) does not fit into an axis of 3",
    ),
    ("unbind", AxisError, lambda t: t.floats.unbind(2), "unbind: axis 2 is out of range"),
    ("unbind", ShapeError, lambda t: t.symbolic.unbind(), "unbind: the shape (size,) is symbolic"),
    (
        "rearrange",
        ArgumentError,
        lambda t: t.floats.rearrange("a b -> a"),
        "'a b -> a' has 'b' on one side only",
    ),
    (
        "rearrange",
        ShapeError,
        lambda t: t.floats.rearrange("a b c -> a b c"),
        "'a b c -> a b c' names 3 axes before the arrow, the tensor has shape (2, 3)",
    ),
    ("randperm", ShapeError, lambda t: Tensor.randperm(-1), "randperm: (-1,) has a negative size"),
    (
        "multinomial",
        ArgumentError,
        lambda t: t.vector.multinomial(4),
        "multinomial: num_samples=4 of 3 weights",
    ),
    ("multinomial", DtypeError, lambda t: t.ints.multinomial(1), "multinomial of int32: weights are floats"),
    (
        "multinomial",
        ShapeError,
        lambda t: Tensor.ones(2, 2, 2).multinomial(1),
        "multinomial of shape (2, 2, 2): give weights (n,) or (rows, n)",
    ),
    ("cumsum", AxisError, lambda t: t.floats.cumsum(2), "cumsum: axis 2 is out of range"),
    (
        "searchsorted",
        ShapeError,
        lambda t: t.floats.searchsorted(Tensor.ones(3, 1)),
        "searchsorted: values of shape (3, 1) in rows of shape (2, 3)",
    ),
    ("nonzero", JitError, lambda t: jitted(lambda x: x.nonzero()), "a jitted function reads the elements of"),
    ("nonzero", ShapeError, lambda t: t.symbolic.nonzero(), "nonzero: the shape (size,) is symbolic"),
    (
        "masked_select",
        DtypeError,
        lambda t: t.floats.masked_select(t.ints),
        "masked_select with a mask of int32: a mask is bool",
    ),
    (
        "masked_select",
        ShapeError,
        lambda t: t.floats.masked_select(Tensor([True, False])),
        "masked_select: shapes (2, 3) and (2,) do not broadcast: axis -1 has sizes 3 and 2",
    ),
    (
        "masked_select",
        JitError,
        lambda t: jitted(lambda x: x.masked_select(x > 0)),
        "a jitted function reads the elements of",
    ),
    (
        "repeat_interleave",
        ArgumentError,
        lambda t: t.floats.repeat_interleave(-1),
        "repeat_interleave: -1 times",
    ),
    (
        "repeat_interleave",
        AxisError,
        lambda t: t.floats.repeat_interleave(2, 2),
        "repeat_interleave: axis 2 is out of range",
    ),
    (
        "repeat_interleave",
        DtypeError,
        lambda t: t.floats.repeat_interleave(t.vector, 1),
        "repeat_interleave with float32: numbers of times are integers",
    ),
    (
        "repeat_interleave",
        ShapeError,
        lambda t: t.floats.repeat_interleave([1, 2], 1),
        "repeat_interleave: numbers of shape (2,) for an axis of 3 elements",
    ),
    (
        "repeat_interleave",
        JitError,
        lambda t: jitted(lambda x: x.repeat_interleave(x.int(), 0)),
        "a jitted function reads the elements of",
    ),
    ("unique", JitError, lambda t: jitted(lambda x: x.unique()), "a jitted function reads the elements of"),
    ("unique", ShapeError, lambda t: t.symbolic.unique(), "unique: the shape (size,) is symbolic"),
    ("bincount", DtypeError, lambda t: t.vector.bincount(), "bincount of float32: it takes integers"),
    ("bincount", ShapeError, lambda t: t.ints.bincount(), "bincount of shape (2, 3)"),
    (
        "bincount",
        JitError,
        lambda t: jitted(lambda x: x.int().bincount()),
        "a jitted function reads the elements of",
    ),
    ("histc", ArgumentError, lambda t: t.floats.histc(0), "histc: 0 bins from 0 to 0"),
    ("histc", DtypeError, lambda t: t.ints.histc(), "histc of int32: it takes floats"),
    ("to", DeviceNotFound, lambda t: t.floats.to("NOWHERE"), "there is no device 'NOWHERE'"),
    ("to_device", DeviceNotFound, lambda t: t.floats.to_device("NOWHERE"), "there is no device 'NOWHERE'"),
    (
        "assign",
        ShapeError,
        lambda t: t.floats.detach().contiguous().assign(Tensor.ones(4)),
        "cannot assign shape (4,) to (2, 3): it does not broadcast",
    ),
    (
        "assign",
        DtypeError,
        lambda t: t.floats.detach().contiguous().assign(t.ints),
        "cannot assign int32 to float32: memory keeps its dtype",
    ),
    (
        "assign",
        DeviceError,
        lambda t: t.floats.detach().contiguous().assign(Tensor.ones(2, 3, device=t.elsewhere).contiguous()),
        "cannot assign a tensor on NULL to one on",
    ),
    (
        "replace",
        ShapeError,
        lambda t: t.floats.detach().replace(t.vector),
        "cannot replace a tensor of shape (2, 3) by one of (3,)",
    ),
    ("data", ShapeError, lambda t: t.symbolic.data(), "data: the shape (size,) is symbolic"),
    ("numpy", ShapeError, lambda t: t.symbolic.numpy(), "numpy: the shape (size,) is symbolic"),
    ("item", ShapeError, lambda t: t.floats.item(), "item() of shape (2, 3): it has 6 elements"),
    (
        "assign",
        ViewError,
        lambda t: Tensor.ones(1, 3).contiguous().expand(2, 3).assign(t.floats),
        "cannot write into",
    ),
    ("assign", GradientError, lambda t: t.tracked.assign(t.floats), "cannot write into"),
    (
        "requires_grad",
        GradientError,
        lambda t: setattr(t.ints, "requires_grad", True),
        "holds no floats, so it has no gradient",
    ),
]
#: What cannot be had here.
ELSEWHERE = {("to_torch", "ArgumentError"): "PyTorch is installed"}


@pytest.fixture
def operands(tmp_path: Path, device: str) -> SimpleNamespace:
    return SimpleNamespace(
        floats=Tensor.ones(2, 3),
        ints=Tensor.ones(2, 3, dtype="int32"),
        bools=Tensor.ones(2, 3, dtype="bool"),
        vector=Tensor.ones(3),
        row=Tensor([0, 1]),
        square=Tensor.eye(3),
        images=Tensor.ones(1, 5, 4, 4),
        grid=Tensor.ones(1, 2, 2, 2),
        pairs=Tensor.ones(4, 2),
        symbolic=Tensor.ones(10).contiguous()[: Variable("size", 1, 10).bind(3)],
        tracked=Tensor.ones(2, 3, requires_grad=True) * 2,
        folder=str(tmp_path),
        elsewhere="NULL",
    )


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [row[1:] for row in WRONG],
    ids=[f"{row[0]}-{row[1].__name__}" for row in WRONG],
)
def test_what_is_wrong_is_said(
    error: type[Exception], call: Callable[[Any], Any], message: str, operands: SimpleNamespace
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call(operands)


@pytest.mark.parametrize(
    ("name", "call"),
    [(case[0], case[2]) for case in WRONG if issubclass(case[1], REFUSALS)],
    ids=[f"{case[0]}-{case[1].__name__}" for case in WRONG if issubclass(case[1], REFUSALS)],
)
def test_what_is_wrong_names_the_method(
    name: str, call: Callable[[Any], Any], operands: SimpleNamespace
) -> None:
    with pytest.raises(PlugradError) as caught:
        call(operands)
    assert name in str(caught.value)


def test_every_documented_error_has_a_case() -> None:
    documented = {
        (name, error)
        for name in dir(Tensor)
        if not name.startswith("_")
        for error in re.findall(r"^    (\w+): ", _raises(getattr(Tensor, name)), re.MULTILINE)
    }
    tested = {(name, error.__name__) for name, error, _, _ in WRONG}
    assert not documented - tested - set(ELSEWHERE)
    assert not tested - documented


def _raises(value: object) -> str:
    """Return the section of a docstring on errors."""
    doc = inspect.getdoc(value) or ""
    return doc.partition("Raises:\n")[2].partition("\n\n")[0]


def test_errors_are_those_of_plugrad() -> None:
    assert all(issubclass(error, PlugradError) for _, error, _, _ in WRONG)
