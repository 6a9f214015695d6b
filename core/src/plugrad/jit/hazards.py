"""Overwrite memory that tensors show, as an assign would: what waits to be read is computed first."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from plugrad.engine import storage
from plugrad.engine.realize import preserve
from plugrad.uop.uop import UOp

__all__ = ["overwriting"]


@contextmanager
def overwriting(buffers: Iterable[UOp]) -> Generator[None]:
    """Overwrite the memory of the BUFFERs `buffers` inside the block.

    Values that somebody holds and that were written down on the old contents are computed before; graphs
    that are written down afterwards are told apart from these.
    """
    written = frozenset(map(storage.resolve, buffers))
    if written:
        preserve(written)
        for buffer in written:
            storage.buffer_of(buffer).own()
    yield
    for buffer in written:
        storage.renew(buffer)
