"""Project 6: operations of your own, and how they fuse: gelu, rms_norm, swiglu.

    python examples/course/06_custom_ops.py

An operation is a function of tensors. Nothing has to be registered: it fuses with what stands around it, and
has a gradient, because it is made of operations that do.
"""

import math

import numpy as np

from plugrad import Tensor


def gelu(x: Tensor) -> Tensor:
    """Return x times the normal distribution at x, in its tanh form.

    Source: Hendrycks and Gimpel 2016, "Gaussian Error Linear Units".
    """
    return 0.5 * x * (1 + (math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)).tanh())


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Return x over the root of the mean of its squares along the last axis, times a weight.

    Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".
    """
    return x * (x.square().mean(axis=-1, keepdim=True) + eps).rsqrt() * weight


def swiglu(x: Tensor, gate: Tensor, up: Tensor) -> Tensor:
    """Return silu(x @ gate) * (x @ up): (N, D), (D, H), (D, H) -> (N, H).

    Source: Shazeer 2020, "GLU Variants Improve Transformer".
    """
    gated = x @ gate
    return gated * gated.sigmoid() * (x @ up)


def kernel_counts() -> dict[str, int]:
    """Return the number of kernels of each, alone and with more around it."""
    x, gate, up = (Tensor.empty(128, 128, device="PYTHON") for _ in range(3))
    weight = Tensor.empty(128, device="PYTHON")
    expressions = {
        "gelu": gelu(x),
        "gelu(x @ w)": gelu(x @ gate),
        "rms_norm": rms_norm(x, weight),
        "rms_norm(x) @ w": rms_norm(x, weight) @ gate,
        "swiglu": swiglu(x, gate, up),
    }
    return {text: len(expression.schedule()) for text, expression in expressions.items()}


def differences() -> dict[str, float]:
    """Return the largest difference of each to the library's own, and of a gradient."""
    draws = np.random.default_rng(0)
    x, gate, up = (Tensor(draws.normal(size=(16, 16)).astype(np.float32)) for _ in range(3))
    weight = Tensor(draws.normal(size=16).astype(np.float32))
    point, other = x.detach().requires_grad_(), x.detach().requires_grad_()
    gelu(point).sum().backward()
    other.gelu().sum().backward()
    assert point.grad is not None
    assert other.grad is not None
    pairs = {
        "gelu": (gelu(x), x.gelu()),
        "its gradient": (point.grad, other.grad),
        "rms_norm": (rms_norm(x, weight), x * x.square().mean(-1, keepdim=True).add(1e-6).rsqrt() * weight),
        "swiglu": (swiglu(x, gate, up), (x @ gate).silu() * (x @ up)),
    }
    return {name: float((a - b).abs().max().item()) for name, (a, b) in pairs.items()}


def main() -> None:
    """Print both tables."""
    for text, count in kernel_counts().items():
        print(f"{text:16} {count} kernel{'s' * (count != 1)}")
    for name, difference in differences().items():
        print(f"{name:16} differs by {difference:.1e}")


if __name__ == "__main__":
    main()
