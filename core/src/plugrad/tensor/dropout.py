"""Dropout: elements left out by chance."""

from typing import Self

from plugrad.dtype import dtypes, is_float
from plugrad.errors import ArgumentError
from plugrad.tensor.creation import CreationMixin
from plugrad.tensor.reduce import ReduceMixin
from plugrad.uop.uop import UOp


class DropoutMixin(ReduceMixin, CreationMixin):
    """Noise against overfitting."""

    __slots__ = ()

    def dropout(self, p: float = 0.5) -> Self:
        """Return this with elements set to 0 with probability `p` and the others divided by `1-p`.

        Only while training (see `Tensor.train`); otherwise this tensor itself.

        Raises:
            ArgumentError: `p` lies outside of 0..1.
            DtypeError: this tensor holds no floats.

        Example:
            >>> Tensor([1.0, 2.0]).dropout(0.5).tolist()
            [1.0, 2.0]
        """
        if not 0 <= p <= 1:
            raise ArgumentError(f"dropout: p={p} lies outside of 0..1.")
        if not is_float(self.dtype):
            raise self._refuse("dropout", "floats")
        if not self.training or p == 0:
            return self
        if p == 1:
            return self._like(UOp.const(dtypes.bool, True).where(0.0, self._graph))
        shape = self.static_shape("dropout")
        keep = self.rand(shape, dtype=dtypes.float32, device=self.device) >= p
        return keep.where(self / (1 - p), 0)
