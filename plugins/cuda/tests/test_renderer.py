"""Kernels go from tensors through codegen and the renderer to NVRTC (evidence E1), with no GPU."""

import pickle

import pytest

from plugrad import Tensor, dtypes
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.engine.realize import schedule
from plugrad.target import Target
from plugrad.uop.ops import Ops, identity_of
from plugrad.uop.uop import UOp
from plugrad_cuda.capabilities import ATOMIC_OPS, capabilities
from plugrad_cuda.compiler import CudaCompiler
from plugrad_cuda.layout import DYNAMIC_SHARED, divisor_of
from plugrad_cuda.renderer import CudaRenderer


def _target(arch="sm_90"):
    return Target("CUDA", arch=arch)


def _empty(*shape, dtype=dtypes.float32):
    return Tensor.empty(*shape, dtype=dtype, device="PYTHON")


def _render(tensor, arch="sm_90", opts=None):
    """Return (lowered kernel, source) of the last kernel that computes `tensor`."""
    target = _target(arch)
    ast = [item.ast for item in schedule([tensor.uop]) if item.ast.op is Ops.SINK][-1]
    lowered = lower(ast, capabilities(target), opts)
    return lowered, CudaRenderer(target).render(lowered.program, lowered.name)


@pytest.mark.usefixtures("nvrtc_library")
def test_kernels_compile(tensor, arch):
    lowered, source = _render(tensor, arch)
    assert f".text.{lowered.name}".encode() in CudaCompiler(_target(arch)).compile(source, lowered.name)


@pytest.mark.usefixtures("nvrtc_library")
def test_a_tiled_matmul_compiles_and_has_wide_accesses(arch):
    lowered, source = _render(_empty(512, 512) @ _empty(512, 512), arch)
    assert {opt.op for opt in lowered.opts} >= {OptOps.UPCAST, OptOps.LOCAL}
    assert "LOAD(float32x4, " in source
    assert "STORE(float32x4, " in source
    compiler = CudaCompiler(_target(arch))
    assert compiler.compile(source, lowered.name) != compiler.compile_unaligned(source, lowered.name)


def test_a_grouped_reduction_shares_memory_behind_barriers():
    _, source = _render(_empty(64, 4096).sum(axis=1))
    assert "__shared__ __align__(16) float local0[" in source
    assert "__syncthreads();" in source
    assert "__launch_bounds__(256, 1)" in source


@pytest.mark.usefixtures("nvrtc_library")
def test_shared_memory_beyond_what_may_be_declared_is_asked_for_at_the_launch(arch):
    target = _target(arch)
    tile = UOp(Ops.DEFINE_LOCAL, dtypes.float64, (), (0, 8192))
    param = UOp(Ops.PARAM, dtypes.float64, (), (0, 64))
    lane = UOp(Ops.SPECIAL, dtypes.int32, (UOp.const(dtypes.int32, 64),), "lidx0")
    place = UOp(Ops.INDEX, dtypes.float64, (tile, lane))
    store = UOp(Ops.STORE, dtypes.void, (place, UOp.const(dtypes.float64, 1.0)))
    barrier = UOp(Ops.BARRIER, dtypes.void, (store,))
    load = UOp(Ops.LOAD, dtypes.float64, (place,))
    out = UOp(Ops.STORE, dtypes.void, (UOp(Ops.INDEX, dtypes.float64, (param, lane)), load))
    program = [tile, param, lane.src[0], lane, place, store.src[1], store, barrier, load, out.src[0], out]
    source = CudaRenderer(target).render(program, "k")
    assert f"{DYNAMIC_SHARED}65536\n" in source
    assert b".text.k" in CudaCompiler(target).compile(source, "k")


def test_optimisations_by_hand_reach_the_source():
    matmul = _empty(64, 64) @ _empty(64, 64)
    plain = _render(matmul, opts=())[1]
    grouped = _render(matmul, opts=(Opt(OptOps.LOCAL, (0,), 16),))[1]
    assert "threadIdx" not in plain
    assert "threadIdx.x" in grouped


def test_shorts_are_negated_where_the_compiler_does_not_see_it():
    _, source = _render((-_empty(64, dtype=dtypes.int16)).cast(dtypes.int64))
    assert 'asm("neg.s32 %0, %1;"' in source
    assert "negated_short(val0)" in source


def test_long_addresses_are_computed_in_64_bits():
    assert "long long" in _render(_empty(1 << 17, 1 << 17, dtype=dtypes.uint8) + 1)[1]


def test_renderers_pickle_and_write_the_same():
    lowered, source = _render(_empty(4096) + 1)
    again = pickle.loads(pickle.dumps(CudaRenderer(_target())))
    assert again.render(lowered.program, lowered.name) == source


def test_divisors_of_addresses():
    i = UOp.variable("i", 0, 1 << 20)
    assert divisor_of(i) == 1
    assert divisor_of(i * 4 + 8) == 4
    assert divisor_of(i * 12) == 4
    assert divisor_of(UOp.const(dtypes.int32, 0)) == 64
    assert divisor_of(i * 256) == 64


@pytest.mark.usefixtures("nvrtc_library")
@pytest.mark.parametrize(("name", "dtype"), sorted(ATOMIC_OPS, key=str), ids=str)
def test_elements_are_updated_by_functions_that_nvrtc_knows(name, dtype, arch):
    position, x = _empty(5000, dtype=dtypes.int32), _empty(5000, dtype=dtype)
    here = Tensor.arange(1000, dtype=dtypes.int32, device="PYTHON").reshape(1000, 1)
    op = Ops[name]
    chosen = (here == position).where(x, identity_of(op, dtype))
    lowered, source = _render(chosen.sum(1, dtype=dtype) if op is Ops.ADD else chosen.max(1), arch)
    assert f"atomic{name.title()}(" in source
    assert lowered.ins[0] == lowered.outs[0] == 0
    assert CudaCompiler(_target(arch)).compile(source, lowered.name)
