"""The programs whose kernels for GPUs are looked at: shapes of models, and those that trap a heuristic."""

from collections.abc import Callable

from plugrad import Tensor, dtypes
from plugrad.dtype import DType

#: Computes nothing: the kernels are only written and compiled.
DEVICE = "NULL"


def _empty(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    return Tensor.empty(*shape, dtype=dtype, device=DEVICE)


def _matmul(rows: int, columns: int, inner: int, dtype: DType, out: DType | None = None) -> Tensor:
    return _empty(rows, inner, dtype=dtype).matmul(_empty(inner, columns, dtype=dtype), dtype=out)


def _attention(dtype: DType) -> Tensor:
    q, k, v = (_empty(4, 8, 1024, 64, dtype=dtype) for _ in range(3))
    return q.scaled_dot_product_attention(k, v)


def _embedding_gradient() -> Tensor:
    weight = _empty(50257, 384).requires_grad_()
    tokens = _empty(2048, dtype=dtypes.int32)
    return (weight[tokens] * _empty(2048, 384)).sum().gradient(weight)[0]


def _convolution(maps: int, filters: int, size: int, kernel: int, stride: int = 1) -> Tensor:
    image, weight = _empty(8, maps, size, size), _empty(filters, maps, kernel, kernel)
    return image.conv2d(weight, stride=stride, padding=kernel // 2)


CASES: dict[str, Callable[[], Tensor]] = {
    "matmul f32 1024": lambda: _matmul(1024, 1024, 1024, dtypes.float32),
    "matmul f32 1021 x 1019 x 1013": lambda: _matmul(1021, 1019, 1013, dtypes.float32),
    "matmul f16 4096": lambda: _matmul(4096, 4096, 4096, dtypes.float16),
    "matmul f16 1021 x 1019 x 1013": lambda: _matmul(1021, 1019, 1013, dtypes.float16),
    "matmul bf16 4096": lambda: _matmul(4096, 4096, 4096, dtypes.bfloat16),
    "matmul int8 4096": lambda: _matmul(4096, 4096, 4096, dtypes.int8, dtypes.int32),
    "matmul f32 64 x 64 x 65536": lambda: _matmul(64, 64, 65536, dtypes.float32),
    "matmul f16 64 x 64 x 65536": lambda: _matmul(64, 64, 65536, dtypes.float16),
    "matrix times vector 4096": lambda: _empty(4096, 4096) @ _empty(4096),
    "matrix times vector 50257 x 768": lambda: _empty(50257, 768) @ _empty(768),
    "vector times matrix 4096": lambda: _empty(4096) @ _empty(4096, 4096),
    "convolution 3x3, 64 maps of 56x56": lambda: _convolution(64, 64, 56, 3),
    "convolution 3x3, 512 maps of 7x7": lambda: _convolution(512, 512, 7, 3),
    "convolution 1x1 stride 2": lambda: _convolution(64, 128, 56, 1, 2),
    "softmax of 8192 x 1024": lambda: _empty(8192, 1024).softmax(),
    "softmax of 8192 x 50257": lambda: _empty(8192, 50257).softmax(),
    "softmax of 64 x 50257": lambda: _empty(64, 50257).softmax(),
    "layer norm of 8192 x 1024": lambda: _empty(8192, 1024).layer_norm(1024),
    "argmax of 8192 x 1024": lambda: _empty(8192, 1024).argmax(1),
    "argmax of 8192 x 50257": lambda: _empty(8192, 50257).argmax(1),
    "sum of 1000003": lambda: _empty(1_000_003).sum(),
    "sum of rows, 8192 x 1024": lambda: _empty(8192, 1024).sum(1),
    "sum of columns, 8192 x 1024": lambda: _empty(8192, 1024).sum(0),
    "sum over the middle, 64 x 512 x 256": lambda: _empty(64, 512, 256).sum(1),
    "sum over both ends, 32 x 64 x 3136": lambda: _empty(32, 64, 3136).sum((0, 2)),
    "attention f16, 32 heads of 1024 x 64": lambda: _attention(dtypes.float16),
    "attention f32, 32 heads of 1024 x 64": lambda: _attention(dtypes.float32),
    "gather of 2048 x 384": lambda: _empty(50257, 384)[_empty(2048, dtype=dtypes.int32)],
    "gradient of a gather": _embedding_gradient,
    "sine of 1000003": lambda: _empty(1_000_003).sin(),
}
