"""Multiply matrices, and what comes with them."""

from plugrad import Tensor, dtypes
from plugrad.dtype import is_float
from plugrad_onnx.registry import operator


@operator("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Return the matrix product of the last two axes."""
    return a.matmul(b).cast(a.dtype)


@operator("Gemm")
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 0,
) -> Tensor:
    """Return alpha * a @ b + beta * c."""
    out = (a.transpose(0, 1) if transA else a).matmul(b.transpose(0, 1) if transB else b)
    if alpha != 1.0:
        out = out * (alpha if is_float(a.dtype) else int(alpha))
    if c is not None and beta != 0.0:
        out = out + (c if beta == 1.0 else c * (beta if is_float(a.dtype) else int(beta)))
    return out.cast(a.dtype)


@operator("Einsum")
def einsum(*inputs: Tensor, equation: str) -> Tensor:
    """Return the sum of products that a formula says."""
    return Tensor.einsum(equation.replace(" ", ""), *inputs).cast(inputs[0].dtype)


@operator("Det")
def det(x: Tensor) -> Tensor:
    """Return the determinants of the last two axes."""
    return x.cast(dtypes.float32).det().cast(x.dtype) if x.dtype.itemsize < 4 else x.det()
