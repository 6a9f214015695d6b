"""Matrix instructions as data, and the MSL they become; what they compute is tested by the stand-in."""

import pytest

from plugrad import Tensor, dtypes
from plugrad.codegen.lower import lower
from plugrad.engine.realize import schedule
from plugrad.target import Target
from plugrad.uop.ops import Ops
from plugrad_metal.capabilities import can_replay, capabilities, generation_of
from plugrad_metal.renderer import MetalRenderer
from plugrad_metal.tensor_cores import tensor_cores


def _target(arch="apple9", language="3.1"):
    return Target("METAL", arch=arch, detail=(("device", "a GPU"), ("language", language)))


def _dtypes_in(target):
    return [core.dtype_in for core in capabilities(target).tensor_cores]


def _product(dtype, target, size=64):
    """Return (lowered kernel, source) of a product of square matrices."""
    x, y = (Tensor.empty(size, size, dtype=dtype, device="PYTHON") for _ in range(2))
    ast = [item.ast for item in schedule([(x @ y).uop]) if item.ast.op is Ops.SINK][-1]
    lowered = lower(ast, capabilities(target))
    return lowered, MetalRenderer(target).render(lowered.program, "k")


def test_a_thread_holds_two_neighbours_of_a_row():
    for core in tensor_cores(9, has_bfloat=True):
        for fragment, (rows, columns) in ((core.a, "mk"), (core.b, "kn"), (core.c, "mn")):
            for lane in range(32):
                quarter = lane // 4
                row, column = (quarter & 4) + lane // 2 % 4, (quarter & 2) * 2 + lane % 2 * 2
                assert [fragment.coordinate(rows, lane, place) for place in range(2)] == [row, row]
                assert [fragment.coordinate(columns, lane, place) for place in range(2)] == [
                    column,
                    column + 1,
                ]


@pytest.mark.parametrize(("arch", "generation"), [("apple7", 7), ("apple10", 10), ("mac2", 0), ("", 0)])
def test_generations_are_read_from_families(arch, generation):
    assert generation_of(_target(arch)) == generation


def test_apples_gpus_have_them_and_bfloat_where_the_language_has():
    assert _dtypes_in(_target("apple7")) == [dtypes.float16, dtypes.bfloat16, dtypes.float32]
    assert _dtypes_in(_target("apple7", "3.0")) == [dtypes.float16, dtypes.float32]
    assert _dtypes_in(_target("mac2")) == []


def test_apple9_and_newer_replay():
    assert [can_replay(_target(arch)) for arch in ("mac2", "apple7", "apple8", "apple9", "apple12")] == [
        *(False, False, False),
        *(True, True),
    ]


def test_a_product_is_as_expected(golden):
    lowered, source = _product(dtypes.float16, _target(), size=8)
    assert any(u.op is Ops.WMMA for u in lowered.program)
    golden("product.metal", source)


@pytest.mark.parametrize(
    ("dtype", "matrix"),
    [
        (dtypes.float16, "simdgroup_half8x8"),
        (dtypes.bfloat16, "simdgroup_bfloat8x8"),
        (dtypes.float32, "simdgroup_float8x8"),
    ],
)
def test_products_are_of_matrices_of_their_dtype(dtype, matrix):
    _, source = _product(dtype, _target())
    assert f"  {matrix} ma, mb;\n  simdgroup_float8x8 mc;\n" in source


def test_products_of_bfloat_bits_are_of_matrices_of_float():
    lowered, source = _product(dtypes.bfloat16, _target(language="3.0"))
    assert any(u.op is Ops.WMMA for u in lowered.program)
    assert "simdgroup_float8x8 ma, mb;" in source
    assert "float_from_bfloat(" in source


def test_other_gpus_have_none():
    lowered, source = _product(dtypes.float32, _target("mac2"))
    assert all(u.op is not Ops.WMMA for u in lowered.program)
    assert "simdgroup" not in source
