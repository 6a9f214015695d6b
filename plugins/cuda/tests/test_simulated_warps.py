"""Test instructions of whole warps on the stand-ins (evidence E2)."""

import pytest

HEADER = "from plugrad import Device, Tensor, dtypes\nimport numpy as np\n"


@pytest.fixture(params=["C", "PTX"])
def simulate_each(request, simulate):
    """Run a program on a simulated GPU by CUDA C and by PTX; return its output."""

    def run(program, **settings):
        done = simulate(HEADER + program, CUDA_PTX=int(request.param == "PTX"), **settings)
        assert done.returncode == 0, done.stderr
        assert "CUDA stand-in" not in done.stderr, done.stderr
        return done.stdout.split("\n")

    return run


# compares a product on the simulated GPU with that on PYTHON, and says which instruction computed it
_PRODUCTS = """
from plugrad.codegen.lower import lower
from plugrad.engine.realize import schedule
from plugrad.uop.ops import Ops
rng = np.random.default_rng(1)
def instructions(tensor):
    asts = [item.ast for item in schedule([tensor.uop]) if item.ast.op is Ops.SINK]
    programs = [lower(ast, Device['CUDA'].capabilities).program for ast in asts]
    return {u.arg.name for program in programs for u in program if u.op is Ops.WMMA}
def product(x, y, device, dtype, total):
    x, y = (Tensor(v, device=device).cast(dtype).contiguous().realize() for v in (x, y))
    return x.matmul(y, dtype=total)
def same(dtype, rows, columns, inner, total=None):
    x, y = (rng.integers(-8 * (dtype.kind != 'uint'), 8, shape).astype(np.float32)
            for shape in ((rows, inner), (inner, columns)))
    print(*instructions(product(x, y, 'CUDA', dtype, total)))
    got, want = (product(x, y, d, dtype, total).cast(dtypes.float64).numpy() for d in ('CUDA', 'PYTHON'))
    np.testing.assert_array_equal(got, want)
"""


@pytest.mark.parametrize(
    ("arch", "cases"),
    [
        (
            75,
            [
                ("float16", (64, 64, 64), None, "m16n8k8_f16_f32"),
                ("int8", (100, 100, 100), None, "m8n8k16_s8_s32"),
                ("uint8", (64, 64, 64), None, "m8n8k16_u8_u32"),
                ("bfloat16", (64, 64, 64), None, ""),
            ],
        ),
        (
            80,
            [
                ("float16", (100, 100, 100), None, "m16n8k16_f16_f32"),
                ("bfloat16", (100, 100, 100), None, "m16n8k16_bf16_f32"),
                ("bfloat16", (64, 64, 24), None, "m16n8k8_bf16_f32"),
                ("int8", (100, 100, 100), None, "m16n8k16_s8_s32"),
                ("fp8e4m3", (64, 64, 64), None, ""),
            ],
        ),
        (
            90,
            [
                ("float16", (64, 64, 64), None, "m16n8k16_f16_f32"),
                ("float16", (47, 63, 47), None, "m16n8k16_f16_f32"),
                ("bfloat16", (64, 64, 64), "float32", "m16n8k16_bf16_f32"),
                ("int8", (64, 64, 64), "int32", "m16n8k32_s8_s32"),
                ("uint8", (100, 100, 96), None, "m16n8k32_u8_u32"),
                ("uint8", (64, 64, 64), "int32", "m16n8k32_u8_s32"),
                ("fp8e4m3", (100, 100, 96), None, "m16n8k32_e4m3_f32"),
                ("fp8e5m2", (64, 64, 64), "float32", "m16n8k32_e5m2_f32"),
            ],
        ),
    ],
)
def test_products_by_matrix_instructions_are_pythons(arch, cases, simulate_each):
    calls = [
        f"same(dtypes.{dtype}, *{sizes}, total={total and f'dtypes.{total}'})\n"
        for dtype, sizes, total, _ in cases
    ]
    out = simulate_each(f"{_PRODUCTS}{''.join(calls)}", PLUGRAD_SIM_ARCH=arch)
    assert out[:-1] == [name for *_, name in cases]


def test_every_pattern_of_a_small_float_is_its_number(simulate_each):
    out = simulate_each(
        _PRODUCTS + "def numbers(device, dtype, bits):\n"
        "    x = Tensor(bits, device=device).bitcast(dtype).contiguous().realize()\n"
        "    one = Tensor(np.eye(bits.shape[1], dtype=np.float32), device=device).cast(dtype).realize()\n"
        "    out = x.matmul(one, dtype=dtypes.float32)\n"
        "    if device == 'CUDA': print(*instructions(out))\n"
        "    return out.numpy()\n"
        "bytes_ = np.arange(256, dtype=np.uint8).reshape(-1, 32)\n"
        "bytes_ = np.concatenate([bytes_, bytes_])\n"
        "shorts = np.arange(0, 1 << 16, 61, dtype=np.uint16)[:1024].reshape(-1, 32)\n"
        "for dtype, bits in ((dtypes.fp8e4m3, bytes_), (dtypes.fp8e5m2, bytes_),\n"
        "                    (dtypes.float16, shorts), (dtypes.bfloat16, shorts)):\n"
        "    np.testing.assert_array_equal(*(numbers(d, dtype, bits) for d in ('CUDA', 'PYTHON')))"
    )
    assert out[:4] == [f"m16n8k{shape}_f32" for shape in ("32_e4m3", "32_e5m2", "16_f16", "16_bf16")]


def test_tf32_is_rounded_and_only_on_demand(simulate_each):
    program = _PRODUCTS + (
        "x, y = (rng.normal(size=(64, 64)).astype(np.float32) for _ in range(2))\n"
        "def of(device, x, y): return product(x, y, device, dtypes.float32, None)\n"
        "print(*instructions(of('CUDA', x, y)))\n"
        "def rounded(x):\n"
        "    return ((x.view(np.uint32) + 0x1000) & ~np.uint32(0x1fff)).view(np.float32)\n"
        "got = of('CUDA', x, y).numpy()\n"
        "exact, rough = (x @ y, rounded(x) @ rounded(y))\n"
        "print([bool(np.allclose(got, want, rtol=1e-5, atol=1e-5)) for want in (exact, rough)])"
    )
    assert simulate_each(program)[:2] == ["", "[True, False]"]
    assert simulate_each(program, CUDA_TF32=1)[:2] == ["m16n8k8_tf32_f32", "[False, True]"]


# --- kernels by hand ---

_RUN = """
from plugrad.errors import *
from plugrad.runtime.program import Program
d = Device['CUDA']
block = d.new_buffer(64, dtypes.int32).ensure_allocated()
def run(source):
    p = Program('k', source, d.compiler.compile(source, 'k'), outs=(0,))
    d.runner(p)((block.handle,), (), (1,), (64,))
    return np.frombuffer(block.as_memoryview(), np.int32)
lane = np.arange(64)
"""
_HEAD = (
    'extern "C" __global__ void __launch_bounds__(64) k(int *out) {\n  int i = threadIdx.x, x = 100 + i;\n'
)


def _in_c(body):
    return f"run('''{_HEAD}{body}\n}}''')"


def _in_ptx(body):
    text = (
        ".version 7.8\n.target sm_90\n.address_size 64\n\n"
        ".visible .entry k(\n  .param .u64 .ptr .global .align 4 data0\n)\n.maxntid 64, 1, 1\n{\n"
        "  .reg .pred %p<3>;\n  .reg .b32 %r<9>;\n  .reg .b64 %l<3>;\n  .reg .f32 %f<9>;\n"
        "  ld.param.u64 %l1, [data0];\n  mov.u32 %r1, %tid.x;\n  add.s32 %r2, %r1, 100;\n"
        "  mad.wide.s32 %l2, %r1, 4, %l1;\n"
    )
    return f"run('''{text}{body}\n  ret;\n}}\n''')"


def _printed(done):
    assert done.returncode == 0, done.stderr
    assert "CUDA stand-in" not in done.stderr, done.stderr
    return done.stdout.strip()


def test_shuffles_in_c(simulate):
    cases = (
        ("__shfl_sync(~0u, x, 5)", "lane // 32 * 32 + 5"),
        ("__shfl_sync(~0u, x, i + 3, 8)", "lane // 8 * 8 + (lane + 3) % 8"),
        ("__shfl_up_sync(~0u, x, 2)", "np.where(lane % 32 < 2, lane, lane - 2)"),
        ("__shfl_up_sync(~0u, x, 1, 4)", "np.where(lane % 4 < 1, lane, lane - 1)"),
        ("__shfl_down_sync(~0u, x, 16)", "np.where(lane % 32 >= 16, lane, lane + 16)"),
        ("__shfl_down_sync(~0u, x, 3, 8)", "np.where(lane % 8 >= 5, lane, lane + 3)"),
        ("__shfl_xor_sync(~0u, x, 21)", "(lane ^ 21)"),
        ("(int)__shfl_xor_sync(~0u, (double)x, 1)", "(lane ^ 1)"),
    )
    program = [f"print(({_in_c(f'  out[i] = {call};')} == 100 + {source}).all())\n" for call, source in cases]
    assert _printed(simulate(f"{HEADER}{_RUN}{''.join(program)}")).split() == ["True"] * len(cases)


def test_shuffles_in_ptx_also_say_whether_there_was_a_source(simulate):
    cases = (
        ("shfl.sync.idx.b32 %r3|%p1, %r2, 5, 31, -1;", "lane // 32 * 32 + 5"),
        ("shfl.sync.idx.b32 %r3|%p1, %r2, %r1, 6175, -1;", "lane"),
        ("shfl.sync.up.b32 %r3|%p1, %r2, 2, 0, -1;", "np.where(lane % 32 < 2, -100, lane - 2)"),
        ("shfl.sync.down.b32 %r3|%p1, %r2, 3, 6175, -1;", "np.where(lane % 8 >= 5, -100, lane + 3)"),
        ("shfl.sync.bfly.b32 %r3|%p1, %r2, 21, 31, -1;", "(lane ^ 21)"),
    )
    program = ""
    for instruction, source in cases:
        body = f"  {instruction}\n  selp.b32 %r4, %r3, 0, %p1;\n  st.global.b32 [%l2], %r4;"
        program += f"print(({_in_ptx(body)} == 100 + {source}).all())\n"
    done = simulate(f"{HEADER}{_RUN}{program}", CUDA_PTX=1)
    assert _printed(done).split() == ["True"] * len(cases)


def test_warps_go_their_own_ways_to_a_barrier(simulate):
    body = (
        "  __shared__ int sums[64];\n"
        "  for (int far = i < 32 ? 16 : 2; far; far /= 2) x += __shfl_xor_sync(~0u, x, far);\n"
        "  if (i % 32 < 4) x += __shfl_down_sync(0xfu, 1, 1, 4);\n"
        "  sums[i] = x;\n  __syncthreads();\n  out[i] = sums[63 - i];"
    )
    program = (
        f"{HEADER}{_RUN}got = {_in_c(body)}[::-1]\n"
        "want = (lane[:32] + 100).sum().repeat(32), (lane[32:] + 100).reshape(8, 4).sum(1).repeat(4)\n"
        "print((got == np.concatenate(want) + (lane % 32 < 4)).all())"
    )
    assert _printed(simulate(program)) == "True"


_TILE_IN_C = (
    "  float d[4]; unsigned int w = 0;\n"
    "  if (CONDITION) asm volatile("
    '"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"'
    '    : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])\n'
    '    : "r"(w), "r"(w), "r"(w), "f"(0.0f), "f"(0.0f), "f"(0.0f), "f"(0.0f));\n'
    "  out[i] = (int)d[0];"
)
_TILE_IN_PTX = (
    "  mov.b32 %r3, 0;\n  mov.f32 %f5, 0f00000000;\n  setp.lt.s32 %p1, %r1, LIMIT;\n  @%p1 mma.sync.aligned."
    "m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r3, %r3}, {%r3}, {%f5, %f5, %f5, %f5};"
)


@pytest.mark.parametrize(
    ("kernel", "reached"),
    [
        (_in_c(_TILE_IN_C.replace("CONDITION", "i < 16")), "mma.sync of f16: 16 of 32"),
        (_in_c(_TILE_IN_C.replace("CONDITION", "i < 33")), "mma.sync of f16: 1 of 32"),
        (
            _in_c("  if (i < 8) out[i] = __shfl_sync(~0u, x, 0);\n  __syncthreads();"),
            "shfl.sync.idx: 8 of 32",
        ),
        (_in_ptx(_TILE_IN_PTX.replace("LIMIT", "48")), "mma.sync of f16: 16 of 32"),
    ],
)
def test_a_warp_that_comes_in_part_is_reported(kernel, reached, simulate):
    program = f"{HEADER}{_RUN}try:\n    {kernel}\nexcept DeviceError as error:\n    print(error)"
    done = simulate(program, CUDA_PTX=int(".version" in kernel))
    assert done.returncode == 0, done.stderr
    assert "LAUNCH_FAILED" in done.stdout
    assert f"CUDA stand-in: only some threads of a warp came to {reached}" in done.stderr


def test_a_thread_that_does_not_name_itself_is_reported(simulate):
    kernel = _in_c("  if (i < 8) out[i] = __shfl_sync(0xfeu, x, 0);\n")
    done = simulate(f"{HEADER}{_RUN}try:\n    {kernel}\nexcept DeviceError as error:\n    print(error)")
    assert "LAUNCH_FAILED" in done.stdout
    assert "CUDA stand-in: a thread does not name itself among those of shfl.sync.idx" in done.stderr


def test_whole_warps_may_be_left_out(simulate):
    kernel = _in_c(_TILE_IN_C.replace("CONDITION", "i >= 32"))
    assert _printed(simulate(f"{HEADER}{_RUN}print({kernel}[32:].any())")) == "False"


def _refused(cases, simulate, **settings):
    program = "".join(
        f"try:\n    {kernel}\nexcept CompileError as error:\n    print({reason!r} in error.log, error.log)\n"
        for kernel, reason in cases
    )
    out = _printed(simulate(f"{HEADER}{_RUN}{program}", **settings))
    assert sum(line.startswith("True ") for line in out.split("\n")) == len(cases), out


def test_inline_ptx_that_nvrtc_refuses_is_refused(simulate):
    tile = _TILE_IN_C.replace("CONDITION", "1")
    cases = (
        ('  asm("bfind.u32 %0, %1;" : "=r"(out[0]) : "r"(x));', "there is no bfind.u32"),
        ('  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(1.0));', "the register is another"),
        ('  asm("cvt.rna.tf32.f32 %0, %2;" : "=r"(x) : "f"(1.0f));', "there is no operand %2"),
        (tile.replace("m16n8k8", "m16n8k16"), "the instruction has other registers"),
        (tile.replace("m16n8k8", "m16n8k32"), "there is no such instruction"),
        (tile.replace(".f16.f16.", ".s8.s8."), "no instruction has the types of"),
    )
    _refused([(_in_c(body), reason) for body, reason in cases], simulate)
    older = (
        ('  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(1.0f));', "this GPU has no tf32"),
        (tile.replace(".f16.f16.", ".bf16.bf16."), "this GPU has no such instruction"),
    )
    _refused([(_in_c(body), reason) for body, reason in older], simulate, PLUGRAD_SIM_ARCH=75)


def test_what_the_assembler_refuses_is_refused(simulate):
    tile = _TILE_IN_PTX.replace("LIMIT", "64")
    cases = (
        ("  cvt.rn.tf32.f32 %r3, %f1;", "rounding to tf32 is .rna"),
        ("  shfl.sync.idx.b32 %r3, %r2, 5, -1;", "there is no shfl.sync.idx.b32 of 4 operands"),
        (tile.replace("k8.", "k4."), "there is no mma.sync.aligned.m16n8k4"),
        (tile.replace("m16n8k8", "m16n8k16"), "the instruction has other registers"),
        (tile.replace("k8.", "k32.").replace(".f16.f16.", ".e4m3.e4m3."), "needs sm_89 and PTX 8.4"),
        (tile.replace("{%r3},", "{0},"), "a matrix instruction takes registers"),
    )
    _refused([(_in_ptx(body), reason) for body, reason in cases], simulate, CUDA_PTX=1)


_SHARED = """
import dataclasses
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.engine.realize import schedule
from plugrad.uop.ops import Ops
rng = np.random.default_rng(2)
def tiles(value):
    for item in schedule([value.uop]):
        if item.ast.op is Ops.SINK:
            opts = optimise(KernelOpt(item.ast, Device['CUDA'].capabilities)).applied
            yield [opt.arg for opt in opts if opt.op is OptOps.SHARE]
def count(value):
    print(*map(len, tiles(value)), sep='\\n')
def shared(dtype, rows, columns, inner):
    x, y = (rng.integers(-2, 3, shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
    product = Tensor(x).cast(dtype).contiguous().realize() @ Tensor(y).cast(dtype).contiguous().realize()
    count(product)
    np.testing.assert_array_equal(product.cast(dtypes.float32).numpy(), x @ y)
def convolution(device):
    rng = np.random.default_rng(3)
    image, weight = (Tensor(rng.integers(-2, 3, shape).astype(np.float32), device=device)
                     for shape in ((4, 16, 7, 7), (64, 16, 3, 3)))
    return image.conv2d(weight, padding=1)
def gradient(device):
    rng = np.random.default_rng(4)
    weight, image, out = (Tensor(rng.integers(-2, 3, shape).astype(np.float32), device=device)
                          for shape in ((32, 16, 3, 3), (2, 16, 10, 10), (2, 32, 8, 8)))
    return (image.conv2d(weight.requires_grad_()) * out).sum().gradient(weight)[0]
"""


def test_groups_compute_products_from_copies_that_they_share(simulate_each):
    out = simulate_each(
        _SHARED + "shared(dtypes.float32, 254, 256, 78)\nshared(dtypes.float16, 256, 256, 64)", DEVICE="CUDA"
    )
    assert out[:2] == ["1", "1"]


def test_a_group_alone_copies_ahead_of_its_products(simulate):
    ahead = "def count(value):\n  print(*(tile.ahead for found in tiles(value) for tile in found))\n"
    program = "shared(dtypes.float32, 192, 128, 80)\nshared(dtypes.bfloat16, 384, 64, 192)"
    done = simulate(HEADER + _SHARED + ahead + program, DEVICE="CUDA", PLUGRAD_SIM_UNITS=3)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "2"]


@pytest.mark.parametrize("value", ["convolution", "gradient"])
def test_groups_compute_convolutions_from_copies_that_they_share(value, simulate_each):
    program = (
        f"count({value}('CUDA'))\n"
        f"np.testing.assert_array_equal(*({value}(d).numpy() for d in ('CUDA', 'PYTHON')))"
    )
    assert "1" in simulate_each(_SHARED + program, DEVICE="CUDA", PLUGRAD_SIM_UNITS=1)
