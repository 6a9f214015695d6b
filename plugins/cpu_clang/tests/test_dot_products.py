"""Sums of products of neighbouring factors, on machines that have instructions for them."""

from dataclasses import replace

import numpy as np
import pytest

from plugrad import Tensor, dtypes
from plugrad.events import KernelEvent, LowerEvent, subscribe
from plugrad.settings import context
from plugrad.uop.ops import Ops
from plugrad_cpu_clang.dot_products import CORES, dot_products
from plugrad_cpu_clang.machine import this_machine
from plugrad_cpu_clang.renderer import cpu_capabilities

OWN = {core.name for core in dot_products(this_machine())}


def test_a_machine_has_what_its_flags_say() -> None:
    wide = replace(this_machine(), vector_bits=512, flags=frozenset({"avx512_vnni"}))
    assert [core.name for core in dot_products(wide)] == ["vpdpbusd"]
    both = replace(wide, flags=frozenset({"avx512_vnni", "avx512_bf16"}))
    assert dot_products(both) == CORES == cpu_capabilities(both).tensor_cores
    assert not dot_products(replace(both, vector_bits=256))


@pytest.mark.skipif("vpdpbusd" not in OWN, reason="this processor has no VPDPBUSD of 512 bits")
@pytest.mark.parametrize("shape", [(64, 8, 16), (70, 12, 130), (128, 256, 96)])
def test_products_of_bytes_are_exact_at_both_ends_of_their_range(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    a, b = (rng.choice([-128, 127, -1, 5], s).astype(np.int8) for s in ((rows, inner), (inner, columns)))
    a[0], b[:, 0] = -128, -128
    found = (Tensor(a, device="CPU").int() @ Tensor(b, device="CPU").int()).numpy()
    np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.skipif("vdpbf16ps" not in OWN, reason="this processor has no VDPBF16PS of 512 bits")
def test_products_of_bfloat16_are_added_up_in_float32() -> None:
    rng = np.random.default_rng(0)
    a, b = (
        Tensor(rng.standard_normal(s, np.float32), dtype=dtypes.bfloat16, device="CPU")
        for s in ((80, 512), (512, 48))
    )
    wanted = a.float().numpy().astype(np.float64) @ b.float().numpy().astype(np.float64)
    found = a.matmul(b, dtype=dtypes.float32).numpy()
    # a rounding of float32 for each of 512 products, which are around 1
    np.testing.assert_allclose(found, wanted, atol=512 * 2**-24 * 4)


@pytest.mark.skipif(not OWN, reason="this processor has no dot products of 512 bits")
def test_narrow_factors_are_read_as_they_are() -> None:
    name = sorted(OWN)[0]
    (core,) = (core for core in CORES if core.name == name)
    a, b = (
        Tensor.ones(*s, dtype=core.dtype_in, device="CPU").contiguous().realize()
        for s in ((96, 64), (64, 32))
    )
    lowered: list[LowerEvent] = []
    launched: list[KernelEvent] = []
    with context(THREADS=1), subscribe(LowerEvent, lowered.append), subscribe(KernelEvent, launched.append):
        found = a.cast(core.dtype_out).matmul(b.cast(core.dtype_out)).realize()
    assert len(launched) == 1
    assert all(any(u.op is Ops.WMMA for u in event.linear) for event in lowered)
    assert (found.numpy() == 64).all()
