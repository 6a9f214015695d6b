"""A stand-in for the part of PyObjC that is not about one framework."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_pools = threading.local()


@contextmanager
def autorelease_pool() -> Iterator[None]:
    """Own what is handed out unowned, until the block is left."""
    _pools.depth = pool_depth() + 1
    try:
        yield
    finally:
        _pools.depth -= 1


def pool_depth() -> int:
    """Return how many pools this thread has open."""
    return getattr(_pools, "depth", 0)
