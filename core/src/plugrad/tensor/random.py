"""Where random numbers come from: one counter for the process, drawn on the host, expanded on the device.

Element `i` of a draw is `threefry(counter + i, seed)`, 64 bits, the same on every device; a draw then moves
the
counter on. Counter and seed reach the device as two numbers in a small host buffer, not as constants of the
graph, so that every draw of a training step runs the same kernels. Whoever replays recorded kernels calls
`refresh` for the buffers that `is_draw` names, and gets the numbers that the program itself would have drawn.

Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

import os
import struct
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from plugrad.dtype import DType, dtypes
from plugrad.engine import storage
from plugrad.runtime.buffer import Buffer
from plugrad.tensor.host import HOST, host_buffer
from plugrad.uop.uop import UOp

_MASK = (1 << 64) - 1


Draw = Callable[[int, str], UOp]

# what draws in place of the stream, as in a function that is put in a batch
_instead: ContextVar[Draw | None] = ContextVar("draw", default=None)


@contextmanager
def drawing_by(draw: Draw | None) -> Generator[None]:
    """Let `draw(count, device)` give all random bits inside the block; None: the stream itself."""
    token = _instead.set(draw)
    try:
        yield
    finally:
        _instead.reset(token)


def current_draw() -> Draw | None:
    """Return what draws in place of the stream here; None: the stream itself does."""
    return _instead.get()


class RandomStream:
    """A seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self._draws: weakref.WeakKeyDictionary[Buffer, int] = weakref.WeakKeyDictionary()
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Begin the stream of `seed` anew."""
        with self._lock:
            self.seed = seed & _MASK
            self.counter = 0

    def take(self, count: int) -> bytes:
        """Return seed and counter for `count` elements, and move on."""
        with self._lock:
            state = struct.pack("=2Q", self.seed, self.counter)
            self.counter = (self.counter + count) & _MASK
        return state

    def draw(self, count: int, device: str) -> UOp:
        """Return `count` elements of 64 random bits on `device`, shape `(count,)`, uint64."""
        if (draw := _instead.get()) is not None:
            return draw(count, device)
        uop = host_buffer(self.take(count), (2,), dtypes.uint64)
        self._draws[storage.buffer_of(uop)] = count
        state = uop if device == HOST else uop.copy_to_device(device)
        seed, start = (state.shrink([(at, at + 1)]).expand((count,)) for at in (0, 1))
        return (UOp.iota(count, dtypes.int64).cast(dtypes.uint64) + start).threefry(seed)

    def is_draw(self, buffer: Buffer) -> bool:
        """Say whether `buffer` holds the state of a draw."""
        return buffer in self._draws

    def count_of(self, buffer: Buffer) -> int:
        """Return how many elements the draw whose state is in `buffer` has."""
        return self._draws[buffer]

    def refresh(self, buffer: Buffer) -> None:
        """Let the draw that reads `buffer` give the next numbers of the stream."""
        buffer.copyin(memoryview(self.take(self._draws[buffer])))


#: The stream of this process; `Tensor.manual_seed` restarts it.
stream = RandomStream(int.from_bytes(os.urandom(8), "little"))


def uniform_bits(bits: UOp, dtype: DType) -> UOp:
    """Return floats in [0, 1) from 64 random bits each: as many digits as `dtype` has, all equally likely."""
    digits = {dtypes.float64: 53, dtypes.float16: 11, dtypes.bfloat16: 8}.get(dtype, 24)
    return (bits >> (64 - digits)).cast(dtype) * 2.0**-digits


def normal_bits(bits: UOp, dtype: DType) -> UOp:
    """Return standard normal floats from 64 random bits each.

    Source: Box and Muller 1958.
    """
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    digits = 32 if wide is dtypes.float64 else 24
    # radius from the upper half, in (0, 1] so that its logarithm is finite; angle from the lower half
    upper = ((bits >> (64 - digits)) + 1).cast(wide) * 2.0**-digits
    lower = (bits & ((1 << digits) - 1)).cast(wide) * 2.0**-digits
    radius = (upper.log2() * (-2 * 0.6931471805599453)).sqrt()
    # sin is accurate around 0: angles in [-pi, pi)
    angle = (lower - 0.5) * 6.283185307179586
    return (radius * angle.sin()).cast(dtype)
