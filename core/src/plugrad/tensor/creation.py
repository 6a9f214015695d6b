"""Tensors out of nothing: constants, ranges, random numbers."""

import math
from collections.abc import Sequence
from typing import Any, Self

from plugrad.dtype import ConstType, DType, dtype_max, dtypes, from_py, is_float, is_int
from plugrad.engine import storage
from plugrad.errors import DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, the_device, the_dtype
from plugrad.tensor.host import check_fits
from plugrad.tensor.movement import MovementMixin
from plugrad.tensor.random import normal_bits, stream, uniform_bits
from plugrad.tensor.shapes import Dim, Shape, as_shape, check_sizes, product
from plugrad.uop.uop import UOp


class CreationMixin(MovementMixin):
    """Creation. Shapes are given as `f(2, 3)` or `f((2, 3))`; device and dtype have defaults."""

    __slots__ = ()

    @classmethod
    def _new(cls, uop: UOp, device: str | None, requires_grad: bool) -> Self:
        out = cls._make(uop, the_device(device))
        out.requires_grad = requires_grad
        return out

    @classmethod
    def full(
        cls,
        shape: "Dim | Sequence[Dim]",
        fill_value: ConstType,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return a tensor with `fill_value` everywhere; the dtype follows the value.

        Raises:
            DtypeError: the dtype cannot hold the value.

        Example:
            >>> Tensor.full((2, 2), 7).tolist()
            [[7, 7], [7, 7]]
        """
        dims = check_sizes(as_shape((shape,), "full"), "full")
        chosen = the_dtype(dtype, from_py(fill_value))
        uop = UOp.const(chosen, check_fits(fill_value, chosen))
        return cls._new(uop.reshape((1,) * len(dims)).expand(dims), device, requires_grad)

    @classmethod
    def zeros(
        cls,
        *shape: "Dim | Sequence[Dim]",
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return zeros, of the default float.

        Example:
            >>> Tensor.zeros(2).tolist()
            [0.0, 0.0]
        """
        dtype = the_dtype(dtype, dtypes.default_float)
        dims = as_shape(shape, "zeros")
        return cls.full(dims, 0, dtype=dtype, device=device, requires_grad=requires_grad)

    @classmethod
    def ones(
        cls,
        *shape: "Dim | Sequence[Dim]",
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return ones, of the default float."""
        dtype = the_dtype(dtype, dtypes.default_float)
        return cls.full(as_shape(shape, "ones"), 1, dtype=dtype, device=device, requires_grad=requires_grad)

    @classmethod
    def empty(
        cls,
        *shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return memory that nobody has written to yet."""
        dims: Any = check_sizes(as_shape(shape, "empty"), "empty")
        chosen = the_dtype(dtype, dtypes.default_float)
        return cls._new(storage.new_buffer(the_device(device), dims, chosen), device, requires_grad)

    @classmethod
    def arange(
        cls,
        start: int | float,
        stop: int | float | None = None,
        step: int | float = 1,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return `start, start + step, ...` up to but not including `stop`. `arange(n)` counts from 0.

        Integers are exact. The dtype follows the arguments: the default int or the default float.

        Raises:
            ShapeError: `step` is 0.
            DtypeError: an integer dtype does not hold the values.

        Example:
            >>> Tensor.arange(1, 8, 3).tolist()
            [1, 4, 7]
        """
        first, last = (0, start) if stop is None else (start, stop)
        if step == 0:
            raise ShapeError(f"arange({first}, {last}, 0) never ends. Give a step other than 0.")
        integral = all(isinstance(x, int) for x in (first, last, step))
        count = max(int(-((first - last) // step)) if integral else math.ceil((last - first) / step), 0)
        chosen = the_dtype(dtype, dtypes.default_int if integral else dtypes.default_float)
        if not count:
            return cls.full((0,), 0, dtype=chosen, device=device, requires_grad=requires_grad)
        if is_int(chosen):
            check_fits(first, chosen)
            check_fits(first + (count - 1) * step, chosen)
        exact = all(float(x).is_integer() for x in (first, step))
        values = (
            _integers(count, int(first), int(step), chosen) if exact else _floats(count, first, step, chosen)
        )
        return cls._new(values.cast(chosen), device, requires_grad)

    @classmethod
    def linspace(
        cls,
        start: int | float,
        stop: int | float,
        steps: int,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return `steps` numbers from `start` to `stop`, both included, at equal distances.

        Raises:
            ShapeError: `steps` is negative.

        Example:
            >>> Tensor.linspace(0, 1, 5).tolist()
            [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        check_sizes((steps,), "linspace")
        chosen = the_dtype(dtype, dtypes.default_float)
        wide = chosen if is_float(chosen) else dtypes.default_float
        if steps == 0:
            return cls.full((0,), 0, dtype=chosen, device=device, requires_grad=requires_grad)
        step = (stop - start) / max(steps - 1, 1)
        place = UOp.iota(steps)
        # count from the nearer end, so that both ends are exact
        rising = place.cast(wide) * step + start
        falling = stop - ((steps - 1) - place).cast(wide) * step
        values = (place < (steps + 1) // 2).where(rising, falling)
        return cls._new(values.cast(chosen), device, requires_grad)

    @classmethod
    def eye(
        cls,
        n: int,
        m: int | None = None,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return the identity matrix of `n` rows and `m` (or `n`) columns.

        Example:
            >>> Tensor.eye(2).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
        rows, columns = check_sizes((n, n if m is None else m), "eye")
        chosen = the_dtype(dtype, dtypes.default_float)
        row = UOp.iota(rows).reshape((rows, 1)).expand((rows, columns))
        column = UOp.iota(columns).reshape((1, columns)).expand((rows, columns))
        return cls._new(row.eq(column).cast(chosen), device, requires_grad)

    # --- random numbers ---

    @classmethod
    def manual_seed(cls, seed: int = 0) -> None:
        """Restart the stream of random numbers; the same seed gives the same numbers on every device.

        Example:
            >>> Tensor.manual_seed(1)
            >>> first = Tensor.rand(2).tolist()
            >>> Tensor.manual_seed(1)
            >>> first == Tensor.rand(2).tolist()
            True
        """
        stream.restart(seed)

    @classmethod
    def _random_bits(cls, shape: Shape, device: str | None, what: str) -> tuple[UOp, tuple[int, ...]]:
        dims: Any = check_sizes(shape, what)
        if not all(isinstance(dim, int) for dim in dims):
            raise ShapeError(
                f"{what}: random tensors have sizes that are known. Draw the largest size and shrink it."
            )
        return stream.draw(product(dims), the_device(device)), dims

    @classmethod
    def rand(
        cls,
        *shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return random floats, uniform in [0, 1): the same bits on every device.

        Raises:
            DtypeError: `dtype` is no float.
        """
        chosen = _float_dtype(dtype, "rand")
        bits, dims = cls._random_bits(as_shape(shape, "rand"), device, "rand")
        return cls._new(uniform_bits(bits, chosen).reshape(dims), device, requires_grad)

    @classmethod
    def randn(
        cls,
        *shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return random floats of the standard normal distribution.

        Raises:
            DtypeError: `dtype` is no float.
        """
        chosen = _float_dtype(dtype, "randn")
        bits, dims = cls._random_bits(as_shape(shape, "randn"), device, "randn")
        return cls._new(normal_bits(bits, chosen).reshape(dims), device, requires_grad)

    @classmethod
    def randint(
        cls,
        *shape: int | Sequence[int],
        low: int = 0,
        high: int = 10,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Self:
        """Return random integers, uniform in `low..high-1`.

        Raises:
            DtypeError: `dtype` is no integer, or does not hold the limits.
            ShapeError: there is no integer between the limits.
        """
        chosen = the_dtype(dtype, dtypes.default_int)
        if not is_int(chosen):
            raise DtypeError(f"randint of {chosen.name}: it takes an integer dtype. Use uniform for floats.")
        if high <= low:
            raise ShapeError(
                f"randint: there is no integer from {low} to below {high}. Make high greater than low."
            )
        check_fits(low, chosen)
        check_fits(high - 1, chosen)
        bits, dims = cls._random_bits(as_shape(shape, "randint"), device, "randint")
        if high - low < 1 << 64:
            bits = bits % (high - low)
        # adding wraps, so that a negative low needs no wider type
        lowest = UOp.const(dtypes.uint64, low)
        return cls._new((bits + lowest).cast(chosen).reshape(dims), device, False)

    @classmethod
    def uniform(
        cls,
        *shape: int | Sequence[int],
        low: float = 0.0,
        high: float = 1.0,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return random floats, uniform in [low, high)."""
        chosen = _float_dtype(dtype, "uniform")
        bits, dims = cls._random_bits(as_shape(shape, "uniform"), device, "uniform")
        values = uniform_bits(bits, chosen) * (high - low) + low
        return cls._new(values.reshape(dims), device, requires_grad)

    @classmethod
    def normal(
        cls,
        *shape: int | Sequence[int],
        mean: float = 0.0,
        std: float = 1.0,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return random floats of the normal distribution with that mean and standard deviation."""
        chosen = _float_dtype(dtype, "normal")
        bits, dims = cls._random_bits(as_shape(shape, "normal"), device, "normal")
        values = normal_bits(bits, chosen) * std + mean
        return cls._new(values.reshape(dims), device, requires_grad)

    # --- like this one ---

    def full_like(
        self, fill_value: ConstType, *, dtype: DTypeLike | None = None, device: str | None = None
    ) -> Self:
        """Return `fill_value` in this tensor's shape, and its dtype and device unless others are given.

        Example:
            >>> Tensor([1, 2]).full_like(5).tolist()
            [5, 5]
        """
        dtype = the_dtype(dtype, self.dtype)
        return self.full(self.shape, fill_value, dtype=dtype, device=device or self.device)

    def zeros_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return zeros in this tensor's shape."""
        return self.full_like(0, dtype=dtype, device=device)

    def ones_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return ones in this tensor's shape."""
        return self.full_like(1, dtype=dtype, device=device)

    def empty_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return unwritten memory in this tensor's shape."""
        shape = self.static_shape("empty_like")
        return self.empty(shape, dtype=the_dtype(dtype, self.dtype), device=device or self.device)

    def rand_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return uniform random floats in this tensor's shape."""
        shape = self.static_shape("rand_like")
        return self.rand(shape, dtype=the_dtype(dtype, self.dtype), device=device or self.device)

    def randn_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return normal random floats in this tensor's shape."""
        shape = self.static_shape("randn_like")
        return self.randn(shape, dtype=the_dtype(dtype, self.dtype), device=device or self.device)

    def randint_like(
        self, *, low: int = 0, high: int = 10, dtype: DTypeLike | None = None, device: str | None = None
    ) -> Self:
        """Return random integers, uniform in `low..high-1`, in this tensor's shape.

        Raises:
            DtypeError: the dtype is no integer, or does not hold the limits.
            ShapeError: there is no integer between the limits.
        """
        shape, chosen = self.static_shape("randint_like"), the_dtype(dtype, self.dtype)
        return self.randint(shape, low=low, high=high, dtype=chosen, device=device or self.device)


def _float_dtype(dtype: DTypeLike | None, what: str) -> DType:
    chosen = the_dtype(dtype, dtypes.default_float)
    if not is_float(chosen):
        raise DtypeError(f"{what} of {chosen.name}: it takes a float dtype. Use randint for integers.")
    return chosen


def _integers(count: int, first: int, step: int, dtype: DType) -> UOp:
    ends = (first, first + (count - 1) * step)
    fits = all(-(1 << 31) <= end < 1 << 31 for end in (*ends, count))
    wide = dtypes.int32 if fits else dtypes.int64
    if max(ends) > dtype_max(dtypes.int64):
        wide = dtypes.uint64
    values = UOp.iota(count, dtypes.int32 if count < 1 << 31 else dtypes.int64).cast(wide)
    values = values if step == 1 else values * step
    return values if first == 0 else values + first


def _floats(count: int, first: float, step: float, dtype: DType) -> UOp:
    wide = dtype if is_float(dtype) else dtypes.default_float
    return UOp.iota(count).cast(wide) * step + first
