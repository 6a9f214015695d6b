"""A compiled kernel as plain data: everything that loading and launching it needs.

Programs are picklable and live in the disk cache.
"""

from collections.abc import Mapping
from typing import Any

from plugrad._frozen import frozen
from plugrad.uop import UOp
from plugrad.uop.shape import size_at

Dim = int | UOp
#: Workgroups, and threads in a workgroup, in each dimension.
LaunchDims = tuple[tuple[int, ...], tuple[int, ...]]


@frozen
class Estimates:
    """The costs of a kernel, counted in its linear program; symbolic where its sizes are.

    Attributes:
        flops: arithmetic operations on floats and integers that are not addresses.
        bytes_accessed: bytes of the buffers it touches, each byte once (the memory traffic of perfect
            caches).
        bytes_loaded: bytes that its loads and stores move, counted each time.
    """

    flops: Dim = 0
    bytes_accessed: Dim = 0
    bytes_loaded: Dim = 0

    def evaluate(self, values: Mapping[str, int]) -> "tuple[int, int, int]":
        """Return (flops, bytes_accessed, bytes_loaded) with the variables bound to `values`."""
        return (
            size_at(self.flops, values),
            size_at(self.bytes_accessed, values),
            size_at(self.bytes_loaded, values),
        )


@frozen
class Program:
    """A kernel ready to be loaded.

    Attributes:
        name: the function's name in source and binary.
        source: what the renderer wrote.
        lib: what the compiler made of it.
        global_size: workgroups in each launch dimension, at most three; symbolic where the shapes are.
        local_size: threads in a workgroup, for each dimension.
        threads: pieces of the THREAD axis (1: it has none).
        variables: names of the kernel's scalars in launch order.
        outs: slots of the buffers it writes.
        ins: slots of the buffers it reads.
        estimates: its cost.
        opts: the kernel optimisations it was made with, for reports and replay.
        axes: (size, kind) of each axis, outermost first, for reports.
    """

    name: str
    source: str
    lib: bytes
    global_size: tuple[Dim, ...] = ()
    local_size: tuple[Dim, ...] = ()
    threads: int = 1
    variables: tuple[str, ...] = ()
    outs: tuple[int, ...] = ()
    ins: tuple[int, ...] = ()
    estimates: Estimates = Estimates()
    opts: tuple[Any, ...] = ()
    axes: tuple[tuple[str, str], ...] = ()

    @property
    def has_fixed_launch(self) -> bool:
        """Say whether the launch dimensions are the same for all values of the variables."""
        return not any(isinstance(size, UOp) for size in (*self.global_size, *self.local_size))

    def launch_dims(self, values: Mapping[str, int]) -> LaunchDims:
        """Return (global_size, local_size) with the variables bound to `values`."""
        return (
            tuple([size_at(size, values) for size in self.global_size]),
            tuple([size_at(size, values) for size in self.local_size]),
        )
