"""Samples of what tensors hold: permutations, draws from given weights."""

from typing import Any, Self

from plugrad.dtype import dtypes, is_float
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, the_device, the_dtype
from plugrad.tensor.search import SearchMixin
from plugrad.tensor.shapes import check_sizes, show


class SamplingMixin(SearchMixin):
    """Permutations and draws."""

    __slots__ = ()

    @classmethod
    def randperm(cls, n: int, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return the numbers `0..n-1` in random order: the same on every device for a seed.

        Raises:
            ShapeError: `n` is negative.

        Example:
            >>> sorted(Tensor.randperm(4).tolist())
            [0, 1, 2, 3]
        """
        check_sizes((n,), "randperm")
        # 64 bits each: two are equal once in 2**64 / n**2 times
        bits, _ = cls._random_bits((n,), device, "randperm")
        order = cls._make(bits, the_device(device)).argsort()
        return order.cast(the_dtype(dtype, dtypes.default_int))

    def multinomial(self, num_samples: int, replacement: bool = False) -> Self:
        """Return positions drawn with probabilities in proportion to these weights: (n,) -> (samples,).

        Also row by row, (rows, n) -> (rows, samples). The weights need not add up to 1; they are taken to be
        0 or more, and not all 0. Without replacement no position comes twice, those of weight 0 last.

        Args:
            num_samples: how many positions to draw from each row.
            replacement: let a position be drawn again.

        Source: Efraimidis and Spirakis 2006, algorithm A, for draws without replacement.

        Raises:
            ArgumentError: there are fewer weights than samples without replacement, or a negative number.
            DtypeError: the weights are no floats.
            ShapeError: there is no axis, no weight, or more than two axes.

        Example:
            >>> Tensor([0.0, 1.0, 0.0]).multinomial(2, replacement=True).tolist()
            [1, 1]
        """
        if not is_float(self.dtype):
            raise DtypeError(f"multinomial of {self.dtype.name}: weights are floats. Cast first: .float().")
        shape = self.static_shape("multinomial")
        if self.ndim not in (1, 2) or not shape[-1]:
            raise ShapeError(f"multinomial of shape {show(shape)}: give weights (n,) or (rows, n).")
        if num_samples < 0 or (num_samples > shape[-1] and not replacement):
            raise ArgumentError(
                f"multinomial: num_samples={num_samples} of {shape[-1]} weights. Ask for 0 to {shape[-1]}, "
                "or pass replacement=True."
            )
        wide = self.dtype if self.dtype is dtypes.float64 else dtypes.float32
        weights = self._make(self._graph.detach().cast(wide), self._device)
        drawn = weights._with_return(num_samples) if replacement else weights._without_return(num_samples)
        return drawn.cast(dtypes.default_int)

    def _with_return(self, count: int) -> Self:
        rows: Any = self.shape[:-1]
        below = self.cumsum(-1)
        below = below._like(below._graph.contiguous())
        total = below._interval(self.ndim - 1, self.static_shape()[-1] - 1, self.static_shape()[-1])
        # less than the total, because the greatest random number is less than 1 by more than is rounded
        wanted = self.rand(*rows, count, dtype=self.dtype, device=self._device) * total
        return below.searchsorted(wanted, right=True)

    def _without_return(self, count: int) -> Self:
        # the least waiting times of events that come at these rates; exponential ones have this form
        random = self.rand(self.static_shape(), dtype=self.dtype, device=self._device)
        waits = -((1 - random).log()) / self
        waits = (self > 0).where(waits, float("inf"))
        return waits.argsort(-1)._interval(self.ndim - 1, 0, count)
