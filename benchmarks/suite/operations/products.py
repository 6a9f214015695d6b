"""Matrices: products, attention, norms, factorizations."""

# lambdas take whatever the inputs of their case are
# ruff: noqa: E731

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from plugrad import Tensor
from suite.operations.operation import Operation, both, floats, whole


def _norms() -> list[Operation]:
    x, rows = floats(16, 64, 28, 28), floats(2048, 768)
    w, b = np.abs(floats(64)) + 0.5, floats(64)
    w2, b2 = np.abs(floats(768)) + 0.5, floats(768)
    both_ways = lambda title, inputs, ours, theirs: [
        both(title, inputs, ours, theirs),
        both(title.replace(" (", " backward (", 1), inputs, ours, theirs, backward=True),
    ]

    def batch_norm(x: Any, w: Any, b: Any) -> Any:
        mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
        return x.batchnorm(w, b, mean, (var + 1e-5).rsqrt())

    return [
        *both_ways(
            "layer_norm (2048 x 768)",
            [rows, w2, b2],
            lambda x, w, b: x.layernorm() * w + b,
            lambda x, w, b: F.layer_norm(x, (768,), w, b),
        ),
        *both_ways(
            "rms_norm (2048 x 768)",
            [rows, w2],
            lambda x, w: x.rms_norm((768,), w, 1e-5),
            lambda x, w: F.rms_norm(x, (768,), w, 1e-5),
        ),
        *both_ways(
            "batch_norm (16 x 64 x 28 x 28)",
            [x, w, b],
            batch_norm,
            lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        ),
        *both_ways(
            "group_norm (16 x 64 x 28 x 28)", [x], lambda x: x.group_norm(8), lambda x: F.group_norm(x, 8)
        ),
        *both_ways(
            "instance_norm (16 x 64 x 28 x 28)",
            [x],
            lambda x: x.instance_norm(),
            lambda x: F.instance_norm(x),
        ),
        both("normalize (2048 x 768)", [rows], lambda x: x.normalize(), lambda x: F.normalize(x)),
    ]


def _attention(x: tuple[int, ...], **options: Any) -> list[Operation]:
    inputs = [floats(*x, seed=i) for i in range(3)]
    shape = " x ".join(map(str, x)) + ("" if not options else ", causal")
    ours = lambda q, k, v: q.scaled_dot_product_attention(k, v, **options)
    theirs = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)
    return [
        both(f"attention ({shape})", inputs, ours, theirs),
        both(f"attention backward ({shape})", inputs, ours, theirs, backward=True),
    ]


def _matmul(a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32", how: str = "") -> Operation:
    title = f"({' x '.join(map(str, a))}) @ ({' x '.join(map(str, b))}){how}, {dtype}"
    functions = {"": lambda a, b: a @ b, " a.T": lambda a, b: a.mT @ b, " b.T": lambda a, b: a @ b.mT}
    if dtype == "int8":
        inputs = (whole(9, *a).astype(np.int8), whole(9, *b, seed=2).astype(np.int8))
        return Operation(title, inputs, lambda a, b: a.int() @ b.int(), lambda a, b: torch._int_mm(a, b))
    return Operation(title, (floats(*a), floats(*b, seed=1)), functions[how], functions[how], dtype=dtype)


def _products() -> list[Operation]:
    return [
        *_attention((2, 8, 256, 64)),
        *_attention((2, 8, 256, 64), is_causal=True),
        *_attention((1, 8, 1024, 64)),
        *_attention((1, 8, 1024, 64), is_causal=True),
        _matmul((512, 512), (512, 512)),
        _matmul((512, 512), (512, 512), "float64"),
        _matmul((512, 512), (512, 512), "float16"),
        _matmul((512, 512), (512, 512), "bfloat16"),
        _matmul((512, 512), (512, 512), "int8"),
        _matmul((512, 512), (512, 512), how=" a.T"),
        _matmul((512, 512), (512, 512), how=" b.T"),
        _matmul((1, 4096), (4096, 4096)),
        _matmul((1, 4096), (4096, 4096), how=" b.T"),
        _matmul((4096, 4096), (4096, 1)),
        _matmul((8, 4096), (4096, 1024)),
        _matmul((4096, 8), (8, 4096)),
        _matmul((64, 20000), (20000, 64)),
        _matmul((20000, 64), (64, 64)),
        _matmul((333, 777), (777, 501)),
        _matmul((64, 128, 128), (64, 128, 128)),
        _matmul((1000, 16, 16), (1000, 16, 16)),
        _matmul((10000, 4, 4), (10000, 4, 4)),
        both("outer (1000, 1000)", [floats(1000), floats(1000)], lambda a, b: a.outer(b)),
        both(
            "einsum bij,bjk->bik (64 x 64 x 64)",
            [floats(64, 64, 64)],
            lambda x: Tensor.einsum("bij,bjk->bik", x, x),
            lambda x: torch.einsum("bij,bjk->bik", x, x),
        ),
        both(
            "linear backward (1024 x 768, 768)",
            [floats(1024, 768), floats(768, 768)],
            lambda x, w: x @ w.T,
            backward=True,
        ),
        both(
            "cdist by broadcasting (500 x 16)",
            [floats(500, 16)],
            lambda x: (x.unsqueeze(0) - x.unsqueeze(1)).square().sum(-1),
        ),
    ]


def _linear_algebra() -> list[Operation]:
    a = floats(256, 256)
    spd = (a @ a.T / 256 + np.eye(256)).astype(np.float32)
    batch = floats(100, 16, 16) + 4 * np.eye(16, dtype=np.float32)
    batch_spd = (batch @ batch.transpose(0, 2, 1)).astype(np.float32)
    real = lambda z: torch.view_as_real(z)
    return [
        both("cholesky (256 x 256)", [spd], lambda x: x.cholesky(), torch.linalg.cholesky),
        both("cholesky (100 x 16 x 16)", [batch_spd], lambda x: x.cholesky(), torch.linalg.cholesky),
        both("solve (256 x 256)", [spd, floats(256, 16)], lambda a, b: a.solve(b), torch.linalg.solve),
        both(
            "solve (100 x 16 x 16)", [batch, floats(100, 16, 4)], lambda a, b: a.solve(b), torch.linalg.solve
        ),
        both("inv (256 x 256)", [spd], lambda x: x.inv(), torch.linalg.inv),
        both("det (100 x 16 x 16)", [batch], lambda x: x.det(), torch.linalg.det),
        both(
            "qr (128 x 128)",
            [a[:128, :128].copy()],
            lambda x: x.qr()[1].abs(),
            lambda x: torch.linalg.qr(x)[1].abs(),
        ),
        both("svd (64 x 64)", [a[:64, :64].copy()], lambda x: x.svd()[1], lambda x: torch.linalg.svdvals(x)),
        both(
            "eigh (64 x 64)",
            [spd[:64, :64].copy()],
            lambda x: x.eigh()[0],
            lambda x: torch.linalg.eigvalsh(x),
        ),
        both(
            "fft (1000 x 1024)",
            [floats(1000, 1024, 2)],
            lambda x: x.view_as_complex().fft().view_as_real(),
            lambda x: real(torch.fft.fft(torch.view_as_complex(x))),
        ),
        both(
            "rfft (1000 x 1000)",
            [floats(1000, 1000)],
            lambda x: x.rfft().view_as_real(),
            lambda x: real(torch.fft.rfft(x)),
        ),
        both(
            "rfft (1000 x 1009), a prime",
            [floats(1000, 1009)],
            lambda x: x.rfft().view_as_real(),
            lambda x: real(torch.fft.rfft(x)),
        ),
        both(
            "rfft2 (16 x 256 x 256)",
            [floats(16, 256, 256)],
            lambda x: x.rfft2().view_as_real(),
            lambda x: real(torch.fft.rfft2(x)),
        ),
    ]


OPERATIONS = (
    *_norms(),
    *_products(),
    *_linear_algebra(),
)
