"""The decisive test: whatever optimisations do to a kernel, it writes what its graph means."""

from dataclasses import replace

import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.testing.kernels import run_lowered
from plugrad.testing.random_kernels import random_kernel, random_opts
from plugrad.uop.spec import kernel_spec, verify

_INTEGERS = ("CDIV", "CMOD", "SHL", "SHR", "AND", "OR", "XOR")
_NATIVE = frozenset(
    {*_INTEGERS, "ADD", "SUB", "MUL", "NEG", "MAX", "WHERE", "MULACC", "FDIV", "RECIP", "SQRT", "TRUNC"}
)
_WITHOUT_HALVES = frozenset(STORABLE) - {dtypes.float16, dtypes.bfloat16}
_LOOPS = replace(
    CAPABILITIES,
    grid_dims=0,
    max_grid=(),
    max_workgroup=0,
    max_workgroup_dims=(),
    compute_dtypes=_WITHOUT_HALVES,
)
TARGETS = {
    "grid": CAPABILITIES,
    "small grid": replace(
        CAPABILITIES,
        grid_dims=2,
        max_grid=(1 << 16, 1 << 16),
        max_workgroup=64,
        max_workgroup_dims=(64, 8),
        max_load_bits=128,
        local_memory_bytes=1 << 10,
        native_ops=_NATIVE - {"MAX", "MULACC", "CMOD"},
        compute_dtypes=_WITHOUT_HALVES,
    ),
    "vectors": replace(_LOOPS, vector_bits=256, max_load_bits=256, threads=4, native_ops=_NATIVE),
    "narrow loads": replace(
        _LOOPS, vector_bits=512, max_load_bits=128, threads=2, native_ops=_NATIVE - {"MULACC", "MAX", "TRUNC"}
    ),
    "scalar": replace(_LOOPS, max_load_bits=64),
}


def check(seed: int, capabilities: Capabilities, *opt_seeds: int) -> None:
    kernel = random_kernel(seed)
    verify(kernel.ast, kernel_spec)
    want = kernel.expected()
    chosen = [(), None]
    for opt_seed in opt_seeds:
        fresh = KernelOpt(PREPARE.run(kernel.ast, capabilities), capabilities)
        chosen.append(random_opts(fresh, opt_seed))
    for opts in chosen:
        try:
            lowered = lower(kernel.ast, capabilities, opts)
        except KernelOptError as error:
            # each axis fits the workgroup's size, and not all of them its dimensions
            if not opts or "do not fit a launch" not in str(error):
                raise
            continue
        got = kernel.copies()
        run_lowered(lowered, got, kernel.variables)
        wrong = kernel.difference(got, want)
        assert not wrong, f"kernel {seed}, opts {opts}: {wrong}\n{kernel.ast!r}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first", range(0, 32, 8))
def test_any_optimisation_of_any_kernel_writes_the_same(target: str, first: int) -> None:
    for seed in range(first, first + 8):
        check(seed, TARGETS[target], seed * 3 + 1, seed * 3 + 2)
