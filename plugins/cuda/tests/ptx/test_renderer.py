"""Linear programs become PTX that NVIDIA's assembler takes (evidence E1), with no GPU."""

import pickle
import re

import pytest

from plugrad import Tensor, dtypes
from plugrad.codegen.lower import lower
from plugrad.dtype import STORABLE
from plugrad.engine.realize import schedule
from plugrad.target import Target
from plugrad.uop.ops import Axis, AxisType, Ops, identity_of
from plugrad.uop.uop import UOp
from plugrad_cuda.capabilities import ATOMIC_OPS
from plugrad_cuda.layout import DYNAMIC_SHARED, UNALIGNED
from plugrad_cuda.ptx.renderer import BEHIND_ALIGNED, PtxRenderer


def _target(arch="sm_90"):
    return Target("CUDA", arch=arch)


def _empty(*shape, dtype=dtypes.float32):
    return Tensor.empty(*shape, dtype=dtype, device="PYTHON")


def _lowered(tensor, arch):
    asts = [item.ast for item in schedule([tensor.uop]) if item.ast.op is Ops.SINK]
    return [lower(ast, PtxRenderer(_target(arch)).capabilities) for ast in asts]


def _render(tensor, arch="sm_90"):
    """Return the source of the last kernel that computes `tensor`."""
    kernel = _lowered(tensor, arch)[-1]
    return PtxRenderer(_target(arch)).render(kernel.program, kernel.name)


def _render_one(op, dtype, count, arch="sm_90"):
    """Return the source of a kernel that applies one operation to what it loads."""
    place = UOp.const(dtypes.int32, 0)
    params = [UOp(Ops.PARAM, dtype, (), (slot, 1)) for slot in range(1, count + 1)]
    places = [UOp(Ops.INDEX, dtype, (param, place)) for param in params]
    loads = [UOp(Ops.LOAD, dtype, (index,)) for index in places]
    value = UOp(op, dtypes.bool if op is Ops.CMPLT else dtype, tuple(loads))
    out = UOp(Ops.PARAM, value.dtype, (), (0, 1))
    index = UOp(Ops.INDEX, value.dtype, (out, place))
    store = UOp(Ops.STORE, dtypes.void, (index, value))
    return PtxRenderer(_target(arch)).render([place, out, *params, *places, *loads, value, index, store], "k")


def test_the_assembler_takes_every_kernel(tensor, arch, ptxas):
    for kernel in _lowered(tensor, arch):
        source = PtxRenderer(_target(arch)).render(kernel.program, kernel.name)
        for module in source.split(BEHIND_ALIGNED):
            assert ptxas(module, arch) == "", module


def test_a_module_names_the_version_and_the_target():
    assert _render(_empty(64) + 1, "sm_80").startswith(".version 7.0\n.target sm_80\n")


def test_vectors_are_one_access_and_other_buffers_have_a_second_module():
    aligned, anywhere = _render(_empty(512, 512) @ _empty(512, 512)).split(BEHIND_ALIGNED)
    assert "ld.global.nc.v4.f32 {" in aligned
    assert "st.global.v4.f32 [" in aligned
    assert not re.search(r"\.v[24]\.", anywhere)
    assert UNALIGNED in BEHIND_ALIGNED


def test_small_values_are_moved_as_words():
    source = _render(_empty(1 << 20, dtype=dtypes.int8) + _empty(1 << 20, dtype=dtypes.int8))
    aligned = source.split(BEHIND_ALIGNED)[0]
    assert re.search(r"ld\.global\.nc(\.v[24])?\.b32", aligned)
    assert re.search(r"bfe\.s32 %r\d+, %r\d+, 24, 8;", aligned)
    assert re.search(r"bfi\.b32 %r\d+, %r\d+, %r\d+, 24, 8;", aligned)


def test_constant_parts_of_addresses_stay_in_the_instruction():
    source = _render(_empty(1024, 1024) @ _empty(1024, 1024))
    assert re.search(r"ld\.global\.nc\.v4\.f32 \{.*\}, \[%l\d+\+32768\];", source)


def test_a_closed_gate_reads_nothing():
    source = _render(_empty(61, 61).pad(((1, 2), (3, 4))) + 1)
    assert re.search(r"mov\.f32 (%f\d+), 0f00000000;\n  @%p\d+ ld\.global\.nc\.f32 \1, ", source)


def test_a_grouped_reduction_shares_memory_behind_barriers():
    source = _render(_empty(64, 4096).sum(axis=1))
    assert re.search(r"\.shared \.align 16 \.b8 local0\[\d+\];", source)
    assert "bar.sync 0;" in source
    assert "st.shared.f32 [" in source
    assert ".maxntid 256, 1, 1\n.minnctapersm 1\n" in source


@pytest.mark.parametrize("numel", [4096, 8192])
def test_shared_memory_beyond_what_may_be_declared_is_asked_for_at_the_launch(numel, arch, ptxas):
    tile = UOp(Ops.DEFINE_LOCAL, dtypes.float64, (), (0, numel))
    param = UOp(Ops.PARAM, dtypes.float64, (), (0, 64))
    size = UOp.const(dtypes.int32, 64)
    lane = UOp(Ops.SPECIAL, dtypes.int32, (size,), "lidx0")
    place = UOp(Ops.INDEX, dtypes.float64, (tile, lane))
    one = UOp.const(dtypes.float64, 1.0)
    store = UOp(Ops.STORE, dtypes.void, (place, one))
    barrier = UOp(Ops.BARRIER, dtypes.void, (store,))
    load = UOp(Ops.LOAD, dtypes.float64, (place,))
    index = UOp(Ops.INDEX, dtypes.float64, (param, lane))
    out = UOp(Ops.STORE, dtypes.void, (index, load))
    program = [tile, param, size, lane, place, one, store, barrier, load, index, out]
    source = PtxRenderer(_target(arch)).render(program, "k")
    assert (f"{DYNAMIC_SHARED}65536\n" in source) == (numel == 8192)
    assert ptxas(source, arch) == ""


@pytest.mark.parametrize("dtype", STORABLE)
def test_every_dtype_goes_through_registers(dtype, arch, ptxas):
    x, y = _empty(64, dtype=dtype), _empty(64, dtype=dtype)
    source = _render((_empty(64) < 0).where(x, y), arch)
    assert ptxas(source, arch) == ""


@pytest.mark.parametrize("size", [8, 0, None])
def test_a_loop_asks_before_its_first_turn_where_its_size_does_not_say(size, ptxas):
    i32 = dtypes.int32
    last = UOp(Ops.DEFINE_VAR, i32, (), ("n", 0, 8)) if size is None else UOp.const(i32, size)
    param = UOp(Ops.PARAM, i32, (), (0, 8))
    loop = UOp(Ops.RANGE, i32, (last,), Axis((0,), AxisType.LOOP))
    place = UOp(Ops.INDEX, i32, (param, loop))
    store = UOp(Ops.STORE, dtypes.void, (place, loop))
    end = UOp(Ops.END, dtypes.void, (loop,))
    source = PtxRenderer(_target()).render([param, last, loop, place, store, end], "k")
    assert ("bra loop1_end;\nloop1:" in source) == (size != 8)
    assert ptxas(source, "sm_90") == ""


def test_sums_are_not_contracted_and_multiply_adds_are():
    assert "add.rn.f32" in _render_one(Ops.ADD, dtypes.float32, 2)
    assert "fma.rn.f64" in _render_one(Ops.MULACC, dtypes.float64, 3)


def test_older_gpus_compare_for_a_maximum_in_which_nan_wins():
    assert "max.NaN.f32" in _render_one(Ops.MAX, dtypes.float32, 2, "sm_80")
    assert "setp.gt.or.f32" in _render_one(Ops.MAX, dtypes.float32, 2, "sm_75")


def test_older_gpus_round_to_bfloat16_by_integers():
    x = _empty(64).cast(dtypes.bfloat16)
    assert "cvt.rn.bf16.f32" in _render(x, "sm_80")
    assert "bf16" not in _render(x, "sm_75")


def test_small_integers_wrap_where_they_may_leave_their_range():
    assert re.search(r"add\.s32 (%r\d+).*\n  cvt\.s32\.s8 %r\d+, \1;", _render_one(Ops.ADD, dtypes.int8, 2))
    assert "and.b32" in _render_one(Ops.MUL, dtypes.uint16, 2)
    assert "cvt.s32" not in _render_one(Ops.MAX, dtypes.int8, 2)


def test_no_division_is_by_zero():
    source = _render_one(Ops.CDIV, dtypes.uint32, 2)
    assert re.search(r"selp\.b32 (%r\d+), 1, .*\n  div\.u32 %r\d+, %r\d+, \1;", source)


def test_an_op_that_codegen_should_have_taken_apart_is_refused():
    with pytest.raises(NotImplementedError, match=r"PTX has no Ops\.SIN"):
        _render_one(Ops.SIN, dtypes.float32, 1)


def test_renderers_pickle_and_write_the_same():
    kernel = _lowered(_empty(4096) + 1, "sm_90")[-1]
    renderer = PtxRenderer(_target())
    again = pickle.loads(pickle.dumps(renderer))
    assert again.render(kernel.program, kernel.name) == renderer.render(kernel.program, kernel.name)


@pytest.mark.parametrize(("name", "dtype"), sorted(ATOMIC_OPS, key=str), ids=str)
def test_elements_are_updated_by_reductions_of_memory(name, dtype, arch, ptxas):
    position, x = _empty(5000, dtype=dtypes.int32), _empty(5000, dtype=dtype)
    here = Tensor.arange(1000, dtype=dtypes.int32, device="PYTHON").reshape(1000, 1)
    op = Ops[name]
    chosen = (here == position).where(x, identity_of(op, dtype))
    source = _render(chosen.sum(1, dtype=dtype) if op is Ops.ADD else chosen.max(1), arch)
    assert f"red.global.{name.lower()}." in source
    for module in source.split(BEHIND_ALIGNED):
        assert ptxas(module, arch) == "", module
