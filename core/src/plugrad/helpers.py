"""The names that programs for tinygrad import from its `helpers`.

from plugrad.helpers import Context, GlobalCounters, Timing, getenv

with Timing("all of it: "), Context(DEBUG=0):
    GlobalCounters.reset()
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from plugrad.errors import ArgumentError
from plugrad.events import KernelEvent, Subscription, subscribe
from plugrad.runtime import download
from plugrad.settings import cache_dir, context
from plugrad.tensor import Tensor

__all__ = ["Context", "Counters", "GlobalCounters", "Timing", "fetch", "flatten", "getenv", "prod"]

T = TypeVar("T")


@contextmanager
def Context(TRAINING: int | None = None, **values: object) -> Generator[None]:
    """Override settings inside a `with` block or a decorated function, as `context` does.

    Args:
        TRAINING: 1 or 0: what `Tensor.train()` and `Tensor.train(False)` are.
        **values: settings by name.

    Raises:
        SettingsError: a name is unknown or a value is not legal.
        ArgumentError: `TRAINING` is neither 0 nor 1.

    Example:
        >>> with Context(TRAINING=1, DEBUG=0):
        ...     Tensor.training
        True
    """
    if TRAINING not in (None, 0, 1):
        raise ArgumentError(f"Context: TRAINING={TRAINING!r:.60} is neither 0 nor 1.")
    with ExitStack() as stack:
        stack.enter_context(context(**values))
        if TRAINING is not None:
            stack.enter_context(Tensor.train(bool(TRAINING)))
        yield


class Counters:
    """Counts of kernels since `reset()`, after which each launch costs more.

    Attributes:
        kernel_count: launches.
        global_ops: arithmetic operations in them.
        global_mem: bytes that they read and wrote.
        time_sum_s: device time of those that were waited for, as with DEBUG=2.
        mem_used: bytes that live tensors held on the device of the last one.

    Example:
        >>> counters = Counters()
        >>> counters.reset()
        >>> Tensor([1.0, 2.0]).exp().realize().shape, counters.kernel_count
        ((2,), 1)
        >>> counters.close()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscription: Subscription | None = None
        self._clear()

    def __repr__(self) -> str:
        if self._subscription is None:
            return f"<{type(self).__name__}, which count from reset() on>"
        counts = f"{self.kernel_count} kernels, {self.global_ops} operations, {self.global_mem} bytes"
        return f"<{type(self).__name__}: {counts}, {self.time_sum_s:.3g} s, {self.mem_used} bytes in use>"

    def reset(self) -> None:
        """Count from 0.

        Example:
            >>> GlobalCounters.reset()
            >>> GlobalCounters.kernel_count
            0
            >>> GlobalCounters.close()
        """
        with self._lock:
            self._clear()
            if self._subscription is None:
                self._subscription = subscribe(KernelEvent, self._count)

    def close(self) -> None:
        """Count no longer, so that launches cost no more than before.

        Example:
            >>> GlobalCounters.close()
        """
        with self._lock:
            if self._subscription is not None:
                self._subscription.close()
                self._subscription = None

    def _clear(self) -> None:
        self.kernel_count = self.global_ops = self.global_mem = self.mem_used = 0
        self.time_sum_s = 0.0

    def _count(self, event: KernelEvent) -> None:
        with self._lock:
            self.kernel_count += 1
            self.global_ops += event.flops
            self.global_mem += event.bytes_accessed
            self.mem_used = event.memory_used
            self.time_sum_s += event.seconds or 0.0


#: The counters of this process.
GlobalCounters = Counters()


class Timing:
    """Print how long a `with` block took, to standard output.

    Args:
        prefix: what the line begins with.
        on_exit: returns what it ends with, from the nanoseconds.
        enabled: whether to print.

    Example:
        >>> with Timing("sum: ", enabled=False) as timing:
        ...     Tensor([1, 2]).sum().item()
        3
        >>> timing.et > 0
        True
    """

    def __init__(
        self, prefix: str = "", on_exit: Callable[[int], str] | None = None, enabled: bool = True
    ) -> None:
        self.prefix = prefix
        self.on_exit = on_exit
        self.enabled = enabled
        #: nanoseconds that the block took
        self.et = 0
        self._begin = 0

    def __enter__(self) -> "Timing":
        self._begin = time.perf_counter_ns()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.et = time.perf_counter_ns() - self._begin
        if self.enabled:
            end = self.on_exit(self.et) if self.on_exit is not None else ""
            sys.stdout.write(f"{self.prefix}{self.et / 1e6:6.2f} ms{end}\n")


def getenv(key: str, default: T = 0) -> T:
    """Return a variable of the environment, in the type of `default`.

    Settings of plugrad itself are in `plugrad.settings.settings`.

    Raises:
        ArgumentError: the variable is no such value.

    Example:
        >>> getenv("STEPS_OF_THIS_PROGRAM", 70)
        70
    """
    text = os.environ.get(key)
    if text is None or default is None:
        return default if text is None else text  # pyright: ignore[reportReturnType]
    try:
        return type(default)(text)  # pyright: ignore[reportCallIssue] - a number or a string
    except ValueError as error:
        raise ArgumentError(
            f"getenv: {key}={text!r} is no {type(default).__name__}. Set the variable to one, or unset it."
        ) from error


def prod(numbers: Iterable[int]) -> int:
    """Return the product of integers, 1 of none.

    Example:
        >>> prod((2, 3, 4))
        24
    """
    return math.prod(numbers)


def flatten(lists: Iterable[Iterable[T]]) -> list[T]:
    """Return the items of several lists as one.

    Example:
        >>> flatten([[1, 2], [3]])
        [1, 2, 3]
    """
    return [item for items in lists for item in items]


def fetch(url: str, name: str | None = None, subdir: str | None = None) -> Path:
    """Return the path of the file at `url`, fetched at the first call.

    `Tensor.from_url` makes a tensor of it, checks it, and unpacks it.

    Args:
        url: http, https, ftp or file.
        name: of the file; by default it follows the URL.
        subdir: a folder inside of `downloads` in plugrad's cache.

    Raises:
        ArgumentError: `name` has a folder in it.
        DownloadError: the URL cannot be read.

    Example:
        >>> fetch("http://localhost:1/model.bin")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        plugrad.errors.DownloadError: cannot fetch http://localhost:1/model.bin: ...
    """
    folder = None if subdir is None else cache_dir() / "downloads" / subdir
    return download.fetch(url, name=name, folder=folder)
