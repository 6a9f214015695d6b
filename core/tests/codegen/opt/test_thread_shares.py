"""Shares of 8, 32 and 128 threads, by what the heuristic chooses: nothing runs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from plugrad import Tensor
from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.rebuild import all_ranges, stores_of
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.target import Capabilities
from plugrad.uop import AxisType, UOp, simplify

SERVER = replace(
    CAPABILITIES,
    grid_dims=0,
    max_grid=(),
    max_workgroup=0,
    vector_bits=512,
    vector_registers=32,
    max_load_bits=512,
    cache_bytes=(32 << 10, 1 << 20),
    local_memory_bytes=1 << 18,
)
LINE = 64


def x(*shape: int) -> Tensor:
    return Tensor.empty(*shape, device="PYTHON")


VALUES: dict[str, Callable[[], Tensor]] = {
    "matmul": lambda: x(1000, 512) @ x(512, 1001),
    "convolution": lambda: x(8, 64, 56, 56).conv2d(x(64, 64, 3, 3)),
    "softmax": lambda: x(4096, 1000).softmax(1),
    "odd rows": lambda: x(1000, 1001) + 1,
    "transpose": lambda: x(2000, 1500).T.contiguous(),
    "sum": lambda: x(1 << 22).sum(),
    "layer norm": lambda: x(512, 768).layernorm(),
    "gelu": lambda: x(2048, 1536).gelu(),
}


def kernels(value: Tensor, capabilities: Capabilities) -> Iterator[UOp]:
    """Yield the large kernels of a value with the heuristic's loops."""
    for call in create_schedule(UOp.sink(value.uop), {"PYTHON": CostModel.of(capabilities)}, "PYTHON").calls:
        found = optimise(KernelOpt(PREPARE.run(call.ast, capabilities), capabilities)).ast
        if any(r.arg.kind is AxisType.THREAD for r in all_ranges(found)) or len(call.memory) > 2:
            yield found


def spans(store: UOp, thread: UOp, pieces: int) -> list[tuple[int, int]]:
    """Return the first and the last byte that each piece stores."""
    size, address = store.src[0].dtype.itemsize, store.src[0].src[1]
    places = [simplify(address.substitute({thread: thread.const_like(t)})) for t in range(pieces)]
    return sorted((int(p.vmin) * size, int(p.vmax) * size) for p in places)


@pytest.mark.parametrize("threads", [8, 32, 128])
@pytest.mark.parametrize("name", VALUES)
def test_threads_have_equal_shares_and_lines_of_their_own(name: str, threads: int) -> None:
    found = list(kernels(VALUES[name](), replace(SERVER, threads=threads)))
    assert found
    for ast in found:
        (thread,) = [r for r in all_ranges(ast) if r.arg.kind is AxisType.THREAD]
        pieces = int(thread.src[0].vmax)
        # the busiest thread has at most half as much again as its part; of a map, 54 rows are shared
        most = 2.5 if name == "convolution" else 1.5
        assert -(-pieces // threads) * threads <= most * pieces
        for store in stores_of(ast):
            firsts = [first for first, _ in spans(store, thread, pieces)]
            # closer than a line, several threads would write one; a sum's pieces have a few lines in all
            apart = min((b - a for a, b in pairwise(firsts)), default=LINE)
            assert apart >= LINE or name == "sum"


@pytest.mark.parametrize("threads", [3, 7, 12, 24, 96, 128, 192])
@pytest.mark.parametrize("size", [250, 1000, 2000, 4097])
def test_any_number_of_threads_shares_any_axis(size: int, threads: int) -> None:
    # 2000 steps are 125 tiles of 16 for 128 threads
    for value in (x(size, 1500).T.contiguous(), x(size, 333) + 1, x(size, 64) @ x(64, size)):
        list(kernels(value, replace(SERVER, threads=threads)))
