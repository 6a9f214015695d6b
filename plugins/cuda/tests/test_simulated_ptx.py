"""Kernels in PTX on the stand-in for libcuda, which assembles and runs them (evidence E2)."""

import pytest

HEADER = "from plugrad import Device, Tensor, dtypes\nimport numpy as np\n"


@pytest.fixture
def simulate_ptx(simulate):
    """Run a Python program whose simulated GPU gets PTX; return the lines that it printed."""

    def run(program, **settings):
        done = simulate(HEADER + program, CUDA_PTX=1, **settings)
        assert done.returncode == 0, done.stderr
        assert "CUDA stand-in" not in done.stderr, done.stderr
        return done.stdout.split("\n")

    return run


def test_results_are_numpys(simulate_ptx):
    out = simulate_ptx(
        "rng = np.random.default_rng(1)\n"
        "a, b = (rng.normal(size=(64, 64)).astype('f') for _ in range(2))\n"
        "x, y = Tensor(a, device='CUDA'), Tensor(b, device='CUDA')\n"
        "np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=1e-4, atol=1e-4)\n"
        "np.testing.assert_allclose(x.reshape(-1).sum().numpy(), a.sum(), rtol=1e-4)\n"
        "np.testing.assert_array_equal(x[1:, 3:].half().numpy(), a[1:, 3:].astype(np.float16))\n"
        "np.testing.assert_array_equal((x.max(axis=1) > y.max(axis=1)).numpy(), a.max(1) > b.max(1))\n"
        "np.testing.assert_array_equal(x.pad(((1, 2), (3, 4))).numpy(), np.pad(a, ((1, 2), (3, 4))))\n"
        "print(Device['CUDA'].renderer.__class__.__name__)"
    )
    assert out[0] == "PtxRenderer"


def test_every_dtype_is_what_it_is_elsewhere(simulate_ptx):
    out = simulate_ptx(
        "from plugrad.dtype import FLOAT8, STORABLE\n"
        "values = np.array([0, 1, -1, 2.5, 100, -7, 0.1, 64] * 512, np.float32)\n"
        "def through(device, dtype):\n"
        "    x = Tensor(values, device=device).cast(dtypes.int32).cast(dtype).contiguous()\n"
        "    y = (x + x).contiguous()\n"
        "    return [v.cast(dtypes.float64).tolist() for v in (x, y, x.maximum(y), (x < y).where(y, x))]\n"
        "for dtype in (*STORABLE, *FLOAT8):\n"
        "    assert through('CUDA', dtype) == through('PYTHON', dtype), dtype\n"
        "print('done')"
    )
    assert out[0] == "done"


@pytest.mark.parametrize("arch", [75, 100])
def test_bfloat16_rounds_the_same_by_integers_and_by_the_instruction(simulate_ptx, arch):
    out = simulate_ptx(
        "bits = np.arange(0, 1 << 32, 65521, dtype=np.uint32)\n"
        "x = bits.view(np.float32)\n"
        "got, want = (\n"
        "    Tensor(x, device=d).cast(dtypes.bfloat16).float().numpy() for d in ('CUDA', 'PYTHON')\n"
        ")\n"
        "np.testing.assert_array_equal(got, want)\nprint('done')",
        PLUGRAD_SIM_ARCH=arch,
    )
    assert out[0] == "done"


def test_views_that_begin_at_odd_places_take_the_second_module(simulate_ptx):
    out = simulate_ptx(
        "import plugrad_cuda.runner as r\n"
        "made = []\n"
        "load = r.CudaRunner._load_unaligned\n"
        "r.CudaRunner._load_unaligned = lambda self: made.append(self.name) or load(self)\n"
        "a = np.arange(1 << 17, dtype=np.float32)\n"
        "from plugrad.engine.storage import buffer_of\n"
        "buffer = buffer_of(Tensor(a, device='CUDA').realize().uop)\n"
        "from plugrad.engine.realize import schedule\n"
        "from plugrad.codegen.lower import lower\n"
        "from plugrad.runtime.program import Program\n"
        "d = Device['CUDA']\n"
        "ast = [i.ast for i in schedule([(Tensor.empty(1 << 16, device='CUDA') * 2).uop])][-1]\n"
        "l = lower(ast, d.capabilities)\n"
        "source = d.renderer.render(l.program, l.name)\n"
        "p = Program(l.name, source, d.compiler.compile(source, l.name), outs=l.outs, ins=l.ins)\n"
        "out = d.new_buffer(1 << 16, dtypes.float32).ensure_allocated()\n"
        "for start in (0, 4, 12):\n"
        "    part = buffer.view(1 << 16, dtypes.float32, start).ensure_allocated()\n"
        "    d.runner(p)((out.handle, part.handle), (), l.global_size, l.local_size)\n"
        "    got = np.frombuffer(out.as_memoryview(), np.float32)\n"
        "    np.testing.assert_array_equal(got, a[start // 4:][:1 << 16] * 2)\n"
        "print(len(made))"
    )
    assert out[0] == "2"


_KERNEL = (
    "from plugrad.errors import *\n"
    "from plugrad.runtime.program import Program\n"
    "d = Device['CUDA']\n"
    "def module(body, version='7.8', target='sm_90'):\n"
    "    return f'''.version {version}\\n.target {target}\\n.address_size 64\\n\n"
    ".visible .entry k(\\n  .param .u64 .ptr .global .align 4 data0\\n)\\n.maxntid 64, 1, 1\\n{{\n"
    "  .reg .b32 %r<4>;\\n  .reg .b64 %l<3>;\\n  .reg .f32 %f<2>;\n"
    "  ld.param.u64 %l1, [data0];\\n{body}\\n  ret;\\n}}\\n'''\n"
    "block = d.new_buffer(64, dtypes.float32).ensure_allocated()\n"
    "def run(body):\n"
    "    text = module(body)\n"
    "    p = Program('k', text, d.compiler.compile(text, 'k'), outs=(0,))\n"
    "    d.runner(p)((block.handle,), (), (1,), (64,))\n"
    "    d.synchronize()\n"
)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("module('  sin.approx.f32 %f1, %f1;')", "there is no sin.approx.f32 here"),
        ("module('  add.f32 %f1, %f1, %f1;')", "there is no add.f32 here"),
        ("module('  add.s32 %r1, %r2, %f1;')", "%f1 was declared .f32, which does not fit .u32"),
        ("module('  mov.b32 %r9, 0;')", "%r9 is no register that was declared"),
        ("module('  cvt.rn.bf16.f32 %r1, %f1;', '7.0', 'sm_75')", "rounding to bf16 needs sm_80"),
        ("module('', '9.0')", "PTX 9.0 is newer than the driver"),
        ("module('', '8.7', 'sm_120')", "sm_120 is newer than the GPU, sm_90"),
        ("'nonsense'", "a module begins with .version"),
    ],
)
def test_what_the_assembler_refuses_is_a_compile_error_with_its_log(simulate_ptx, module, reason):
    out = simulate_ptx(
        _KERNEL + f"try:\n    d.compiler.compile({module}, 'k')\nexcept CompileError as error:\n"
        "    print('INVALID_PTX' in str(error), error.log)"
    )
    assert out[0].startswith("True ptx: ")
    assert reason in "\n".join(out)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("  st.global.b32 [%l1+1024], %r1;", "ILLEGAL_ADDRESS"),
        ("  ld.global.b32 %r1, [%l1+2];", "MISALIGNED_ADDRESS"),
        ("  mov.u32 %r2, 0;\\n  div.u32 %r1, %r2, %r2;\\n  st.global.b32 [%l1], %r1;", "LAUNCH_FAILED"),
        ("  mov.u32 %r2, 64;\\n  st.shared.b32 [%r2], %r2;", "ILLEGAL_ADDRESS"),
    ],
)
def test_faults_of_kernels_are_those_of_the_gpu(simulate, body, error):
    program = HEADER + _KERNEL + f"try:\n    run('{body}')\nexcept DeviceError as lost:\n    print(lost)"
    done = simulate(program, CUDA_PTX=1)
    assert done.returncode == 0, done.stderr
    assert error in done.stdout
    assert "at fault is k." in done.stdout


def test_a_setting_that_is_no_truth_is_refused(simulate):
    done = simulate(HEADER + "Tensor([1.0], device='CUDA').tolist()", CUDA_PTX="maybe")
    assert "CUDA_PTX='maybe' is not legal" in done.stderr


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_places_that_are_named_often_take_every_update(simulate_ptx, dtype):
    out = simulate_ptx(
        "rng = np.random.default_rng(1)\n"
        f"x = rng.integers(0, 99, 3000).astype('{dtype}')\n"
        "at = rng.integers(0, 400, 3000); at[::3] = 7\n"
        f"start = np.full(400, 5, '{dtype}'); total, most = start.copy(), start.copy()\n"
        "np.add.at(total, at, x); np.maximum.at(most, at, x)\n"
        "first, rows, values = (Tensor(a, device='CUDA') for a in (start, at, x))\n"
        "added, greatest = first.index_add(0, rows, values), first.scatter_reduce(0, rows, values, 'amax')\n"
        "print([u.ast.src[0].arg is not None for u in added.schedule()].count(True))\n"
        "print((added.numpy() == total).all(), (greatest.numpy() == most).all())"
    )
    assert out[:2] == ["1", "True True"]
