"""Exchange a factor of a sum of products for one in another order."""

from collections.abc import Callable
from typing import Any

from plugrad.uop import UOp


def with_factor(reduced: UOp, product: UOp, change: Callable[[UOp, UOp], UOp | None]) -> UOp | None:
    """Return a sum of products with the first factor that `change(factor, other)` replaces."""
    for number, factor in enumerate(product.src):
        other = product.src[1 - number]
        new = change(factor, other)
        if new is not None:
            src = (new, other) if number == 0 else (other, new)
            return product.replace(src=src).reduce_axis(*reduced.arg)
    return None


def stored_in_order(value: UOp, order: tuple[int, ...], shape: tuple[int, ...]) -> UOp:
    """Return a value that is stored with its axes in `order`, expanded to `shape`."""
    inverse = tuple(map(order.index, range(len(order))))
    return value.permute(order).contiguous().permute(inverse).expand(shape)


def sizes_of(u: UOp) -> tuple[int, ...]:
    """Return the shape of a value without symbolic sizes."""
    sizes: Any = u.shape
    return sizes
