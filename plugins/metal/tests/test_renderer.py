"""Test the MSL of kernels, without a GPU."""

import pickle

import pytest

from plugrad import Tensor, dtypes
from plugrad.codegen.lower import lower
from plugrad.codegen.opt.opt_ops import Opt, OptOps
from plugrad.engine.realize import schedule
from plugrad.errors import DtypeError
from plugrad.target import Target
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_metal.capabilities import capabilities
from plugrad_metal.renderer import MetalRenderer


def _target(language="3.1"):
    return Target("METAL", arch="apple9", detail=(("device", "a GPU"), ("language", language)))


def _empty(*shape, dtype=dtypes.float32):
    return Tensor.empty(*shape, dtype=dtype, device="PYTHON")


def _render(tensor, language="3.1", opts=None):
    """Return (lowered kernel, source) of the last kernel that computes `tensor`."""
    target = _target(language)
    ast = [item.ast for item in schedule([tensor.uop]) if item.ast.op is Ops.SINK][-1]
    lowered = lower(ast, capabilities(target), opts)
    return lowered, MetalRenderer(target).render(lowered.program, "k")


def test_a_kernel_is_as_expected(golden):
    opts = (Opt(OptOps.UPCAST, (0,), 4), Opt(OptOps.LOCAL, (0, 0), 16))
    golden("scale.metal", _render(_empty(1024) * 2 + 1, opts=opts)[1])


def test_a_grouped_reduction_shares_memory_behind_barriers():
    _, source = _render(_empty(64, 4096).sum(axis=1))
    assert "  threadgroup float local0[" in source
    assert "threadgroup_barrier(mem_flags::mem_threadgroup);" in source
    assert "[[kernel, max_total_threads_per_threadgroup(256)]]" in source


@pytest.mark.parametrize(
    ("dtype", "packed"),
    [
        (dtypes.float32, "packed_float4"),
        (dtypes.float16, "packed_half4"),
        (dtypes.bfloat16, "packed_bfloat4"),
        (dtypes.uint8, "packed_uchar4"),
        (dtypes.bool, "packed_uchar4"),
        (dtypes.int64, "packed_long2"),
        (dtypes.uint64, "packed_long2"),
    ],
)
def test_wide_accesses_are_packed_vectors_of_four_lanes_or_16_bytes(dtype, packed):
    _, source = _render(
        _empty(1024, dtype=dtype).logical_not().logical_not(), opts=(Opt(OptOps.UPCAST, (0,), 8),)
    )
    assert f"(device const {packed} *)" in source


def test_bfloat16_is_a_type_of_new_languages_and_bits_in_old_ones():
    x = _empty(64, dtype=dtypes.bfloat16) * 2
    new, old = _render(x)[1], _render(x, "3.0")[1]
    assert "device bfloat *data0 [[buffer(0)]]" in new
    assert "((float)val0)" in new
    assert "((bfloat)" in new
    assert "device ushort *data0 [[buffer(0)]]" in old
    assert "float_from_bfloat(val0)" in old
    assert "bfloat_from_float(" in old


def test_float64_is_a_dtype_error():
    out = UOp(Ops.PARAM, dtypes.float64, (), (0, 4))
    store = UOp(Ops.STORE, dtypes.void, (out, UOp.const(dtypes.float64, 1.0)))
    with pytest.raises(DtypeError, match=r"METAL \(a GPU\) has no float64"):
        MetalRenderer(_target()).render([out, store.src[1], store], "k")


def test_variables_are_one_array_behind_the_buffers():
    n, m = (UOp(Ops.DEFINE_VAR, dtypes.int32, (), (name, 1, 64)) for name in "nm")
    out = UOp(Ops.PARAM, dtypes.int32, (), (3, 64))
    place = UOp(Ops.INDEX, dtypes.int32, (out, n))
    source = MetalRenderer(_target()).render([n, m, out, place, UOp(Ops.STORE, dtypes.void, (place, m))], "k")
    assert "void k(device int *data3 [[buffer(0)]], constant long *values [[buffer(1)]], uint3" in source
    assert "const int v_m = values[0];\n  const int v_n = values[1];" in source


def test_square_roots_of_float32_are_the_exact_ones():
    assert "precise::sqrt(" in _render(_empty(64).sqrt())[1]
    half = _render(_empty(64, dtype=dtypes.float16).sqrt())[1]
    assert " sqrt(" in half
    assert "precise" not in half


def test_long_addresses_are_computed_in_64_bits():
    assert "long" in _render(_empty(1 << 17, 1 << 17, dtype=dtypes.uint8) + 1)[1]


def test_renderers_pickle_and_write_the_same():
    lowered, source = _render(_empty(4096) + 1)
    again = pickle.loads(pickle.dumps(MetalRenderer(_target())))
    assert again.render(lowered.program, "k") == source


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.uint32, dtypes.float32], ids=str)
def test_elements_are_updated_as_atomics_of_their_type(dtype):
    position, x = _empty(5000, dtype=dtypes.int32), _empty(5000, dtype=dtype)
    here = Tensor.arange(1000, dtype=dtypes.int32, device="PYTHON").reshape(1000, 1)
    _, source = _render((here == position).where(x, 0).sum(1, dtype=dtype))
    kind = {dtypes.int32: "int", dtypes.uint32: "uint", dtypes.float32: "float"}[dtype]
    assert f"atomic_fetch_add_explicit((device atomic_{kind} *)(data0+" in source


def test_floats_are_updated_from_the_version_on_that_has_them():
    sums = [
        ("ADD", dtypes.float32) in capabilities(_target(version)).atomic_ops for version in ("2.4", "3.0")
    ]
    assert sums == [False, True]
    integers = {(op, d) for op in ("ADD", "MAX") for d in (dtypes.int32, dtypes.uint32)}
    assert capabilities(_target("2.4")).atomic_ops == integers
