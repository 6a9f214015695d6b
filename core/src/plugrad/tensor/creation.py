"""Tensors out of nothing: constants, ranges, memory."""

import math
from collections.abc import Sequence
from typing import Any, Self

from plugrad.dtype import ConstType, DType, dtype_max, dtypes, from_py, is_float, is_int
from plugrad.engine import storage
from plugrad.errors import ArgumentError, DtypeError
from plugrad.tensor.base import DTypeLike, the_device, the_dtype
from plugrad.tensor.host import check_fits
from plugrad.tensor.reorder import ReorderMixin
from plugrad.tensor.shapes import Dim, as_shape, check_sizes, show
from plugrad.uop.shape import add_sizes
from plugrad.uop.uop import UOp


class CreationMixin(ReorderMixin):
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
        """Return ones, of the default float.

        Example:
            >>> Tensor.ones(2, dtype="int32").tolist()
            [1, 1]
        """
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
        """Return memory that nobody has written to yet.

        Example:
            >>> Tensor.empty(2, 3).shape
            (2, 3)
        """
        dims: Any = check_sizes(as_shape(shape, "empty"), "empty")
        chosen = the_dtype(dtype, dtypes.default_float)
        return cls._new(storage.new_buffer(the_device(device), dims, chosen), device, requires_grad)

    @classmethod
    def arange(
        cls,
        start: "float | UOp",
        stop: "float | UOp | None" = None,
        step: float = 1,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Return `start, start + step, ...` up to but not including `stop`. `arange(n)` counts from 0.

        Integers are exact. The dtype follows the arguments: the default int or the default float.

        Args:
            start: the first number; with `stop` left out, that, and the first is 0.
            stop: where to end; a bound Variable gives a tensor of symbolic size. So does one as `start`.
            step: from one number to the next.
            dtype: of the elements.
            device: where they live.
            requires_grad: let `backward()` leave a gradient.

        Raises:
            ArgumentError: `step` is 0, or it is no positive integer beside a Variable.
            DtypeError: an integer dtype does not hold the values, or an argument is no number.

        Example:
            >>> Tensor.arange(1, 8, 3).tolist()
            [1, 4, 7]
        """
        first, last = (0, start) if stop is None else (start, stop)
        for given in (first, last, step):
            _check_number(given, "arange")
        if step == 0:
            raise ArgumentError(
                f"arange({_text(first)}, {_text(last)}, 0) never ends. Give a step other than 0."
            )
        if isinstance(first, UOp) or isinstance(last, UOp):
            values = _symbolic_range(first, last, step)
            return cls._new(values.cast(the_dtype(dtype, dtypes.default_int)), device, requires_grad)
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
        """Return zeros in this tensor's shape.

        Example:
            >>> Tensor([1, 2]).zeros_like().tolist()
            [0, 0]
        """
        return self.full_like(0, dtype=dtype, device=device)

    def ones_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return ones in this tensor's shape.

        Example:
            >>> Tensor([5, 6]).ones_like(dtype="float32").tolist()
            [1.0, 1.0]
        """
        return self.full_like(1, dtype=dtype, device=device)

    def empty_like(self, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return unwritten memory in this tensor's shape.

        Example:
            >>> Tensor([[1, 2]]).empty_like().shape
            (1, 2)
        """
        shape = self.static_shape("empty_like")
        return self.empty(shape, dtype=the_dtype(dtype, self.dtype), device=device or self.device)


def _check_number(value: Any, what: str) -> None:
    if isinstance(value, (int, float, UOp)):
        return
    raise DtypeError(
        f"{what} with {value!r} ({type(value).__name__}). Pass integers, floats or bound Variables; "
        "of a tensor its .item()."
    )


def _text(value: Any) -> str:
    return show((value,))[1:-2] if isinstance(value, UOp) else str(value)


def _symbolic_range(first: Any, last: Any, step: Any) -> UOp:
    """Return integers between limits at least one of which is a node: as many as its value says."""
    is_integer = all(isinstance(x, (int, UOp)) for x in (first, last, step))
    if not is_integer or isinstance(step, UOp) or step < 1:
        raise ArgumentError(
            f"arange from {_text(first)} to {_text(last)} by {_text(step)}: beside a Variable all are "
            "integers, and the step is a positive number."
        )
    size: Any = last if isinstance(first, int) and first == 0 else add_sizes(last, -first)
    size = -(-size // step) if step > 1 else size
    values = UOp.iota(size) * step if step > 1 else UOp.iota(size)
    if isinstance(first, int):
        return values + first if first else values
    return values + first.cast(dtypes.int32)


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
