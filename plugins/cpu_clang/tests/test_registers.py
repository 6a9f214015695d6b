from plugrad.codegen.linearizer import linearize, remove_unused
from plugrad.dtype import dtypes
from plugrad.uop.ops import AxisType, Ops
from plugrad.uop.uop import UOp
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.prefetching import innermost_loops
from plugrad_cpu_clang.registers import loads_to_hold
from plugrad_cpu_clang.renderer import CpuRenderer, cpu_capabilities

CAPABILITIES = cpu_capabilities(this_machine())
i32, f32x4 = dtypes.int32, dtypes.float32.vec(4)
out, x, y = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 1 << 20)) for slot in range(3))


def tile(rows: int) -> list[UOp]:
    """Return a program of `rows` sums of a number of their own times one vector."""
    size = UOp.const(i32, 64)
    k = UOp(Ops.RANGE, i32, (size,), UOp.range(64, 0, AxisType.REDUCE).arg)
    vector = y.index(k * 4).load(dtype=f32x4)
    numbers = (x.index(k * 16 + row).load() for row in range(rows))
    products = (UOp(Ops.VECTORIZE, f32x4, (n,) * 4) * vector for n in numbers)
    stores = (out.index(UOp.const(i32, 4 * n)).store(p.reduce(Ops.ADD, k)) for n, p in enumerate(products))
    program = remove_unused(linearize(UOp.sink(*stores), CAPABILITIES))
    return program


def held(rows: int, registers: int) -> int:
    return len(loads_to_hold(innermost_loops(tile(rows)), registers))


def test_a_vector_that_several_products_read_is_held() -> None:
    assert held(rows=3, registers=16) == 1


def test_a_vector_that_one_product_reads_may_come_from_memory() -> None:
    assert held(rows=1, registers=16) == 0


def test_no_vector_is_held_where_registers_are_short() -> None:
    assert held(rows=6, registers=7) == 0


def test_the_source_says_what_is_held() -> None:
    source = CpuRenderer(CAPABILITIES).render(tile(3), "tile")
    assert source.count("HOLD(val") == 1
    assert "HOLD" not in CpuRenderer(CAPABILITIES).render(tile(1), "tile")
