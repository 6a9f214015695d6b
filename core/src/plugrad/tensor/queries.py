"""What a tensor is, asked as PyTorch and NumPy do."""

from plugrad.tensor.shapes import Dim
from plugrad.tensor.written import WrittenMixin


class QueryMixin(WrittenMixin):
    """Numbers of axes, elements and bytes, under other names."""

    __slots__ = ()

    def dim(self) -> int:
        """Return the number of axes, `ndim`.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).dim()
            2
        """
        return self.ndim

    def ndimension(self) -> int:
        """Return the number of axes, `ndim`.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).ndimension()
            2
        """
        return self.ndim

    def nelement(self) -> Dim:
        """Return the number of elements, `numel()`.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).nelement()
            4
        """
        return self.numel()

    @property
    def itemsize(self) -> int:
        """The size of one element in bytes, `element_size()`.

        Example:
            >>> Tensor([1, 2]).itemsize
            4
        """
        return self.element_size()
