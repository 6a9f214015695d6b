"""A compiled kernel as plain data: everything that loading and launching it needs.

Programs are picklable and live in the disk cache.
"""

from collections.abc import Mapping
from typing import Any

from plugrad._frozen import frozen
from plugrad.uop import UOp
from plugrad.uop.op_cost import Estimates
from plugrad.uop.shape import size_at

Dim = int | UOp
#: Workgroups, and threads in a workgroup, in each dimension.
LaunchDims = tuple[tuple[int, ...], tuple[int, ...]]


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
