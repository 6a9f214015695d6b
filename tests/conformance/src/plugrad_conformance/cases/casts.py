"""Core: from every dtype to every other, by value and by bits."""

import functools

import numpy as np

from plugrad.dtype import DType, dtype_max, dtype_min, dtypes, is_bool, is_float, is_unsigned, to_numpy
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import ALL, BYTES, FLOATS, Array, numpy_dtype, operands, tensor_of
from plugrad_conformance.tolerance import ROUNDED


def _exact(x: Array, source: DType, target: DType) -> tuple[Array, Array]:
    """Return the values whose cast is defined, and what they become."""
    if is_bool(target):
        return x, x != 0
    if is_float(target):
        return x, x.astype(np.longdouble)
    to = numpy_dtype(target)
    if not is_float(source):
        with np.errstate(all="ignore"):
            return x, x.astype(to)
    # a float outside of the range of the integer is undefined, so it is not asked for
    low, high = float(dtype_min(target)), float(dtype_max(target))
    whole = np.trunc(np.nan_to_num(x, nan=np.inf))
    inside = x[(whole >= low) & (whole < high if target.itemsize == 8 else whole <= high)]
    return inside, np.trunc(inside).astype(to)


def _cast(source: DType, target: DType, bench: Bench) -> Check:
    x = operands(source, 61)
    if is_float(source):
        x = np.concatenate(
            [x, np.array([0.4, 0.6, 1.4, 1.6, 2.5, 3.5, 254.0, 255.0, 127.9]).astype(np.float32)]
        )
        x = x if source.itemsize > 2 else _representable(x, source)
    x, exact = _exact(x, source, target)
    return Check([tensor_of(x, source, bench.name).cast(target)], [exact], ROUNDED)


def _representable(x: Array, dtype: DType) -> Array:
    from_half = x.astype(np.float16).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return from_half if dtype is dtypes.float16 else bits.view(np.float32).astype(np.float64)


def _ties(target: DType, bench: Bench) -> Check:
    """float32 to 16 bits rounds to nearest, ties to even, at and beside half-way values."""
    step = 2.0**-10 if target is dtypes.float16 else 2.0**-7
    base = 1 + step * np.arange(8)
    half = np.concatenate([base + step / 2, base + step / 2 + 2.0**-23, base + step / 2 - 2.0**-23])
    x = np.concatenate([half, -half]).astype(np.float32).astype(np.float64)
    neighbour = np.round(x / step) * step  # NumPy rounds ties to even, and so does IEEE 754
    return Check([tensor_of(x, dtypes.float32, bench.name).cast(target)], [neighbour])


_UNSIGNED = {2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def _bits(dtype: DType, bench: Bench) -> Check:
    """The bits of a float as an integer, and back, for everything but NaN."""
    x = operands(dtype, 61)
    x = x[~np.isnan(x)]
    unsigned = _UNSIGNED[dtype.itemsize]
    stored = to_numpy(dtype)
    if stored is None:
        bits = (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        bits = x.astype(stored).view(numpy_dtype(unsigned))
    # of memory alone a bitcast is a view, which no kernel computes
    back = (~tensor_of(~bits, unsigned, bench.name)).bitcast(dtype)
    return Check([~tensor_of(x, dtype, bench.name).bitcast(unsigned), back], [~bits, x])


def _signs(dtype: DType, bench: Bench) -> Check:
    """The bits of a signed integer as an unsigned one."""
    x = operands(dtype, 40)
    unsigned = {1: dtypes.uint8, **_UNSIGNED}[dtype.itemsize]
    return Check([~tensor_of(x, dtype, bench.name).bitcast(unsigned)], [~x.view(numpy_dtype(unsigned))])


def _resized_bits(bench: Bench) -> Check:
    """Elements as several narrower ones, and as fewer wider ones."""
    x = operands(dtypes.int32, 24)[:24]
    t = tensor_of(x, dtypes.int32, bench.name)
    return Check([t.bitcast(dtypes.uint8), t.bitcast(dtypes.uint64)], [x.view(np.uint8), x.view(np.uint64)])


def _byte_codes(dtype: DType, bench: Bench) -> Check:
    """Every number of a byte, as float32 and back; stored and copied as bits."""
    values = BYTES[dtype].values()
    codes = np.arange(len(values), dtype=np.uint8)
    both = np.concatenate([codes, codes[1:] | 0x80]).astype(np.uint8)
    exact = np.concatenate([values, -values[1:]])
    stored = tensor_of(both, dtypes.uint8, bench.name).bitcast(dtype)
    back = tensor_of(exact, dtypes.float32, bench.name).cast(dtype).contiguous()
    return Check([stored.contiguous().cast(dtypes.float32), back.bitcast(dtypes.uint8)], [exact, both])


def _byte_rounding(dtype: DType, bench: Bench) -> Check:
    """float32 to a byte: ties to even, beside ties, beyond the largest, and NaN."""
    byte = BYTES[dtype]
    values = byte.values()
    low, high = values[:-1], values[1:]
    ties = (low + high) / 2
    x = np.concatenate([ties, ties * (1 + 2.0**-20), ties * (1 - 2.0**-20)])
    exact = np.concatenate([byte.nearest(ties), high, low])
    x = np.concatenate([x, -x, [values[-1] * 2, 1e30, np.inf, np.nan]])
    exact = np.concatenate([exact, -exact, [byte.too_large] * 3, [np.nan]])
    t = tensor_of(x, dtypes.float32, bench.name).cast(dtype).contiguous()
    return Check([t.cast(dtypes.float32)], [exact])


CASES = (
    *(
        Case(
            f"core/casts/{source.name}-to-{target.name}",
            build=functools.partial(_cast, source, target),
            needs=needs_dtypes(source.name, target.name),
        )
        for source in ALL
        for target in ALL
        if source is not target
    ),
    *(
        Case(
            f"core/casts/ties-{d.name}",
            build=functools.partial(_ties, d),
            needs=needs_dtypes("float32", d.name),
        )
        for d in (dtypes.float16, dtypes.bfloat16)
    ),
    *(
        Case(
            f"core/casts/bits-{d.name}",
            build=functools.partial(_bits, d),
            needs=needs_dtypes(d.name, _UNSIGNED[d.itemsize].name),
        )
        for d in FLOATS
    ),
    *(
        Case(
            f"core/casts/signs-{d.name}",
            build=functools.partial(_signs, d),
            needs=needs_dtypes(d.name, f"u{d.name}"),
        )
        for d in ALL
        if not is_float(d) and not is_bool(d) and not is_unsigned(d)
    ),
    *(
        Case(
            f"core/casts/{name}-{d.name}",
            build=functools.partial(build, d),
            needs=needs_dtypes("float32", "uint8"),
        )
        for name, build in (("codes", _byte_codes), ("rounding", _byte_rounding))
        for d in BYTES
    ),
    Case(
        "core/casts/resized-bits",
        build=_resized_bits,
        needs=needs_dtypes("int32", "uint8", "uint16", "uint64"),
    ),
)
