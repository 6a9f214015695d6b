"""Launch recorded kernels by one call to a graph of the driver.

Changes between two runs are set on its nodes.

The nodes are a chain in the order of the launches. A graph does not know how far a block reaches, nor which
blocks the next run exchanges, so it cannot tell which launches have nothing to do with each other.
"""

from collections.abc import Sequence
from typing import Any

from plugrad.runtime.graph import GraphLaunch
from plugrad_cuda.native import ffi
from plugrad_cuda.runner import CudaRunner, three


class CudaGraph:
    """Launches of one device in their order, instantiated once.

    Args:
        launches: what to run, with the arguments of the first run.
        runners: their kernels.

    Raises:
        DeviceError: the driver refused them.
    """

    def __init__(self, launches: Sequence[GraphLaunch], runners: Sequence[CudaRunner]) -> None:
        self._context = context = runners[0].context
        self._nodes = [_Node(runner, launch) for runner, launch in zip(runners, launches, strict=True)]
        self._names = tuple(runner.name for runner in runners)
        self._changed: dict[int, _Node] = {}
        with context.lock:
            context.enter()
            # launches are changed by the nodes of what was instantiated, so that must live as long
            self._template = context.made(context.driver.library.cuGraphCreate, 0, doing="making a graph")
            context.keep_graph(self._template)
            self._ready = self._instantiate()

    def __del__(self) -> None:
        if hasattr(self, "_template"):
            self._context.drop_graph(self._template)

    def set_handle(self, launch: int, slot: int, handle: int) -> None:
        """Use another block in one slot of launch number `launch`."""
        node = self._nodes[launch]
        if node.set_block(slot, handle):
            self._changed[launch] = node

    def set_sizes(
        self, launch: int, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Use other variable values and launch sizes for launch number `launch`."""
        node = self._nodes[launch]
        node.set_sizes(values, global_size, local_size)
        self._changed[launch] = node

    def __call__(self, wait: bool = False) -> float | None:
        """Launch all; return the seconds they took on the device where `wait` asks for them.

        Raises:
            DeviceError: the driver refused a launch, or the device is lost.
        """
        context, library = self._context, self._context.driver.library
        with context.lock:
            context.enter()
            for node in self._changed.values():
                status = library.cuGraphExecKernelNodeSetParams_v2(self._ready, node.handle, node.described())
                if status:
                    context.fail(status, f"changing {node} in a graph")
            self._changed.clear()
            if wait:
                context.start_timer()
            context.launched.append(self._names)
            if status := library.cuGraphLaunch(self._ready, context.stream):
                context.fail(status, f"launching a graph of {len(self._nodes)} kernels")
            return context.stop_timer("running a graph") if wait else None

    def _instantiate(self) -> Any:
        """Add the nodes, each after the one before it, and return what can be launched."""
        context, library = self._context, self._context.driver.library
        after, count = ffi.NULL, 0
        for node in self._nodes:
            out = ffi.new("void **")
            status = library.cuGraphAddKernelNode_v2(out, self._template, after, count, node.described())
            context.check(status, f"adding {node} to a graph")
            node.handle = out[0]
            after, count = out, 1
        make = library.cuGraphInstantiateWithFlags
        ready = context.made(make, self._template, 0, doing="instantiating a graph")
        context.keep_graph(self._template, ready)
        return ready


class _Node:
    """One launch with its arguments, which the driver reads at each change."""

    def __init__(self, runner: CudaRunner, launch: GraphLaunch) -> None:
        self.handle: Any = None
        self._runner = runner
        self._position = {slot: number for number, slot in enumerate(runner.slots)}
        count = len(runner.slots) + len(launch.values)
        self._arguments = ffi.new("long long[]", max(count, 1))
        self._pointers = ffi.new("void *[]", [self._arguments + i for i in range(count)] or 1)
        self._what = ffi.new("KernelNode *")
        self._what.shared_nbytes = runner.shared_bytes
        self._what.parameters = self._pointers
        for slot in runner.slots:
            self.set_block(slot, launch.handles[slot])
        self.set_sizes(launch.values, launch.global_size, launch.local_size)

    def __str__(self) -> str:
        what = self._what
        grid = f"{what.grid_x}x{what.grid_y}x{what.grid_z}"
        return f"{self._runner.name} on {grid} blocks of {what.block_x}x{what.block_y}x{what.block_z}"

    def set_block(self, slot: int, address: int) -> bool:
        """Exchange a block; say whether it was another one."""
        position = self._position.get(slot)
        if position is None or self._arguments[position] == address:
            return False
        self._arguments[position] = address
        return True

    def set_sizes(
        self, values: tuple[int, ...], global_size: tuple[int, ...], local_size: tuple[int, ...]
    ) -> None:
        """Exchange the variables and the launch sizes."""
        for position, value in enumerate(values, len(self._position)):
            self._arguments[position] = value
        what = self._what
        what.grid_x, what.grid_y, what.grid_z = three(global_size)
        what.block_x, what.block_y, what.block_z = three(local_size)

    def described(self) -> Any:
        """Return the launch as the driver wants it described."""
        blocks = self._arguments[0 : len(self._position)]
        self._what.function = self._runner.function_for(blocks)
        return self._what
