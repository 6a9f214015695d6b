"""Project 2: a product of matrices from expand, multiply and sum.

    python examples/course/02_matmul.py

There is no operation for products of matrices: they are two movements, a multiplication and a sum, which the
scheduler makes one kernel of, and codegen tiles, vectorises and spreads over threads.
"""

import time

import numpy as np

from plugrad import Tensor, context


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Return the product of two matrices: (M, K) @ (K, N) -> (M, N)."""
    (m, k), n = a.shape, b.shape[1]
    left = a.reshape(m, 1, k).expand(m, n, k)
    right = b.T.reshape(1, n, k).expand(m, n, k)
    return (left * right).sum(axis=2)


def batched(a: Tensor, b: Tensor) -> Tensor:
    """Return the products of two rows of matrices: (B, M, K) @ (B, K, N) -> (B, M, N)."""
    (size, m, k), n = a.shape, b.shape[2]
    left = a.reshape(size, m, k, 1).expand(size, m, k, n)
    return (left * b.reshape(size, 1, k, n).expand(size, m, k, n)).sum(axis=2)


def seconds(a: Tensor, b: Tensor) -> float:
    """Return the time of scheduling and running the product, the best of five."""
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        matmul(a, b).realize()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Compare with NumPy, count kernels and bytes, and measure with and without optimisations."""
    values = np.random.default_rng(0)
    a, b = (Tensor(values.normal(size=(384, 384)).astype(np.float32)).realize() for _ in range(2))
    difference = np.abs(matmul(a, b).numpy() - a.numpy() @ b.numpy()).max()
    print(f"largest difference to NumPy: {difference:.1e}")
    print(matmul(a, b).schedule())
    tiled = seconds(a, b)
    with context(NOOPT=1):
        plain = seconds(a, b)
    print(f"plain loops {plain * 1e3:.2f} ms, optimised {tiled * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
