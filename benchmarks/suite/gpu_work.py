"""Operations for a GPU, for plugrad and for PyTorch: inputs, both calls, arithmetic and bytes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from plugrad import Tensor

_float16, _bfloat16, _float32 = "float16", "bfloat16", "float32"


@dataclass(frozen=True)
class Work:
    """Describe one operation on a GPU.

    Attributes:
        shapes: of its inputs; they are filled with normal numbers.
        ours: the operation on tensors of plugrad.
        theirs: the same on tensors of PyTorch.
        flop: floating-point operations that it needs.
        nbytes: the fewest bytes that it moves: each input read once, the result written once.
        dtype: of the inputs.
    """

    title: str
    shapes: Sequence[tuple[int, ...]]
    ours: Callable[..., Tensor]
    theirs: Callable[..., torch.Tensor]
    flop: float
    nbytes: float
    dtype: str = _float32


def _size(dtype: str) -> int:
    return 4 if dtype == _float32 else 2


def _both(method: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Use for both libraries a function that only calls methods which they share."""
    return {"ours": method, "theirs": method}


def _matmul(rows: int, columns: int, inner: int, dtype: str) -> Work:
    title = f"matmul {dtype} {rows}" + (f" x {columns} x {inner}" if {rows} != {columns, inner} else "")
    nbytes = (rows * inner + inner * columns + rows * columns) * _size(dtype)
    shapes = ((rows, inner), (inner, columns))
    return Work(
        title,
        shapes,
        **_both(lambda a, b: a @ b),
        flop=2 * rows * columns * inner,
        nbytes=nbytes,
        dtype=dtype,
    )


def _one(title: str, shape: tuple[int, ...], method: Callable[..., Any], out: int, flop: int = 1) -> Work:
    """Describe an operation with one input, which has `flop` operations an element."""
    size = math.prod(shape)
    return Work(title, (shape,), **_both(method), flop=flop * size, nbytes=4 * (size + out))


def _rows(title: str, rows: int, columns: int, method: Callable[..., Any]) -> Work:
    return _one(f"{title} of {rows} x {columns}", (rows, columns), method, rows * columns, flop=5)


def _convolution(maps: int, filters: int, size: int, kernel: int, stride: int, batch: int) -> Work:
    out = size // stride
    keywords = {"stride": stride, "padding": kernel // 2}
    image, weight, result = (
        (batch, maps, size, size),
        (filters, maps, kernel, kernel),
        (batch, filters, out, out),
    )
    return Work(
        f"convolution {kernel}x{kernel} of {batch}x{maps}x{size}x{size}"
        + (f", stride {stride}" if stride > 1 else ""),
        (image, weight),
        ours=lambda x, w: x.conv2d(w, **keywords),
        theirs=lambda x, w: F.conv2d(x, w, **keywords),
        flop=2 * math.prod(result) * maps * kernel * kernel,
        nbytes=4 * sum(math.prod(shape) for shape in (image, weight, result)),
    )


def _attention(dtype: str, length: int, *, is_causal: bool) -> Work:
    shape = (4, 16, length, 64)
    return Work(
        f"attention {dtype}, 64 heads of {length} x 64" + (", causal" if is_causal else ""),
        (shape,) * 3,
        ours=partial(Tensor.scaled_dot_product_attention, is_causal=is_causal),
        theirs=partial(F.scaled_dot_product_attention, is_causal=is_causal),
        flop=4 * math.prod(shape) * length / (1 + is_causal),
        nbytes=4 * math.prod(shape) * _size(dtype),
        dtype=dtype,
    )


def works(quick: bool) -> list[Work]:
    """Return the list, or one of small sizes."""
    if quick:
        return [
            _matmul(64, 64, 64, _float32),
            _matmul(64, 64, 64, _bfloat16),
            _rows("softmax", 16, 100, lambda x: x.softmax(-1)),
            _convolution(4, 8, 8, 3, 1, 1),
        ]
    return [
        *(_matmul(n, n, n, _float32) for n in (256, 1024, 4096)),
        *(_matmul(n, n, n, _bfloat16) for n in (1024, 4096, 8192)),
        _matmul(4096, 4096, 4096, _float16),
        _matmul(64, 64, 65536, _float32),
        _matmul(1021, 1019, 1013, _float32),
        Work(
            "matrix times vector 8192",
            ((8192, 8192), (8192,)),
            **_both(lambda a, b: a @ b),
            flop=2**27,
            nbytes=2**28,
        ),
        Work(
            "vector times matrix 8192",
            ((8192,), (8192, 8192)),
            **_both(lambda a, b: a @ b),
            flop=2**27,
            nbytes=2**28,
        ),
        Work(
            "a * b + a of 64M",
            ((2**26,), (2**26,)),
            **_both(lambda a, b: a * b + a),
            flop=2**27,
            nbytes=12 * 2**26,
        ),
        _one("tanh of 64M", (2**26,), lambda x: x.tanh(), 2**26, flop=10),
        _one("sum of 64M", (2**26,), lambda x: x.sum(), 1),
        _one("sum of rows, 8192 x 8192", (8192, 8192), lambda x: x.sum(1), 8192),
        _one("sum of columns, 8192 x 8192", (8192, 8192), lambda x: x.sum(0), 8192),
        _one("argmax of 8192 x 8192", (8192, 8192), lambda x: x.argmax(1), 2 * 8192),
        _one("transpose of 8192 x 8192", (8192, 8192), lambda x: x.transpose(0, 1).contiguous(), 2**26),
        _rows("softmax", 8192, 8192, lambda x: x.softmax(-1)),
        _rows("softmax", 64, 50257, lambda x: x.softmax(-1)),
        Work(
            "layer norm of 8192 x 1024",
            ((8192, 1024),),
            ours=lambda x: x.layer_norm(1024),
            theirs=lambda x: F.layer_norm(x, (1024,)),
            flop=8 * 2**23,
            nbytes=2**26,
        ),
        *(_convolution(64, 64, 56, 3, 1, batch) for batch in (8, 64)),
        _convolution(512, 512, 7, 3, 1, 64),
        _convolution(64, 128, 56, 1, 2, 64),
        _convolution(3, 64, 224, 7, 2, 64),
        _attention(_float32, 1024, is_causal=False),
        _attention(_bfloat16, 1024, is_causal=False),
        _attention(_bfloat16, 1024, is_causal=True),
    ]
