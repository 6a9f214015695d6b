"""Linear programs written by hand, and what it takes to run them with each compiler of this machine."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from plugrad.dtype import DType, dtypes
from plugrad.runtime.program import Program
from plugrad.settings import settings
from plugrad.uop.ops import Axis, AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad_cpu_clang.compiler import CpuCompiler
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner
from plugrad_cpu_clang.toolchain import Choice, choose_toolchain

KINDS = ("clang", "gcc", "zig")


class Writer:
    """Appends nodes to a linear program, and returns each."""

    def __init__(self) -> None:
        self.uops: list[UOp] = []

    def add(self, op: Ops, dtype: DType = dtypes.void, *src: UOp, arg: Any = None) -> UOp:
        u = UOp(op, dtype, src, arg)
        if u not in self.uops or op is Ops.STORE:
            self.uops.append(u)
        return u

    def const(self, dtype: DType, value: Any) -> UOp:
        return self.add(Ops.CONST, dtype, arg=UOp.const(dtype, value).arg)

    def number(self, value: "UOp | int") -> UOp:
        return value if isinstance(value, UOp) else self.const(dtypes.int32, value)

    def param(self, slot: int, dtype: DType, numel: int = 1024) -> UOp:
        return self.add(Ops.PARAM, dtype, arg=(slot, numel))

    def variable(self, name: str, dtype: DType = dtypes.int32) -> UOp:
        return self.add(Ops.DEFINE_VAR, dtype, arg=(name, 0, 1 << 20))

    def range(self, size: "UOp | int", *ident: int, kind: AxisType = AxisType.LOOP) -> UOp:
        return self.add(Ops.RANGE, dtypes.int32, self.number(size), arg=Axis(ident, kind))

    def alu(self, op: Ops, *src: "UOp | int", dtype: DType | None = None) -> UOp:
        nodes = [self.number(s) for s in src]
        return self.add(op, dtype or nodes[0].alu(op, *nodes[1:]).dtype, *nodes)

    def index(self, buffer: UOp, index: "UOp | int") -> UOp:
        return self.add(Ops.INDEX, buffer.dtype, buffer, self.number(index))

    def load(self, buffer: UOp, index: "UOp | int", count: int = 1) -> UOp:
        return self.add(Ops.LOAD, buffer.dtype.vec(count), self.index(buffer, index))

    def store(self, buffer: UOp, index: "UOp | int", value: UOp) -> UOp:
        return self.add(Ops.STORE, dtypes.void, self.index(buffer, index), value)

    def accumulator(self, initial: UOp, number: int = 0) -> UOp:
        return self.add(Ops.DEFINE_ACC, initial.dtype, initial, arg=number)

    def accumulate(self, acc: UOp, value: UOp) -> UOp:
        return self.add(Ops.ACCUMULATE, acc.dtype, acc, value)

    def end(self, *ranges: UOp) -> None:
        for r in ranges:
            self.add(Ops.END, dtypes.void, r)

    def program(self, compiler: CpuCompiler, name: str = "kernel", threads: int = 1) -> Program:
        source = CpuRenderer().render(self.uops, name)
        variables = tuple(sorted(u.arg[0] for u in self.uops if u.op is Ops.DEFINE_VAR))
        slots = tuple(u.arg[0] for u in self.uops if u.op is Ops.PARAM)
        lib = compiler.compile(source, name)
        return Program(name, source, lib, (), (), threads, variables, slots[:1], slots[1:])


Launch = Callable[..., None]


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("PLUGRAD_CACHE")
    os.environ["PLUGRAD_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    settings.refresh()
    yield
    if before is None:
        del os.environ["PLUGRAD_CACHE"]
    else:
        os.environ["PLUGRAD_CACHE"] = before
    settings.refresh()


@pytest.fixture(scope="session")
def choice(_cache_of_the_tests: None) -> Choice:
    return choose_toolchain()


@pytest.fixture(scope="session", params=KINDS)
def compiler(request: pytest.FixtureRequest, choice: Choice) -> CpuCompiler:
    """The compiler of each kind that this machine has."""
    usable = [t for t in (choice.toolchain, *choice.others) if not t.problem and t.kind == request.param]
    if not usable:
        pytest.skip(f"this machine has no {request.param}")
    return CpuCompiler(usable[0])


@pytest.fixture(scope="session")
def best_compiler(choice: Choice) -> CpuCompiler:
    """The compiler that plugrad chooses."""
    return CpuCompiler(choice.toolchain)


@pytest.fixture
def w() -> Writer:
    """An empty program."""
    return Writer()


@pytest.fixture
def new_writer() -> type[Writer]:
    """For tests with several programs."""
    return Writer


@pytest.fixture
def addresses() -> Callable[..., tuple[int, ...]]:
    """What a runner takes as blocks, of arrays."""
    return lambda *arrays: tuple(array.ctypes.data for array in arrays)


@pytest.fixture
def run_program(addresses: Callable[..., tuple[int, ...]]) -> Launch:
    """Compile and run a program, with arrays as its buffers by slot."""

    def run(
        w: Writer,
        compiler: CpuCompiler,
        *arrays: "np.ndarray[Any, Any]",
        values: tuple[int, ...] = (),
        threads: int = 1,
    ) -> None:
        CpuRunner(w.program(compiler, threads=threads))(addresses(*arrays), values)

    return run


@pytest.fixture
def launch(compiler: CpuCompiler, run_program: Launch) -> Launch:
    """The same, with each compiler in turn."""
    return lambda w, *arrays, **options: run_program(w, compiler, *arrays, **options)
