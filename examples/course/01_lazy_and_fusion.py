"""Project 1: lazy evaluation, and how many kernels an expression needs.

    python examples/course/01_lazy_and_fusion.py

Predict each number before you run it. Then change an expression so that its number changes.
"""

from plugrad import GlobalCounters, Tensor


def kernel_counts() -> dict[str, int]:
    """Return the number of kernels of some expressions, without computing any of them."""
    x, y = (Tensor.empty(256, 256, device="PYTHON") for _ in range(2))
    expressions = {
        "x * 2 + y": x * 2 + y,
        "x.T + y": x.T + y,
        "(x * y).sum()": (x * y).sum(axis=1),
        "x @ y": x @ y,
        "(x @ y).relu() + 1": (x @ y).relu() + 1,
        "x / x.sum()": x / x.sum(axis=1, keepdim=True),
        "x @ y @ x": x @ y @ x,
        "with .contiguous()": ((x * 2).contiguous() + y),
        "another order": ((x * 2).contiguous().T + y),
    }
    return {text: len(expression.schedule()) for text, expression in expressions.items()}


def kernels_run() -> tuple[int, int, int]:
    """Return the kernels launched by building an expression, by reading it, and by reading it again."""
    x = Tensor.rand(8, 8, device="PYTHON").realize()
    counts: list[int] = []
    GlobalCounters.reset()
    y = (x + 1).sum()
    counts.append(GlobalCounters.kernel_count)
    for _ in range(2):
        before = GlobalCounters.kernel_count
        y.item()
        counts.append(GlobalCounters.kernel_count - before)
    built, read, again = counts
    return built, read, again


def main() -> None:
    """Print both tables."""
    for text, count in kernel_counts().items():
        print(f"{text:20} {count} kernel{'s' * (count != 1)}")
    print("building, reading, reading again: {} {} {} kernels run".format(*kernels_run()))


if __name__ == "__main__":
    main()
