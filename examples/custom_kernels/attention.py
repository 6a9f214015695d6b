"""Attention as one kernel that keeps no scores in memory, with its gradient.

Each output element computes the scores of its row again: more arithmetic, and no memory that grows with the
square of the length. `python examples/custom_kernels/attention.py` compares it with the built-in attention.
"""

import math
from collections.abc import Sequence
from typing import Any

from plugrad import Ops, Tensor, UOp


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return `softmax(q @ k.T / sqrt(d)) @ v` of (rows, d) matrices."""
    shape: Any = q.shape
    rows, depth = shape
    scale = 1 / math.sqrt(depth)

    def kernel(out: UOp, query: UOp, key: UOp, value: UOp) -> UOp:
        row, column = UOp.range(rows, 0), UOp.range(depth, 1)

        def score(other: UOp, number: int) -> UOp:
            e = UOp.range(depth, number)
            product = query.index(row * depth + e).load() * key.index(other * depth + e).load()
            return product.reduce(Ops.ADD, e) * scale

        j, n, m = (UOp.range(rows, number) for number in (2, 3, 4))
        greatest = score(j, 5).reduce(Ops.MAX, j)
        total = (score(n, 6) - greatest).exp().reduce(Ops.ADD, n)
        weighted = (score(m, 7) - greatest).exp() * value.index(m * depth + column).load()
        result = weighted.reduce(Ops.ADD, m) / total
        return out.index(row * depth + column).store(result, row, column)

    def gradient(grads: Sequence[Tensor], ins: Sequence[Tensor], outs: Sequence[Tensor]) -> list[Tensor]:
        (grad,), (q, k, v), (out,) = grads, ins, outs
        weights = (q @ k.T * scale).softmax()
        d_scores = weights * (grad @ v.T - (grad * out).sum(1, keepdim=True)) * scale
        return [d_scores @ k, d_scores.T @ q, weights.T @ grad]

    (out,) = Tensor.custom_kernel(kernel, Tensor.empty(rows, depth), q, k, v, gradient=gradient)
    return out


def main() -> float:
    """Return the greatest difference to the built-in attention, of values and gradients."""
    Tensor.manual_seed(0)
    q, k, v, seen = (Tensor.randn(12, 8).realize() for _ in range(4))
    found: list[list[Tensor]] = []
    for function in (attention, Tensor.scaled_dot_product_attention):
        out = function(q, k, v)
        found.append([out, *(out * seen).sum().gradient(q, k, v)])
    return max((a - b).abs().max().item() for a, b in zip(*found, strict=True))


if __name__ == "__main__":
    print(f"differs from the built-in attention by {main():.1e}")
