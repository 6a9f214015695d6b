"""A histogram as one kernel: each bin counts the elements that fall into it.

Written as a sum for each bin, it runs on any device, and where loops run in order the compiler makes one pass
over the elements of it. `python examples/custom_kernels/histogram.py` draws one.
"""

from plugrad import Ops, Tensor, UOp, dtypes


def histogram(x: Tensor, bins: int, low: float, high: float) -> Tensor:
    """Return how many elements of `x` lie in each of `bins` equal parts of `low..high`."""

    def count(out: UOp, data: UOp) -> UOp:
        b = UOp.range(bins, 0)
        i = UOp.range(data.arg[1], 1)
        place = (data.index(i).load() - low) * (bins / (high - low))
        # rounding towards zero would count what lies just below `low`
        inside = (place >= 0) & (place < bins)
        position = inside.where(place, -1.0).cast(dtypes.int32)
        hit = position.eq(b.cast(dtypes.int32)).cast(dtypes.int32)
        return out.index(b).store(hit.reduce(Ops.ADD, i), b)

    (counts,) = Tensor.custom_kernel(count, Tensor.empty(bins, dtype=dtypes.int32), x)
    return counts


def main() -> list[int]:
    """Count 10,000 normal numbers."""
    Tensor.manual_seed(0)
    counts: list[int] = histogram(Tensor.randn(10_000), 12, -3.0, 3.0).tolist()
    return counts


if __name__ == "__main__":
    for number, height in enumerate(main()):
        print(f"{number / 2 - 3:+.1f} {'#' * (height // 40)} {height}")
