"""Core: matrix products by each declared matrix instruction, a case a dtype and size."""

import functools

import numpy as np

from plugrad import Tensor
from plugrad.codegen.lower import lower
from plugrad.dtype import DType, dtypes, is_float, is_unsigned
from plugrad.uop import Ops
from plugrad_conformance.case import Case, Check
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import BYTES, Array, numpy_dtype, round_to, sample, tensor_of
from plugrad_conformance.tolerance import EXACT, tolerance_of

#: Rows, columns and inner size: what every tile divides, what the larger ones do not, and an odd number.
SIZES = (64, 100, 33)
#: What instructions take.
FACTORS = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.fp8e4m3,
    dtypes.fp8e5m2,
    dtypes.int8,
    dtypes.uint8,
)


def _factor(dtype: DType, size: int, seed: int) -> Array:
    if not is_float(dtype):
        low = 0 if is_unsigned(dtype) else -128
        return np.random.default_rng(seed).integers(low, low + 256, (size, size)).astype(numpy_dtype(dtype))
    values = sample(dtypes.float32, size * size, seed, 1.0).reshape(size, size)
    if dtype in BYTES:
        return BYTES[dtype].nearest(values)
    # an instruction that drops digits of float32, as its user asked for, has none to drop here
    return round_to(values, dtypes.bfloat16 if dtype is dtypes.float32 else dtype)


def _tensor(values: Array, dtype: DType, bench: Bench) -> Tensor:
    if dtype in BYTES:
        return tensor_of(values, dtypes.float32, bench.name).cast(dtype).contiguous().realize()
    return tensor_of(values, dtype, bench.name)


def _products(dtype: DType, size: int, bench: Bench) -> Check:
    x, y = _factor(dtype, size, 1), _factor(dtype, size, 2)
    a, b = (_tensor(values, dtype, bench) for values in (x, y))
    results = dict.fromkeys(
        core.dtype_out for core in bench.device.capabilities.tensor_cores if core.dtype_in is dtype
    )
    outputs = [a.matmul(b, dtype=result) for result in results]
    if size == SIZES[0]:
        unused = [t.dtype.name for t in outputs if not _uses_instructions(t, bench)]
        assert not unused, f"products of {dtype.name} in {', '.join(unused)} use no matrix instruction"
    if not is_float(dtype):
        return Check(outputs, [x.astype(np.int64) @ y.astype(np.int64)] * len(outputs), EXACT)
    op = "matmul-of-bytes" if dtype in BYTES else "matmul"
    exact, scale = x.astype(np.longdouble) @ y.astype(np.longdouble), np.abs(x) @ np.abs(y)
    tolerances = [tolerance_of(op, result) for result in results]
    widest = max(tolerances, key=lambda tolerance: tolerance.ulp)
    return Check(outputs, [exact] * len(outputs), widest, [scale] * len(outputs))


def _uses_instructions(t: Tensor, bench: Bench) -> bool:
    kernels = [step.ast for step in t.schedule() if step.ast.op is Ops.SINK]
    programs = [lower(ast, bench.device.capabilities).program for ast in kernels]
    return any(u.op is Ops.WMMA for program in programs for u in program)


CASES = tuple(
    Case(
        f"core/matrices/{dtype.name}-{size}",
        build=functools.partial(_products, dtype, size),
        needs=(f"tensor-core:{dtype.name}",),
    )
    for dtype in FACTORS
    for size in SIZES
)
