"""Dense layers: linear, bilinear, embedding."""

import functools
from typing import Any

from plugrad.dtype import dtype_max, is_int
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.nn.checks import check_counts, check_tensors
from plugrad.nn.functional import linear
from plugrad.nn.init import draw_by_fan_in, parameter
from plugrad.nn.module import Module, UnaryModule
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.shapes import fixed_shape

__all__ = ["Bilinear", "Embedding", "Linear"]


def _check_last(name: str, x: Tensor, size: Any) -> None:
    """Refuse an input whose last axis has another size, unless it is symbolic."""
    last: Any = x.shape[-1] if x.ndim else None
    if not x.ndim or (isinstance(last, int) and last != size):
        raise ShapeError(f"{name} of {size} inputs got shape {x.shape}; it takes (..., {size}).")


class Linear(UnaryModule):
    """`x @ weight.T + bias` over the last axis: (..., in_features) -> (..., out_features).

    Args:
        in_features: size of the last axis.
        out_features: size of the result's last axis.
        bias: add a learnt number for each output.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ShapeError: an input has another last axis.

    Example:
        >>> Linear(3, 2)(Tensor.ones(5, 3)).shape
        (5, 2)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_counts(self, 0, in_features=in_features, out_features=out_features)
        self.in_features = in_features
        self.out_features = out_features
        draw = functools.partial(draw_by_fan_in, fan_in=in_features, device=device, dtype=dtype)
        self.weight = draw(out_features, in_features)
        self.bias = draw(out_features) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        _check_last("Linear", x, self.weight.shape[-1])
        return linear(x, self.weight, self.bias)


class Bilinear(Module):
    """`x1 @ weight[k] @ x2 + bias[k]` for each output `k`: (..., in1), (..., in2) -> (..., out_features).

    Args:
        in1_features: size of the last axis of `x1`.
        in2_features: size of the last axis of `x2`.
        out_features: size of the result's last axis.
        bias: add a learnt number for each output.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ShapeError: an input has another last axis.

    Example:
        >>> Bilinear(3, 4, 2)(Tensor.ones(5, 3), Tensor.ones(5, 4)).shape
        (5, 2)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_counts(self, 0, in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        draw = functools.partial(draw_by_fan_in, fan_in=in1_features, device=device, dtype=dtype)
        self.weight = draw(out_features, in1_features, in2_features)
        self.bias = draw(out_features) if bias else None

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the layer's output for `x1` and `x2`."""
        check_tensors(self, x1=x1, x2=x2)
        outputs, in1, in2 = fixed_shape(self.weight.shape, "Bilinear")
        _check_last("Bilinear", x1, in1)
        _check_last("Bilinear", x2, in2)
        # (..., in1) @ (in1, outputs * in2), then the products with x2
        first = x1 @ self.weight.permute(1, 0, 2).reshape(in1, outputs * in2)
        out = (first.unflatten(-1, (outputs, in2)) * x2.unsqueeze(-2)).sum(-1)
        return out if self.bias is None else out + self.bias


class Embedding(Module):
    """Rows of a table by number: integers (...) -> (..., embedding_dim).

    Numbers outside of 0..num_embeddings-1 give zeros: reading the indices to refuse them would compute.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: size of each.
        padding_idx: the number of a row that starts with zeros and gets no gradient; negative ones count from
            the end.
        device: where the table lives; `Device.DEFAULT` if left out.
        dtype: of the table; the default float if left out.

    Raises:
        ArgumentError: the table has no row `padding_idx`.

    Example:
        >>> Embedding(10, 4)(Tensor([[1, 2, 3]])).shape
        (1, 3, 4)
        >>> Embedding(10, 2, padding_idx=0)(Tensor([0])).tolist()
        [[0.0, 0.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_counts(self, 0, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        rows = range(-num_embeddings, num_embeddings)
        if padding_idx is not None and (isinstance(padding_idx, bool) or padding_idx not in rows):
            raise ArgumentError(
                f"Embedding: padding_idx={padding_idx!r:.60} of {num_embeddings} rows. Pass a number from "
                f"{-num_embeddings} to {num_embeddings - 1}."
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        weight = Tensor.randn(num_embeddings, embedding_dim, device=device, dtype=dtype)
        if self.padding_idx is not None:
            is_padding = Tensor.arange(num_embeddings, device=device).reshape(-1, 1) == self.padding_idx
            weight = is_padding.where(0.0, weight)
        self.weight = parameter(weight)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> "Embedding":
        """Return a layer whose table is `embeddings`, (num_embeddings, embedding_dim).

        Args:
            embeddings: the table, which is not copied.
            freeze: do not train it.
            padding_idx: as the layer takes it; the table's row stays what it is.

        Raises:
            ArgumentError: the table has no row `padding_idx`.
            ShapeError: `embeddings` has not two axes.

        Example:
            >>> Embedding.from_pretrained(Tensor([[1.0, 2.0], [3.0, 4.0]]))(Tensor([1])).tolist()
            [[3.0, 4.0]]
        """
        check_tensors("Embedding.from_pretrained", embeddings=embeddings)
        if embeddings.ndim != 2:
            raise ShapeError(
                f"Embedding.from_pretrained: a table of shape {embeddings.shape}; it takes two axes."
            )
        rows, size = fixed_shape(embeddings.shape, "Embedding.from_pretrained")
        layer = cls(rows, size, padding_idx)
        layer.weight = embeddings
        layer.weight.requires_grad = not freeze
        return layer

    def forward(self, indices: Tensor) -> Tensor:
        """Return the rows of the table that `indices` names.

        Raises:
            DtypeError: the indices are no integers.
        """
        check_tensors(self, indices=indices)
        if not is_int(indices.dtype):
            raise DtypeError(
                f"Embedding of {indices.dtype.name}: rows are named by integers. Cast first: .int()."
            )
        # a negative index would count from the end
        out = (indices >= 0).unsqueeze(-1).where(self.weight[indices], 0.0)
        if self.padding_idx is None or self.padding_idx > dtype_max(indices.dtype):
            return out
        return (indices == self.padding_idx).unsqueeze(-1).where(out.detach(), out)
