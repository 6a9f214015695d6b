"""Count the runs of a jitted function's Python."""

from collections.abc import Callable
from typing import Any

from plugrad.jit import jit

__all__ = ["counted"]


def counted(function: Callable[..., Any]) -> tuple[Any, list[int]]:
    """Return `function` jitted, and a list that grows each time its Python runs."""
    runs: list[int] = []

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        runs.append(1)
        return function(*args, **kwargs)

    return jit(wrapper), runs
