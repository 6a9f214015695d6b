"""Project 5: the compiler pipeline, walked from a tensor to its source by calling each stage.

    python examples/course/05_pipeline.py

Change the expression, or the capabilities, and see which passes do something.
"""

from collections.abc import Iterator

from plugrad import Tensor, UOp, dtypes, events
from plugrad.codegen.lower import Lowered, lower
from plugrad.renderer.cstyle import CStyleRenderer
from plugrad.target import Capabilities
from plugrad.uop.ops import Ops

NUMBERS = frozenset({dtypes.bool, dtypes.int32, dtypes.float32})
NATIVE = frozenset({"FDIV", "MAX", "CMPNE", "WHERE"})
SCALAR = Capabilities(NUMBERS, NUMBERS, native_ops=NATIVE)
VECTORS = Capabilities(
    NUMBERS, NUMBERS, native_ops=NATIVE, vector_bits=128, vector_registers=16, max_load_bits=128
)
GRID = Capabilities(
    NUMBERS,
    NUMBERS,
    native_ops=NATIVE,
    grid_dims=3,
    max_grid=(65535, 65535, 65535),
    max_workgroup=256,
    max_workgroup_dims=(256, 256, 64),
    local_memory_bytes=32 << 10,
)


def expression() -> Tensor:
    """Return the mean of the squares of each column."""
    return Tensor.empty(96, 64, device="PYTHON").square().mean(axis=0)


def kernels(tensor: Tensor) -> list[UOp]:
    """Return the graphs of the kernels that the scheduler makes, copies left out."""
    return [item.ast for item in tensor.schedule() if item.ast.op is Ops.SINK]


def lowered(kernel: UOp, target: Capabilities) -> tuple[Lowered, list[str]]:
    """Return a kernel's linear program, and the names of the passes that changed its graph."""
    changed: list[str] = []

    def note(event: events.PassEvent) -> None:
        if event.before is not event.after:
            changed.append(event.name)

    with events.subscribe(events.PassEvent, note):
        return lower(kernel, target), changed


def report(target: Capabilities) -> Iterator[str]:
    """Yield what becomes of the expression on a target: axes, optimisations, passes, size."""
    for kernel in kernels(expression()):
        program, changed = lowered(kernel, target)
        yield f"axes     {' '.join(f'{kind}:{size}' for size, kind in program.axes)}"
        yield f"opts     {', '.join(map(str, program.opts)) or 'none'}"
        yield f"passes   {', '.join(changed)}"
        yield f"program  {len(program.program)} operations"


def main() -> None:
    """Print the graph, the kernel's source for a scalar target, and a report for three targets."""
    graph = [f"{u.op.name}{u.shape}" for u in expression().uop.toposort() if u.op is not Ops.CONST]
    print("graph   ", " -> ".join(graph))
    for kernel in kernels(expression()):
        program, _ = lowered(kernel, SCALAR)
        print(CStyleRenderer(SCALAR).render(list(program.program), program.name))
    for name, target in (("scalar", SCALAR), ("vectors", VECTORS), ("grid", GRID)):
        print(f"\n{name}")
        print("\n".join(report(target)))


if __name__ == "__main__":
    main()
