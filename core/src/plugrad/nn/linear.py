"""Dense layers: what a model learns by matrix products."""

from plugrad.nn.init import kaiming_uniform, parameter, uniform_bias
from plugrad.tensor import Tensor

__all__ = ["Embedding", "Linear"]


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
        """Return the rows of the table that `indices` names."""
        rows = Tensor.arange(self.num_embeddings, device=indices.device).reshape(-1, 1)
        chosen = indices.reshape(*indices.shape, 1, 1) == rows
        return chosen.where(self.weight, 0.0).sum(-2)
