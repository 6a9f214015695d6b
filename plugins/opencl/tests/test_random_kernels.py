"""Whatever optimisations do to a kernel, the device writes what its graph means."""

from collections.abc import Iterator

import pytest

from plugrad.codegen.lower import PREPARE, Lowered, lower
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.errors import KernelOptError
from plugrad.runtime.program import Program
from plugrad.target import Capabilities
from plugrad_conformance.testing.random_kernels import RandomKernel, random_kernel, random_opts
from plugrad_opencl.runner import OpenClRunner


def _variants(kernel: RandomKernel, capabilities: Capabilities, seed: int) -> Iterator[Lowered]:
    fresh = KernelOpt(PREPARE.run(kernel.ast, capabilities), capabilities)
    for opts in (None, random_opts(fresh, seed)):
        try:
            yield lower(kernel.ast, capabilities, opts)
        except KernelOptError as error:
            if opts is None or "do not fit a launch" not in str(error):
                raise


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_random_kernels_with_random_optimisations(context, allocator, compiler, renderer, first):
    for seed in range(first, first + 5):
        kernel = random_kernel(seed)
        want = kernel.expected()
        for lowered in _variants(kernel, renderer.capabilities, 3 * seed + 1):
            source = renderer.render(lowered.program, lowered.name)
            program = Program(
                name=lowered.name,
                source=source,
                lib=compiler.compile(source, lowered.name),
                global_size=lowered.global_size,
                local_size=lowered.local_size,
                threads=lowered.threads,
                variables=lowered.variables,
                outs=lowered.outs,
                ins=lowered.ins,
            )
            got = kernel.copies()
            blocks = tuple(allocator.alloc(raw.nbytes) for raw in got)
            for block, raw in zip(blocks, got, strict=True):
                allocator.copyin(block, memoryview(raw))
            values = tuple(kernel.variables[name] for name in program.variables)
            OpenClRunner(context, program)(blocks, values, *program.launch_dims(kernel.variables))
            for block, raw in zip(blocks, got, strict=True):
                allocator.copyout(memoryview(raw), block)
                allocator.free(block, raw.nbytes)
            wrong = kernel.difference(got, want)
            assert not wrong, f"kernel {seed}, opts {lowered.opts}: {wrong}\n{source}"
