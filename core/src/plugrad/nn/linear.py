"""Dense layers: what a model learns by matrix products."""

from plugrad.dtype import is_int
from plugrad.errors import DtypeError
from plugrad.nn.init import kaiming_uniform, parameter, uniform_bias
from plugrad.tensor import Tensor

__all__ = ["Bilinear", "Embedding", "Linear"]


class Linear:
    """`x @ weight.T + bias` over the last axis: (..., in_features) -> (..., out_features).

    Example:
        >>> Linear(3, 2)(Tensor.ones(5, 3)).shape
        (5, 2)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        self.weight = kaiming_uniform(out_features, in_features, fan_in=in_features)
        self.bias = uniform_bias(out_features, in_features) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the layer's output for `x`."""
        out = x @ self.weight.transpose(0, 1)
        return out if self.bias is None else out + self.bias


class Bilinear:
    """`x1 @ weight[k] @ x2 + bias[k]` for each output `k`: (..., in1), (..., in2) -> (..., out_features).

    Example:
        >>> Bilinear(3, 4, 2)(Tensor.ones(5, 3), Tensor.ones(5, 4)).shape
        (5, 2)
    """

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True) -> None:
        self.weight = kaiming_uniform(out_features, in1_features, in2_features, fan_in=in1_features)
        self.bias = uniform_bias(out_features, in1_features) if bias else None

    def __call__(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the layer's output for `x1` and `x2`."""
        outputs, in1, in2 = self.weight.static_shape("Bilinear")
        # (..., in1) @ (in1, outputs * in2), then the products with x2
        first = x1 @ self.weight.permute(1, 0, 2).reshape(in1, outputs * in2)
        out = (first.unflatten(-1, (outputs, in2)) * x2.unsqueeze(-2)).sum(-1)
        return out if self.bias is None else out + self.bias


class Embedding:
    """Rows of a table by number: integers (...) -> (..., embedding_dim).

    Numbers outside of 0..num_embeddings-1 give zeros: reading the indices to refuse them would compute.

    Example:
        >>> Embedding(10, 4)(Tensor([[1, 2, 3]])).shape
        (1, 3, 4)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        self.num_embeddings = num_embeddings
        self.weight = parameter(Tensor.randn(num_embeddings, embedding_dim))

    def __call__(self, indices: Tensor) -> Tensor:
        """Return the rows of the table that `indices` names.

        Raises:
            DtypeError: the indices are no integers.
        """
        if not is_int(indices.dtype):
            raise DtypeError(
                f"Embedding of {indices.dtype.name}: rows are named by integers. Cast first: .int()."
            )
        rows = Tensor.arange(self.num_embeddings, device=indices.device).reshape(-1, 1)
        chosen = indices.reshape(*indices.shape, 1, 1) == rows
        return chosen.where(self.weight, 0.0).sum(-2)
