"""Samples of what tensors hold: permutations, draws from given weights."""

from typing import Any, Self

from plugrad.dtype import dtypes, is_float, truncate
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.tensor.base import DTypeLike, the_device, the_dtype
from plugrad.tensor.host import as_size
from plugrad.tensor.random import exponential_bits
from plugrad.tensor.search import SearchMixin
from plugrad.tensor.shapes import show


class SamplingMixin(SearchMixin):
    """Permutations and draws."""

    __slots__ = ()

    @classmethod
    def randperm(cls, n: int, *, dtype: DTypeLike | None = None, device: str | None = None) -> Self:
        """Return the numbers `0..n-1` in random order: the same on every device for a seed.

        Raises:
            ShapeError: `n` is negative or no integer.
            DtypeError: `dtype` does not hold the numbers.

        Example:
            >>> sorted(Tensor.randperm(4).tolist())
            [0, 1, 2, 3]
        """
        n, chosen = as_size(n, "randperm"), the_dtype(dtype, dtypes.default_int)
        if n and int(truncate(n - 1, chosen)) != n - 1:
            raise DtypeError(
                f"randperm: {chosen.name} does not hold all of 0..{n - 1}. Pass a wider dtype, or none."
            )
        # 64 bits each: two are equal once in 2**64 / n**2 times
        bits, _ = cls._random_bits((n,), device, "randperm")
        order = cls._make(bits, the_device(device)).argsort()
        return order.cast(chosen)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Return positions drawn with probabilities in proportion to these weights: (n,) -> (samples,).

        Also row by row, (rows, n) -> (rows, samples). The weights need not add up to 1; they are taken to be
        finite, 0 or more, and not all 0. Without replacement no position comes twice, those of weight 0 last.

        Args:
            num_samples: how many positions to draw from each row.
            replacement: let a position be drawn again.

        Source: Efraimidis and Spirakis 2006, algorithm A, for draws without replacement.

        Raises:
            ArgumentError: there are fewer weights than samples without replacement.
            DtypeError: the weights are no floats.
            ShapeError: there is no axis, no weight, or more than two axes; or `num_samples` is negative or no
                integer.

        Example:
            >>> Tensor([0.0, 1.0, 0.0]).multinomial(2, replacement=True).tolist()
            [1, 1]
        """
        if not is_float(self.dtype):
            raise DtypeError(f"multinomial of {self.dtype.name}: weights are floats. Cast first: .float().")
        shape = self.static_shape("multinomial")
        if self.ndim not in (1, 2) or not shape[-1]:
            raise ShapeError(f"multinomial of shape {show(shape)}: give weights (n,) or (rows, n).")
        num_samples = as_size(num_samples, "multinomial")
        if num_samples > shape[-1] and not replacement:
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
        found = below.searchsorted(wanted, right=True)
        # of weights that are all 0 none is found
        return found.minimum(self.static_shape()[-1] - 1)

    def _without_return(self, count: int) -> Self:
        # the least waiting times of events that come at these rates
        bits, dims = self._random_bits(self.static_shape(), self._device, "multinomial")
        waits = self._make(exponential_bits(bits, self.dtype).reshape(dims), self._device) / self
        waits = (self > 0).where(waits, float("inf"))
        return waits.argsort(-1)._interval(self.ndim - 1, 0, count)
