"""Search for kernels that optimisations break: `python -m plugrad_conformance.testing.kernel_search --help`.

Random kernels are lowered for several targets, as plain loops, with what the heuristic chooses and with
random optimisations, and run by the interpreter: they write what their graphs mean. So do random products of
matrices with random matrix instructions.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.progress import track

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.lower import PREPARE, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt
from plugrad.dtype import STORABLE, dtypes
from plugrad.errors import KernelOptError, PlugradError
from plugrad.target import Capabilities
from plugrad.uop.spec import kernel_spec, verify
from plugrad_conformance.testing.kernels import run_lowered
from plugrad_conformance.testing.random_kernels import RandomKernel, random_kernel, random_opts
from plugrad_conformance.testing.random_products import random_core, random_product, random_product_opts

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
MATRIX_TARGETS = {
    "grid": replace(CAPABILITIES, max_load_bits=128, compute_dtypes=_WITHOUT_HALVES),
    "small grid": TARGETS["small grid"],
}


def check_kernel(seed: int, target: str, *opt_seeds: int) -> str:
    """Return the error of the random kernel of `seed` on one of `TARGETS`, or "".

    Args:
        seed: of the kernel.
        target: a key of `TARGETS`.
        opt_seeds: of the random optimisations that are tried besides none and the heuristic's.
    """
    kernel, capabilities = random_kernel(seed), TARGETS[target]
    chosen = [random_opts(_prepared(kernel, capabilities), opt_seed) for opt_seed in opt_seeds]
    return _check(kernel, capabilities, [(), None, *chosen])


def check_product(seed: int, target: str) -> str:
    """Return the error of the random product of `seed` on a target, or ""."""
    core = random_core(seed)
    kernel = random_product(seed, core)
    capabilities = replace(MATRIX_TARGETS[target], tensor_cores=(core,))
    opts = random_product_opts(_prepared(kernel, capabilities), seed, core)
    return _check(kernel, capabilities, [(), None, opts])


def _prepared(kernel: RandomKernel, capabilities: Capabilities) -> KernelOpt:
    return KernelOpt(PREPARE.run(kernel.ast, capabilities), capabilities)


def _check(kernel: RandomKernel, capabilities: Capabilities, chosen: Sequence[tuple[Opt, ...] | None]) -> str:
    verify(kernel.ast, kernel_spec)
    want = kernel.expected()
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
        if wrong := kernel.difference(got, want):
            return f"opts {opts}: {wrong}\n{kernel.ast!r}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check kernels and products of many seeds; return the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--count", type=int, default=100, help="how many seeds (100)")
    parser.add_argument("--products", action="store_true", help="products of matrices instead of any kernels")
    given = parser.parse_args(arguments)
    console, failed = Console(stderr=True), 0
    targets = MATRIX_TARGETS if given.products else TARGETS
    for seed in track(range(given.first, given.first + given.count), "kernels", console=console):
        for target in targets:
            try:
                wrong = (
                    check_product(seed, target)
                    if given.products
                    else check_kernel(seed, target, seed * 3 + 1, seed * 3 + 2)
                )
            except (PlugradError, AssertionError, ArithmeticError, LookupError, ValueError) as error:
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                print(f"seed {seed}, {target}: {wrong}\n", flush=True)
                failed += 1
    print(f"{given.count} kernels on {len(targets)} targets: {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
