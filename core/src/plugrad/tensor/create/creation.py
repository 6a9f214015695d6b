"""Tensors out of nothing: constants, ranges, memory.

Shapes are given as `f(2, 3)` or `f((2, 3))`; device and dtype have defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from plugrad.device import Device
from plugrad.dtype import DType, Number, dtype_max, dtypes, is_int, truncate
from plugrad.engine import storage
from plugrad.errors import ArgumentError
from plugrad.tensor.base import DTypeLike, Tensor, the_dtype
from plugrad.tensor.host.host_data import as_count, finite, infer_dtype
from plugrad.tensor.keywords import REQUIRED, EndNames, ShapeNames, SizeNames, StepNames, renamed
from plugrad.tensor.scalars import check_element, check_fits
from plugrad.tensor.shapes import Dim, Shape, as_element, as_shape, check_sizes, cut_to, show
from plugrad.uop import Ops, UOp, add_sizes, greatest


def from_graph(kind: type[Tensor], uop: UOp, device: str | None, requires_grad: bool | None) -> Tensor:
    """Return a graph that reads no tensor as one of the class `kind`."""
    out = kind._make(uop, Device.present(device))
    if requires_grad is not None:
        out.requires_grad = requires_grad
    return out


def asked_shape(method: Callable[..., Tensor], shape: Sequence[Any], names: Mapping[str, Any]) -> Shape:
    """Return the shape given to a method, also by another name."""
    if names:
        (shape,) = renamed(method, names, shape=shape)
    return check_sizes(as_shape(shape))


def full(
    cls: type[Tensor],
    shape: Dim | Sequence[Dim] = REQUIRED,
    fill_value: Number | UOp = REQUIRED,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
    **names: Unpack[SizeNames],
) -> Tensor:
    """Return a tensor with `fill_value` everywhere; the dtype follows the value, as that of `Tensor`.

    Raises:
        DtypeError: the dtype cannot hold the value, or that is no number.
        ShapeError: a size is negative or no integer.

    Example:
        >>> Tensor.full((2, 2), 7).tolist()
        [[7, 7], [7, 7]]
    """
    if names or shape is REQUIRED or fill_value is REQUIRED:
        shape, fill_value = renamed(cls.full, names, shape=shape, fill_value=fill_value)
    dims = check_sizes(as_shape((shape,)))
    if isinstance(fill_value, UOp):
        number = cls(fill_value, dtype=dtype, device=device)._graph
        return from_graph(cls, number.reshape((1,) * len(dims)).expand(dims), device, requires_grad)
    value = as_element(fill_value)
    chosen = the_dtype(dtype, infer_dtype([value]))
    uop = UOp.const(chosen, check_element(value, chosen))
    return from_graph(cls, uop.reshape((1,) * len(dims)).expand(dims), device, requires_grad)


def zeros(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return zeros, of the default float.

    Example:
        >>> Tensor.zeros(2).tolist()
        [0.0, 0.0]
    """
    dtype = the_dtype(dtype, dtypes.default_float)
    dims = asked_shape(cls.zeros, shape, names)
    return cls.full(dims, 0, dtype=dtype, device=device, requires_grad=requires_grad)


def ones(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return ones, of the default float.

    Example:
        >>> Tensor.ones(2, dtype="int32").tolist()
        [1, 1]
    """
    dtype = the_dtype(dtype, dtypes.default_float)
    dims = asked_shape(cls.ones, shape, names)
    return cls.full(dims, 1, dtype=dtype, device=device, requires_grad=requires_grad)


def empty(
    cls: type[Tensor],
    *shape: Dim | Sequence[Dim],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[ShapeNames],
) -> Tensor:
    """Return uninitialised memory, for a symbolic size as much as it has at most.

    Example:
        >>> Tensor.empty(2, 3).shape
        (2, 3)
    """
    dims = asked_shape(cls.empty, shape, names)
    chosen = the_dtype(dtype, dtypes.default_float)
    memory = storage.new_buffer(Device.present(device), tuple(map(greatest, dims)), chosen)
    return from_graph(cls, cut_to(memory, dims), device, requires_grad)


def arange(
    cls: type[Tensor],
    start: float | UOp = 0,
    stop: float | UOp | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
    **names: Unpack[EndNames],
) -> Tensor:
    """Return `start, start + step, ...` up to but not including `stop`. `arange(n)` counts from 0.

    It is empty where the step leads away from `stop`, as in NumPy. Integers are exact; floats are
    computed with more digits than they have. The dtype follows the arguments: the default int (int64
    where a number needs it), or the default float. Integer dtypes cut fractions off.

    Args:
        start: the first number; with `stop` left out, that, and the first is 0.
        stop: where to end; a bound Variable gives a tensor of symbolic size. So does one as `start`.
        step: from one number to the next; beside a Variable an integer.

    Raises:
        ArgumentError: `step` is 0, an argument is infinite or NaN, there are 2**63 elements or more, or
            one is no integer beside a Variable, or the step is one.
        DtypeError: an integer dtype does not hold the values, or an argument is no number.

    Example:
        >>> Tensor.arange(1, 8, 3).tolist()
        [1, 4, 7]
    """
    if names:
        (stop,) = renamed(cls.arange, names, stop=stop)
    first, last = (0, start) if stop is None else (start, stop)
    if any(isinstance(x, UOp) for x in (first, last, step)):
        values = _symbolic_range(first, last, step)
        return from_graph(cls, values.cast(the_dtype(dtype, dtypes.default_int)), device, requires_grad)
    first, last, step = (finite(x) for x in (first, last, step))
    if step == 0:
        raise ArgumentError(f"arange({first}, {last}, 0) never ends. Give a step other than 0.")
    count = _term_count(first, last, step)
    is_whole = float(first).is_integer() and float(step).is_integer()
    ends = (int(first), int(first) + max(count - 1, 0) * int(step))
    is_integral = all(isinstance(x, int) for x in (first, last, step))
    chosen = the_dtype(dtype, infer_dtype(ends) if is_integral else dtypes.default_float)
    if not count:
        return cls.full((0,), 0, dtype=chosen, device=device, requires_grad=requires_grad)
    if is_int(chosen):
        check_fits(first, chosen)
        check_fits(first + (count - 1) * step, chosen)
    if is_whole and min(ends) >= -(1 << 63) and max(ends) < 1 << (63 if min(ends) < 0 else 64):
        values = _integers(ends, count, int(step))
    else:
        values = _spaced(UOp.iota(count), count, first, step, _wide(chosen))
    return from_graph(cls, values.cast(chosen), device, requires_grad)


def linspace(
    cls: type[Tensor],
    start: int | float,
    stop: int | float = REQUIRED,
    steps: Dim = REQUIRED,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
    **names: Unpack[StepNames],
) -> Tensor:
    """Return `steps` numbers from `start` to `stop`, both included, at equal distances.

    Integer dtypes cut fractions off, as in PyTorch.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DtypeError: an integer dtype does not hold the values, or an argument is no number.
        ArgumentError: `start` or `stop` is infinite or NaN, or the distances are too large for the dtype.

    Example:
        >>> Tensor.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if names or stop is REQUIRED or steps is REQUIRED:
        stop, steps = renamed(cls.linspace, names, stop=stop, steps=steps)
    steps, chosen = as_count(steps), the_dtype(dtype, dtypes.default_float)
    start, stop = finite(start), finite(stop)
    if steps == 0:
        return cls.full((0,), 0, dtype=chosen, device=device, requires_grad=requires_grad)
    if is_int(chosen):
        check_fits(start, chosen)
        check_fits(stop, chosen)
        are_whole = float(start).is_integer() and float(stop).is_integer()
        if are_whole and (values := _integer_steps(int(start), int(stop), steps)) is not None:
            return from_graph(cls, values.cast(chosen), device, requires_grad)
    is_large = is_int(chosen) and max(abs(start), abs(stop)) >= 1 << 24
    values = _even_steps(start, stop, steps, dtypes.float64 if is_large else _wide(chosen))
    return from_graph(cls, values.cast(chosen), device, requires_grad)


def logspace(
    cls: type[Tensor],
    start: int | float,
    stop: int | float = REQUIRED,
    steps: Dim = REQUIRED,
    base: int | float = 10.0,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool | None = None,
    **names: Unpack[StepNames],
) -> Tensor:
    """Return `base` to the power of `steps` numbers from `start` to `stop`, both included.

    Integer dtypes cut the fractions off.

    Raises:
        ShapeError: `steps` is negative or no integer.
        DtypeError: `start`, `stop` or `base` is no number.
        ArgumentError: one of them is infinite or NaN.

    Example:
        >>> Tensor.logspace(0, 3, 4, base=2).tolist()
        [1.0, 2.0, 4.0, 8.0]
    """
    if names or stop is REQUIRED or steps is REQUIRED:
        stop, steps = renamed(cls.logspace, names, stop=stop, steps=steps)
    steps, chosen = as_count(steps), the_dtype(dtype, dtypes.default_float)
    start, stop, base = (finite(x) for x in (start, stop, base))
    if steps == 0:
        return cls.full((0,), 0, dtype=chosen, device=device, requires_grad=requires_grad)
    powers = _even_steps(start, stop, steps, _wide(chosen))
    values = powers.const_like(float(base)).alu(Ops.POW, powers)
    return from_graph(cls, values.cast(chosen), device, requires_grad)


def eye(
    cls: type[Tensor],
    n: Dim,
    m: Dim | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    *,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return the identity matrix of `n` rows and `m` (or `n`) columns.

    Raises:
        ShapeError: `n` or `m` is negative or no integer.

    Example:
        >>> Tensor.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = check_sizes(as_shape(((n, n if m is None else m),)))
    chosen = the_dtype(dtype, dtypes.default_float)
    row = UOp.iota(rows).reshape((rows, 1)).expand((rows, columns))
    column = UOp.iota(columns).reshape((1, columns)).expand((rows, columns))
    return from_graph(cls, row.eq(column).cast(chosen), device, requires_grad)


def _text(value: Any) -> str:
    return show((value,))[1:-2] if isinstance(value, UOp) else str(value)


def _symbolic_range(first: Any, last: Any, step: Any) -> UOp:
    """Return the integers between limits of which at least one is a node."""
    is_integer = all(isinstance(x, (int, UOp)) for x in (first, last, step))
    if not is_integer or isinstance(step, UOp) or not step:
        raise ArgumentError(
            f"arange from {_text(first)} to {_text(last)} by {_text(step)}: beside a Variable all are "
            "integers, and the step is a number other than 0."
        )
    size: Any = last if isinstance(first, int) and first == 0 else add_sizes(last, -first)
    size = size if step > 0 else size * -1
    size = -(-size // abs(step)) if abs(step) > 1 else size
    values = UOp.iota(size) * step if step != 1 else UOp.iota(size)
    if isinstance(first, int):
        return values + first if first else values
    return values + first.cast(dtypes.int32)


def _term_count(first: int | float, last: int | float, step: int | float) -> int:
    if all(isinstance(x, int) for x in (first, last, step)):
        count = -((first - last) // step)
    else:
        count = (float(last) - float(first)) / step
    if not count < 1 << 63:
        raise ArgumentError(
            f"arange from {first} to {last} by {step} has 2**63 elements or more. Make the step larger."
        )
    return max(math.ceil(count), 0)


def _integers(ends: tuple[int, int], count: int, step: int) -> UOp:
    extent = (count - 1) * step
    fits = all(-(1 << 31) <= number < 1 << 31 for number in (*ends, extent, count))
    wide = dtypes.int32 if fits else dtypes.int64
    if max(ends) > dtype_max(dtypes.int64):
        wide = dtypes.uint64
    values = UOp.iota(count, dtypes.int32 if count < 1 << 31 else dtypes.int64).cast(wide)
    values = values if step == 1 else values * step
    return values if ends[0] == 0 else values + ends[0]


def _wide(dtype: DType) -> DType:
    """Return the float in which numbers of `dtype` are computed."""
    return dtypes.float64 if dtypes.float64 in (dtype, dtypes.default_float) else dtypes.float32


def _spaced(place: UOp, count: int, first: float, step: float, wide: DType) -> UOp:
    """Return `first + place * step` for integers `place` below `count`, rounded as if once.

    In float32 what its products and sums leave out is computed beside them.
    Source: Moller 1965, "Quasi double-precision in floating point addition"; Knuth, "The Art of Computer
    Programming" 2, section 4.2.2, theorem C.
    """
    if not all(math.isfinite(truncate(x, wide)) for x in (first, step)):
        raise ArgumentError(
            f"numbers from {first} on by {step} are too far apart for {wide.name}. Pass smaller "
            "ones, or dtype='float64'."
        )
    x = place.cast(wide)
    spare = 24 - (count - 1).bit_length()
    if wide is dtypes.float64 or spare < 1:
        return x * step + first if first else x * step
    # so few digits that the product is exact
    mantissa, exponent = math.frexp(step)
    step_high = math.ldexp(round(mantissa * (1 << spare)), exponent - spare)
    first_high = float(truncate(first, wide))
    rest = (step - step_high, first - first_high)
    product = x * step_high
    if not first:
        return product + x * rest[0] if rest[0] else product
    total = product + first_high
    if not any(rest):
        return total
    part = total - product
    lost = (product - (total - part)) + (first_high - part)
    return total + (x * rest[0] + rest[1] + lost)


def _even_steps(start: float, stop: float, steps: Dim, wide: DType) -> UOp:
    """Return `steps` evenly spaced numbers, counted from the nearer end so that both are exact."""
    if not isinstance(steps, int):
        return _symbolic_even_steps(start, stop, steps).cast(wide)
    gap = (float(stop) - float(start)) / max(steps - 1, 1)
    place = UOp.iota(steps)
    rising = _spaced(place, steps, start, gap, wide)
    falling = _spaced((steps - 1) - place, steps, stop, -gap, wide)
    return (place < (steps + 1) // 2).where(rising, falling)


def _symbolic_even_steps(start: float, stop: float, steps: UOp) -> UOp:
    """Return evenly spaced numbers of a symbolic count, computed in float64 on the device."""
    wide = dtypes.float64
    gap = (float(stop) - float(start)) / (steps - 1).maximum(1).cast(wide)
    place = UOp.iota(steps)
    from_end = (steps - 1).cast(place.dtype) - place
    rising, falling = place.cast(wide) * gap + start, from_end.cast(wide) * -gap + stop
    return (place < ((steps + 1) // 2).cast(place.dtype)).where(rising, falling)


def _integer_steps(start: int, stop: int, steps: Dim) -> UOp | None:
    """Return evenly spaced numbers truncated to integers, None where they need more digits."""
    gaps: Any = max(greatest(steps) - 1, 1)
    largest = max(abs(start), abs(stop)) * gaps * 2
    if largest >= 1 << 63:
        return None
    wide = dtypes.int32 if largest < 1 << 31 else dtypes.int64
    if not isinstance(steps, int):
        gaps = (steps - 1).maximum(1).cast(wide)
    sum_of_gaps = UOp.iota(steps).cast(wide) * (stop - start) + start * gaps
    size = (sum_of_gaps < 0).where(-sum_of_gaps, sum_of_gaps) // gaps
    return (sum_of_gaps < 0).where(-size, size)
