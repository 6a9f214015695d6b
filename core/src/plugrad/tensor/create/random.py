"""Random numbers: one counter for the process, keyed on the host, expanded on the device.

Element `i` of a draw is `threefry(counter + i, seed)`, 64 bits, the same on every device; a draw then moves
the counter on. Counter and seed reach the device as two numbers in a small host buffer, not as constants of
the graph, so that every draw of a training step runs the same kernels. Whoever replays recorded kernels calls
`refresh` for the buffers that `is_draw` names, and gets the numbers that the program itself would have drawn.
A draw of symbolic size gives the bits of one of the size that it has today, and moves the counter on by as
many; so does a replay with the sizes of its call.

Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

import math
import os
import struct
import threading
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from plugrad._util import LazyModule
from plugrad.dtype import FLOAT8, DType, dtypes
from plugrad.engine import storage
from plugrad.runtime.buffer import Buffer
from plugrad.tensor.host.host_data import HOST, host_buffer
from plugrad.tensor.shapes import Dim, size_today
from plugrad.uop import UOp
from plugrad.uop.shape import size_at

if TYPE_CHECKING:
    from plugrad.codegen.decompositions import exp_log, floats, polynomials
else:  # for normal numbers only
    exp_log = LazyModule("plugrad.codegen.decompositions.exp_log")
    floats = LazyModule("plugrad.codegen.decompositions.floats")
    polynomials = LazyModule("plugrad.codegen.decompositions.polynomials")

_MASK = (1 << 64) - 1


Draw = Callable[[Dim, str], UOp]

# what draws in place of the stream, as in a function that is put in a batch
_instead: ContextVar[Draw | None] = ContextVar("draw", default=None)


@contextmanager
def drawing_by(draw: Draw | None) -> Generator[None]:
    """Draw all random bits inside the block by `draw(count, device)`, or None: from the stream."""
    token = _instead.set(draw)
    try:
        yield
    finally:
        _instead.reset(token)


def current_draw() -> Draw | None:
    """Return the function that replaces the random stream here, None for the stream."""
    return _instead.get()


class RandomStream:
    """A seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._lock = threading.Lock()
        self._draws: weakref.WeakKeyDictionary[Buffer, Dim] = weakref.WeakKeyDictionary()
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

    def draw(self, count: Dim, device: str) -> UOp:
        """Return `count` elements of 64 random bits on `device`, shape `(count,)`, uint64."""
        if (draw := _instead.get()) is not None:
            return draw(count, device)
        uop = host_buffer(self.take(size_today(count)), (2,), dtypes.uint64)
        self._draws[storage.buffer_of(uop)] = count
        state = uop if device == HOST else uop.copy_to_device(device)
        seed, start = (state.shrink([(at, at + 1)]).expand((count,)) for at in (0, 1))
        return (UOp.iota(count, dtypes.int64).cast(dtypes.uint64) + start).threefry(seed)

    def is_draw(self, buffer: Buffer) -> bool:
        """Say whether `buffer` holds the state of a draw."""
        return buffer in self._draws

    def count_of(self, buffer: Buffer) -> int:
        """Return the number of elements of the draw whose state is in `buffer`."""
        return size_today(self._draws[buffer])

    def refresh(self, buffer: Buffer, values: Mapping[str, int]) -> None:
        """Advance the draw that reads `buffer` to the next numbers of the stream."""
        buffer.copyin(memoryview(self.take(size_at(self._draws[buffer], values))))


#: The stream of this process; `Tensor.manual_seed` restarts it.
stream = RandomStream(int.from_bytes(os.urandom(8), "little"))


def greatest_count(dtype: DType) -> int:
    """Return the greatest integer up to which a float dtype holds all of them."""
    return 1 << _DIGITS[dtype]


def uniform_bits(bits: UOp, dtype: DType) -> UOp:
    """Return floats in [0, 1) from 64 random bits each, uniform in all digits."""
    digits = _DIGITS[dtype]
    return (bits >> (64 - digits)).cast(dtype) * 2.0**-digits


_DIGITS = {
    dtypes.float64: 53,
    dtypes.float32: 24,
    dtypes.float16: 11,
    dtypes.bfloat16: 8,
    **{dtype: layout.fraction_bits + 1 for dtype, layout in FLOAT8.items()},
}


def below(bits: UOp, count: int) -> UOp:
    """Return integers in 0..count-1 from 64 random bits each.

    Source: D. Lemire, "Fast random integer generation in an interval", 2019: the upper word of a product.
    """
    if count > 1 << 32:
        return bits % count if count < 1 << 64 else bits
    upper, lower = bits >> 32, bits & 0xFFFFFFFF
    return (upper * count + (lower * count >> 32)) >> 32


def within(bits: UOp, low: Any, high: Any, dtype: DType) -> UOp:
    """Return floats in [low, high) from 64 random bits each, `low` for an empty interval.

    The limits are numbers, or nodes of the float in which numbers of `dtype` are computed.
    """
    wide = wide_float(dtype)
    values = (uniform_bits(bits, wide) * (high - low) + low).cast(dtype)
    # rounding reaches the upper end
    low, high = (x.cast(dtype) if isinstance(x, UOp) else x for x in (low, high))
    return (values < high).where(values, low)


def wide_float(dtype: DType) -> DType:
    """Return the float in which numbers of `dtype` are computed."""
    return dtypes.float64 if dtype is dtypes.float64 else dtypes.float32


def normal_bits(bits: UOp, dtype: DType, mean: float = 0.0, std: Any = 1.0) -> UOp:
    """Return normal floats from 64 random bits each; `std` may be a node.

    Logarithm and sine are arithmetic here, which devices agree on, as they do not on their own functions.
    Source: Box and Muller 1958.
    """
    wide = wide_float(dtype)
    digits = 32 if wide is dtypes.float64 else 24
    # radius from the upper half, in (0, 1] so that its logarithm is finite; angle from the lower half
    upper = (_number(bits >> (64 - digits), digits) + 1).cast(wide) * 2.0**-digits
    radius = (_log2_of_normal(upper) * (-2 * exp_log.LOG_2)).sqrt()
    values = radius * _sine_of_turn(bits & ((1 << digits) - 1), digits, wide)
    values = values if std == 1 else values * std
    return (values + mean if mean else values).cast(dtype)


def exponential_bits(bits: UOp, dtype: DType) -> UOp:
    """Return exponential floats above 0 from 64 random bits each, of mean log2(e)."""
    digits = 53 if dtype is dtypes.float64 else 24
    return -_log2_of_normal(((bits >> (64 - digits)).cast(dtype) + 0.5) * 2.0**-digits)


def _log2_of_normal(x: UOp) -> UOp:
    return exp_log.log2_of_fraction(*floats.fraction_and_exponent_of_normal(x))


def _number(part: UOp, digits: int) -> UOp:
    return part.cast(dtypes.int64 if digits > 30 else dtypes.int32)


def _sine_of_turn(part: UOp, digits: int, dtype: DType) -> UOp:
    """Return the sine of `part / 2**digits` of a turn, less half a turn, for integers `part`."""
    number = _number(part, digits)
    quarter = (number + (1 << (digits - 3))) >> (digits - 2)
    angle = (number - (quarter << (digits - 2))).cast(dtype) * (2 * math.pi * 2.0**-digits)
    square = angle * angle
    sine = angle * square * floats.polynomial(square, polynomials.SINE[dtype]) + angle
    cosine = square * (square * floats.polynomial(square, polynomials.COSINE[dtype]) - 0.5) + 1.0
    size = (quarter & 1).eq(0).where(sine, cosine)
    return (quarter & 2).eq(0).where(-size, size)
