"""The matrix instructions: who has which, where their elements are, and that both compilers take them."""

import re

import pytest

from plugrad import dtypes
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.target import Target
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.fragments import faults_of
from plugrad_cuda.capabilities import capabilities, version_of
from plugrad_cuda.compiler import CudaCompiler
from plugrad_cuda.ptx.renderer import BEHIND_ALIGNED, PtxRenderer
from plugrad_cuda.renderer import CudaRenderer
from plugrad_cuda.tensor_cores import opcode, tensor_cores

ARCHS = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_100")
EVERY = [(arch, core) for arch in ARCHS for core in tensor_cores(version_of(arch), allows_tf32=True)]
each_instruction = pytest.mark.parametrize(
    ("arch", "core"), EVERY, ids=[f"{arch}-{core.name}" for arch, core in EVERY]
)
each_core = pytest.mark.parametrize(
    "core", {core.name: core for _, core in EVERY}.values(), ids=lambda core: core.name
)


def _taken(arch, **settings):
    return {core.dtype_in for core in capabilities(Target("CUDA", arch=arch), **settings).tensor_cores}


def test_each_generation_has_more():
    bytes_ = {dtypes.int8, dtypes.uint8}
    float8 = {dtypes.fp8e4m3, dtypes.fp8e5m2}
    assert _taken("sm_70") == set()
    assert _taken("sm_75") == {dtypes.float16} | bytes_
    assert _taken("sm_80") == _taken("sm_86") == {dtypes.float16, dtypes.bfloat16} | bytes_
    assert _taken("sm_89") == _taken("sm_90") == _taken("sm_120") == _taken("sm_80") | float8


def test_float32_is_rounded_only_where_the_user_asks_for_it():
    assert dtypes.float32 not in _taken("sm_90")
    assert _taken("sm_90", allows_tf32=True) == _taken("sm_90") | {dtypes.float32}
    assert _taken("sm_75", allows_tf32=True) == _taken("sm_75")


def test_drivers_older_than_the_instructions_of_float8_do_without():
    older, newer = ({core.dtype_in for core in tensor_cores((9, 0), driver=d)} for d in (12030, 12040))
    assert newer - older == {dtypes.fp8e4m3, dtypes.fp8e5m2}


def test_names_tell_the_instructions_of_a_gpu_apart():
    for arch in ARCHS:
        names = [core.name for core in tensor_cores(version_of(arch), allows_tf32=True)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("arch", ARCHS)
def test_instructions_are_as_the_conformance_suite_wants_them(arch):
    assert faults_of(capabilities(Target("CUDA", arch=arch), allows_tf32=True)) == []


def _of_a(shape, group, member, i):
    """Return row and column of a thread's element i of A, by the PTX ISA."""
    match shape:
        case "m8n8k16":
            return group, member * 4 + i
        case "m16n8k8_tf32":
            return group + 8 * (i % 2), member + 4 * (i >= 2)
        case "m16n8k8":
            return group + 8 * (i >= 2), member * 2 + (i & 1)
        case "m16n8k16":
            return group + 8 * (i not in (0, 1, 4, 5)), member * 2 + (i & 1) + 8 * (i >= 4)
        case "m16n8k16_bytes":
            return group + 8 * (i >= 4), member * 4 + (i & 3)
        case "m16n8k32":
            return group + 8 * (i % 8 >= 4), member * 4 + (i & 3) + 16 * (i >= 8)


def _of_b(shape, group, member, i):
    match shape:
        case "m8n8k16" | "m16n8k16_bytes":
            return member * 4 + i, group
        case "m16n8k8_tf32":
            return member + 4 * i, group
        case "m16n8k8":
            return member * 2 + i, group
        case "m16n8k16":
            return member * 2 + (i & 1) + 8 * (i >= 2), group
        case "m16n8k32":
            return member * 4 + (i & 3) + 16 * (i >= 4), group


@each_core
def test_layouts_are_those_of_the_ptx_isa(core):
    columns, rows, inner = core.dims
    shape = f"m{rows}n{columns}k{inner}"
    if core.dtype_in is dtypes.float32:
        shape += "_tf32"
    elif shape == "m16n8k16" and core.dtype_in.itemsize == 1:
        shape += "_bytes"
    for thread in range(32):
        group, member = thread >> 2, thread % 4
        for fragment, axes, layout in ((core.a, "mk", _of_a), (core.b, "kn", _of_b)):
            for i in range(fragment.count):
                place = tuple(fragment.coordinate(axis, thread, i) for axis in axes)
                assert place == layout(shape, group, member, i)
        for i in range(core.c.count):
            place = tuple(core.c.coordinate(axis, thread, i) for axis in "mn")
            assert place == (group + 8 * (i >= 2), member * 2 + (i & 1))


@pytest.mark.usefixtures("nvrtc_library")
@each_instruction
def test_nvrtc_takes_each_instruction(arch, core, matrix_kernel):
    target, kernel = Target("CUDA", arch=arch), matrix_kernel(core, arch)
    assert any(u.op is Ops.WMMA for u in kernel.program)
    source = CudaRenderer(target, capabilities(target, allows_tf32=True)).render(kernel.program, kernel.name)
    assert opcode(core) in source
    assert b".text.matmul" in CudaCompiler(target).compile(source, "matmul")


@each_instruction
def test_ptxas_takes_each_instruction(arch, core, matrix_kernel, ptxas):
    target, kernel = Target("CUDA", arch=arch), matrix_kernel(core, arch)
    source = PtxRenderer(target).render(kernel.program, kernel.name)
    for module in source.split(BEHIND_ALIGNED):
        assert opcode(core) in module
        assert ptxas(module, arch) == "", module


@pytest.mark.parametrize(
    ("arch", "name", "version"),
    [
        ("sm_75", "m16n8k8_f16_f32", "6.5"),
        ("sm_75", "m8n8k16_u8_s32", "6.5"),
        ("sm_80", "m16n8k16_s8_s32", "7.0"),
        ("sm_89", "m16n8k16_bf16_f32", "7.8"),
        ("sm_89", "m16n8k32_e4m3_f32", "8.4"),
        ("sm_100", "m16n8k32_e5m2_f32", "8.6"),
    ],
)
def test_a_module_names_the_version_that_came_with_its_instruction(arch, name, version, matrix_kernel):
    core = next(core for each, core in EVERY if (each, core.name) == (arch, name))
    kernel = matrix_kernel(core, arch)
    assert (
        PtxRenderer(Target("CUDA", arch=arch)).render(kernel.program, "k").startswith(f".version {version}\n")
    )


def test_words_that_were_loaded_are_not_taken_apart_for_an_instruction(matrix_kernel):
    core = next(core for _, core in EVERY if core.name == "m16n8k32_s8_s32")
    kernel = matrix_kernel(core, "sm_80")
    module = PtxRenderer(Target("CUDA", arch="sm_80")).render(kernel.program, "k").split(BEHIND_ALIGNED)[0]
    loaded = re.findall(r"ld\.global\.nc\.b32 (%r\d+)", module)
    (taken,) = re.findall(r"mma\.sync\S+ {[^}]*}, {([^}]*)}", module)
    assert taken.split(", ") == loaded


@pytest.mark.parametrize(("rows", "columns"), [(1024, 64), (1024, 256), (64, 64)])
def test_groups_share_tiles_as_wide_as_the_result(rows, columns):
    b, i, j = (UOp.range(size, n) for n, size in enumerate((256, rows, columns)))
    k = UOp.range(512, 3, AxisType.REDUCE)
    out = UOp(Ops.PARAM, dtypes.float32, (), (0, 256 * rows * columns))
    x, y = (UOp(Ops.PARAM, dtypes.bfloat16, (), (slot, 256 * 512 * 1024)) for slot in (1, 2))
    left = x.index((b * rows + i) * 512 + k).load().cast(dtypes.float32)
    right = y.index((b * 512 + k) * columns + j).load().cast(dtypes.float32)
    total = (left * right).reduce(Ops.ADD, k)
    ast = UOp.sink(out.index((b * rows + i) * columns + j).store(total, b, i, j), arg=KernelInfo())
    opts = optimise(KernelOpt(ast, capabilities(Target("CUDA", arch="sm_90")))).applied
    assert {OptOps.SHARE, OptOps.TC} <= {o.op for o in opts}
