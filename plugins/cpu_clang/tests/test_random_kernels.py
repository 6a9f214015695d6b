"""Random kernels under random optimisations, compiled: they write what their graphs mean."""

import numpy as np
import pytest

from plugrad.codegen.lower import PREPARE
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.device import Device
from plugrad.engine.compile import CompiledKernel, compile_kernels
from plugrad_conformance.testing.random_kernels import RandomKernel, random_kernel, random_opts

_SEEDS = range(24)


def written(kernel: RandomKernel, compiled: CompiledKernel) -> list[np.ndarray]:
    """Return what the buffers hold after a launch."""
    allocator, program = compiled.device.allocator, compiled.program
    handles = [allocator.alloc(b.nbytes) for b in kernel.buffers]
    for handle, contents in zip(handles, kernel.buffers, strict=True):
        allocator.copyin(handle, memoryview(contents))
    values = tuple(kernel.variables[name] for name in program.variables)
    compiled.runner(tuple(handles), values, *program.launch_dims(kernel.variables), True)
    out = kernel.copies()
    for handle, contents in zip(handles, out, strict=True):
        allocator.copyout(memoryview(contents), handle)
        allocator.free(handle, contents.nbytes)
    return out


@pytest.mark.parametrize("opts", [(), None])
def test_random_kernels_write_what_they_mean(opts: tuple[()] | None) -> None:
    kernels = [random_kernel(seed) for seed in _SEEDS]
    compiled = compile_kernels(Device["CPU"], [k.ast for k in kernels], opts)
    for seed, kernel, program in zip(_SEEDS, kernels, compiled, strict=True):
        assert not kernel.difference(written(kernel, program), kernel.expected()), f"kernel {seed}"


@pytest.mark.parametrize("seed", _SEEDS)
def test_random_optimisations_of_random_kernels_write_the_same(seed: int) -> None:
    kernel, device = random_kernel(seed), Device["CPU"]
    opts = random_opts(KernelOpt(PREPARE.run(kernel.ast, device.capabilities), device.capabilities), seed)
    (compiled,) = compile_kernels(device, [kernel.ast], opts)
    assert not kernel.difference(written(kernel, compiled), kernel.expected()), f"{opts}"
