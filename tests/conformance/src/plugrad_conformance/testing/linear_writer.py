"""Linear programs written by hand, for tests of what renders, compiles and runs them."""

from typing import Any

from plugrad.dtype import DType, dtypes
from plugrad.renderer.base import Renderer
from plugrad.runtime.compiler import Compiler
from plugrad.runtime.program import Program
from plugrad.uop import Axis, AxisType, Ops, UOp

__all__ = ["LinearWriter"]


class LinearWriter:
    """Appends nodes to a linear program, and returns each."""

    def __init__(self) -> None:
        self.uops: list[UOp] = []

    def add(self, op: Ops, dtype: DType = dtypes.void, *src: UOp, arg: Any = None) -> UOp:
        """Append a node; one that is there already, and no store, is not repeated."""
        u = UOp(op, dtype, src, arg)
        if u not in self.uops or op is Ops.STORE:
            self.uops.append(u)
        return u

    # --- values ---

    def const(self, dtype: DType, value: Any) -> UOp:
        """Append a constant."""
        return self.add(Ops.CONST, dtype, arg=UOp.const(dtype, value).arg)

    def number(self, value: "UOp | int") -> UOp:
        """Return a node as it is, and a number as an int32."""
        return value if isinstance(value, UOp) else self.const(dtypes.int32, value)

    def variable(self, name: str, dtype: DType = dtypes.int32) -> UOp:
        """Append a number that each launch is given."""
        return self.add(Ops.DEFINE_VAR, dtype, arg=(name, 0, 1 << 20))

    def alu(self, op: Ops, *src: "UOp | int", dtype: DType | None = None) -> UOp:
        """Append an elementwise operation."""
        nodes = [self.number(s) for s in src]
        return self.add(op, dtype or nodes[0].alu(op, *nodes[1:]).dtype, *nodes)

    def cast(self, dtype: DType, u: UOp) -> UOp:
        """Append a conversion of all lanes."""
        return self.add(Ops.CAST, dtype.vec(u.dtype.count), u)

    # --- memory ---

    def param(self, slot: int, dtype: DType, numel: int = 1024) -> UOp:
        """Append a buffer."""
        return self.add(Ops.PARAM, dtype, arg=(slot, numel))

    def index(self, buffer: UOp, index: "UOp | int") -> UOp:
        """Append a place in a buffer."""
        return self.add(Ops.INDEX, buffer.dtype, buffer, self.number(index))

    def load(self, buffer: UOp, index: "UOp | int", count: int = 1) -> UOp:
        """Append a load of `count` lanes."""
        return self.add(Ops.LOAD, buffer.dtype.vec(count), self.index(buffer, index))

    def store(self, buffer: UOp, index: "UOp | int", value: UOp) -> UOp:
        """Append a store of all lanes of `value`."""
        return self.add(Ops.STORE, dtypes.void, self.index(buffer, index), value)

    def update(self, buffer: UOp, index: "UOp | int", value: UOp, op: Ops) -> UOp:
        """Append an atomic update of an element by `op`."""
        return self.add(Ops.STORE, dtypes.void, self.index(buffer, index), value, arg=op)

    # --- loops and the grid ---

    def range(self, size: "UOp | int", *ident: int, kind: AxisType = AxisType.LOOP) -> UOp:
        """Append the beginning of a loop."""
        return self.add(Ops.RANGE, dtypes.int32, self.number(size), arg=Axis(ident, kind))

    def end(self, *ranges: UOp) -> None:
        """Append the ends of loops."""
        for r in ranges:
            self.add(Ops.END, dtypes.void, r)

    def accumulator(self, initial: UOp, number: int = 0) -> UOp:
        """Append a value that loops change."""
        return self.add(Ops.DEFINE_ACC, initial.dtype, initial, arg=number)

    def accumulate(self, acc: UOp, value: UOp) -> UOp:
        """Append the change of an accumulator to `value`."""
        return self.add(Ops.ACCUMULATE, acc.dtype, acc, value)

    def special(self, name: str, size: int, dtype: DType = dtypes.int32) -> UOp:
        """Append a place in the grid, such as "gidx0"."""
        return self.add(Ops.SPECIAL, dtype, self.const(dtype, size), arg=name)

    # --- the whole ---

    def program(
        self, renderer: Renderer, compiler: Compiler, name: str = "kernel_under_test", threads: int = 1
    ) -> Program:
        """Return the program, compiled; its first buffer is written, the others are read."""
        source = renderer.render(self.uops, name)
        lib = compiler.compile(source, name)
        grid, group = self._sizes("gidx"), self._sizes("lidx")
        variables = tuple(sorted(u.arg[0] for u in self.uops if u.op is Ops.DEFINE_VAR))
        slots = tuple(u.arg[0] for u in self.uops if u.op is Ops.PARAM)
        return Program(name, source, lib, grid, group, threads, variables, slots[:1], slots[1:])

    def _sizes(self, prefix: str) -> tuple[int, ...]:
        sizes: dict[str, int] = {
            u.arg: u.src[0].arg for u in self.uops if u.op is Ops.SPECIAL and u.arg.startswith(prefix)
        }
        count = 1 + max((int(name[-1]) for name in sizes), default=-1)
        return tuple(sizes.get(f"{prefix}{i}", 1) for i in range(count))
