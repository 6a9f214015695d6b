"""The plugin as it is, on stand-ins for libcuda and NVRTC (evidence E2)."""

import pytest

HEADER = "from plugrad import Device, Tensor, dtypes\nimport numpy as np\n"


def test_a_stand_in_is_shown_as_simulated_and_never_chosen_by_itself(simulate):
    program = HEADER + "d = Device['CUDA']; print(d.evidence.name, d.target.arch, d.probed.notes[-1][0])\n"
    out = simulate(program + "print(Device.DEFAULT)", DEVICE="").clean_lines()
    assert out[0] == "E2 sm_90 simulated"
    assert out[1] != "CUDA"


def test_results_are_numpys_and_nothing_is_left_behind(simulate):
    program = HEADER + (
        "rng = np.random.default_rng(1)\n"
        "a, b = (rng.normal(size=(64, 64)).astype('f') for _ in range(2))\n"
        "x, y = Tensor(a, device='CUDA'), Tensor(b, device='CUDA')\n"
        "np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=1e-4, atol=1e-4)\n"
        "np.testing.assert_allclose(x.reshape(-1).sum().numpy(), a.sum(), rtol=1e-4)\n"
        "np.testing.assert_array_equal(x[1:, 3:].half().numpy(), a[1:, 3:].astype(np.float16))\n"
        "np.testing.assert_array_equal((x.max(axis=1) > y.max(axis=1)).numpy(), a.max(1) > b.max(1))\n"
        "print('done')"
    )
    assert simulate(program).clean_lines()[0] == "done"


def test_copies_larger_than_the_page_locked_memory_arrive_whole(simulate):
    program = HEADER + (
        "a = np.arange(5_000_000, dtype=np.int32)\nprint(bool((Tensor(a, device='CUDA').numpy() == a).all()))"
    )
    assert simulate(program).clean_lines()[0] == "True"


def test_views_that_begin_at_odd_places_take_the_unaligned_kernel(simulate):
    program = HEADER + (
        "import plugrad_cuda.runner as r\n"
        "made = []\n"
        "load = r.CudaRunner._load_unaligned\n"
        "r.CudaRunner._load_unaligned = lambda self: made.append(self.name) or load(self)\n"
        "a = np.arange(1 << 17, dtype=np.float32)\n"
        "x = Tensor(a, device='CUDA').realize()\n"
        "b = x.uop\n"
        "from plugrad.engine.storage import buffer_of\n"
        "buffer = buffer_of(b)\n"
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
    assert simulate(program).clean_lines()[0] == "2"


def test_two_devices_have_memory_of_their_own(simulate):
    program = HEADER + (
        "a, b = Tensor([1.0, 2.0], device='CUDA'), Tensor([3.0, 4.0], device='CUDA:1')\n"
        "print((a + b.to('CUDA')).tolist(), (b * 2).tolist(), Device['CUDA:1'].target.index)"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2).clean_lines()[0] == "[4.0, 6.0] [6.0, 8.0] 1"


_LAUNCH = HEADER + (
    "from plugrad.errors import *\n"
    "from plugrad.runtime.program import Program\n"
    "d = Device['CUDA']\n"
    "def kernel(body, name='k', bounds=64, parameters='float *p'):\n"
    "    head = f'extern \"C\" __global__ void __launch_bounds__({bounds}) {name}({parameters})'\n"
    "    s = head + '{' + body + '}'\n"
    "    return d.runner(Program(name, s, d.compiler.compile(s, name), outs=(0,)))\n"
    "block = d.new_buffer(64, dtypes.float32).ensure_allocated()\n"
)


@pytest.mark.parametrize(
    ("pointer", "dtype"),
    [("(char *)p + 2", "float"), ("(char *)p + 4", "double"), ("(char *)p + 1", "short")],
)
def test_an_access_of_any_width_has_to_be_aligned(simulate, pointer, dtype):
    program = _LAUNCH + (
        f"kernel('*({dtype} *)({pointer}) = 1;')((block.handle,), (), (1,), (64,))\n"
        "try:\n    d.synchronize()\nexcept DeviceError as error:\n    print('MISALIGNED' in str(error))"
    )
    assert simulate(program).stdout.split() == ["True"]


def test_blocks_run_in_an_order_that_no_kernel_may_rely_on(simulate):
    program = _LAUNCH + (
        "order = d.new_buffer(65, dtypes.float32).ensure_allocated()\n"
        "k = kernel('p[1 + blockIdx.x] = p[0]; p[0] += 1;', bounds=1)\n"
        "memory = lambda: np.frombuffer(order.as_memoryview(), np.float32)\n"
        "runs = []\n"
        "for _ in range(2):\n"
        "    d.allocator.copyin(order.handle, memoryview(np.zeros(65, np.float32)).cast('B'))\n"
        "    k((order.handle,), (), (64,), (1,))\n"
        "    runs.append(memory()[1:].astype(int).tolist())\n"
        "print([sorted(r) == list(range(64)) for r in runs], runs[0] != sorted(runs[0]), runs[0] != runs[1])"
    )
    assert simulate(program).clean_lines()[0] == "[True, True] True True"
    again = [simulate(program.replace("print(", "print(runs)#"), PLUGRAD_SIM_SEED=seed) for seed in (1, 1, 2)]
    first, same, other = (done.stdout for done in again)
    assert first == same != other


def test_an_illegal_address_is_a_lost_device_that_names_the_kernel(simulate):
    program = _LAUNCH + (
        "kernel('p[threadIdx.x] = 1;', 'good')((block.handle,), (), (1,), (64,))\n"
        "d.synchronize()\n"
        "bad = kernel('p[threadIdx.x + (1 << 20)] = 1;', 'bad')\n"
        "bad((block.handle,), (), (1,), (64,))\n"
        "for again in (d.synchronize, lambda: bad((block.handle,), (), (1,), (64,)), block.as_memoryview):\n"
        "    try:\n"
        "        again()\n"
        "    except DeviceError as error:\n"
        "        text = str(error)\n"
        "        print(type(error).__name__, 'ILLEGAL_ADDRESS' in text, 'at fault is bad.' in text)\n"
        "print(Tensor([1.0], device='PYTHON').tolist())"
    )
    done = simulate(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["DeviceLost True True"] * 3 + ["[1.0]"]


def test_one_of_several_kernels_at_fault_is_among_those_named(simulate):
    program = _LAUNCH + (
        "good, bad = kernel('p[0] = 1;', 'good'), kernel('p[1 << 30] = 1;', 'bad')\n"
        "good((block.handle,), (), (1,), (1,))\n"
        "bad((block.handle,), (), (1,), (1,))\n"
        "try:\n"
        "    d.synchronize()\n"
        "except DeviceError as error:\n"
        "    print('one of good, bad (the latest last)' in str(error))"
    )
    assert simulate(program).stdout.split() == ["True"]


def test_a_fault_that_is_noticed_late_is_not_blamed_on_the_latest_alone(simulate):
    program = _LAUNCH + (
        "good, bad = kernel('p[0] = 1;', 'good'), kernel('p[1 << 30] = 1;', 'bad')\n"
        "bad((block.handle,), (), (1,), (1,))\n"
        "for _ in range(40): good((block.handle,), (), (1,), (1,))\n"
        "try:\n"
        "    d.synchronize()\n"
        "except DeviceError as error:\n"
        "    print('one of good (the latest last), or an earlier one.' in str(error))"
    )
    assert simulate(program).stdout.split() == ["True"]


def test_running_out_of_memory_is_typed_and_the_device_goes_on(simulate):
    program = HEADER + (
        "from plugrad.errors import DeviceOutOfMemory\n"
        "try:\n"
        "    Tensor(np.zeros(1 << 22, np.float32), device='CUDA').realize()\n"
        "except DeviceOutOfMemory as error:\n"
        "    print(error.requested_bytes)\n"
        "print((Tensor([1.0], device='CUDA') + 1).tolist())"
    )
    assert simulate(program, PLUGRAD_SIM_MEMORY=8 << 20).clean_lines()[:2] == [str(4 << 22), "[2.0]"]


def test_kept_memory_is_given_back_before_running_out(simulate):
    program = HEADER + (
        "for size in range(1, 9):\n"
        "    Tensor(np.zeros(size << 18, np.float32), device='CUDA').realize()\n"
        "print('done')"
    )
    assert simulate(program, PLUGRAD_SIM_MEMORY=10 << 20).clean_lines()[0] == "done"


def test_a_refused_launch_says_its_size(simulate):
    program = _LAUNCH + (
        "try:\n"
        "    kernel('p[0] = 1;')((block.handle,), (), (1,), (65,))\n"
        "except DeviceError as error:\n"
        "    print(error)\n"
        "kernel('p[0] = 1;')((block.handle,), (), (1,), (64,), wait=True)"
    )
    out = simulate(program).clean_lines()
    assert "launching k on 1x1x1 blocks of 65x1x1 failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" in out[0]


def test_barriers_and_shared_memory_are_real(simulate):
    program = _LAUNCH + (
        "run = kernel('__shared__ float t[64]; int i = threadIdx.x; t[i] = i + 100 * blockIdx.x; '\n"
        "             '__syncthreads(); p[i] = t[63 - i];')\n"
        "seconds = run((block.handle,), (), (3,), (64,), wait=True)\n"
        "got = np.frombuffer(block.as_memoryview(), np.float32)\n"
        "print(bool((got % 100 == 63 - np.arange(64)).all()), seconds > 0)"
    )
    assert simulate(program).clean_lines()[0] == "True True"


def test_more_shared_memory_than_a_kernel_may_declare_is_opted_in(simulate):
    program = _LAUNCH + (
        "s = '''#define DYNAMIC_SHARED_BYTES 65536\n"
        "extern __shared__ __align__(16) unsigned char shared_memory[];\n"
        'extern "C" __global__ void __launch_bounds__(64) big(float *p) {\n'
        "  float *t = (float *)(shared_memory + 65280); t[threadIdx.x] = threadIdx.x;\n"
        "  __syncthreads(); p[threadIdx.x] = t[63 - threadIdx.x];\n"
        "}'''\n"
        "run = d.runner(Program('big', s, d.compiler.compile(s, 'big'), outs=(0,)))\n"
        "run((block.handle,), (), (1,), (64,))\n"
        "print(np.frombuffer(block.as_memoryview(), np.float32)[:3].tolist())"
    )
    assert simulate(program).clean_lines()[0] == "[63.0, 62.0, 61.0]"


def test_a_write_behind_a_block_is_reported(simulate):
    program = _LAUNCH + (
        "small = d.new_buffer(63, dtypes.float32).ensure_allocated()\n"
        "kernel('p[threadIdx.x] = 1;')((small.handle,), (), (1,), (64,))\n"
        "d.synchronize()"
    )
    assert "wrote behind a block of 252 bytes" in simulate(program).stderr


def test_a_refused_kernel_has_the_compilers_log(simulate):
    program = _LAUNCH + (
        "try:\n    kernel('nonsense;')\nexcept CompileError as error:\n    print('nonsense' in error.log)"
    )
    assert simulate(program).clean_lines()[0] == "True"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"PLUGRAD_SIM_DRIVER": 11040}, "too old: it knows CUDA 11.4, and 12.0 is needed"),
        ({"PLUGRAD_SIM_DEVICES": 0}, "CUDA_ERROR_NO_DEVICE"),
        ({"PLUGRAD_SIM_ARCH": 61}, "simulated GPU 0 (sm_61) is older than compute capability 7.0"),
    ],
)
def test_a_driver_or_gpu_that_cannot_be_used_is_explained(simulate, settings, reason):
    program = HEADER + "from plugrad.errors import DeviceNotFound\n"
    program += "try:\n    Device['CUDA']\nexcept DeviceNotFound as error:\n    print(error)"
    assert reason in simulate(program, **settings).stdout


def test_threads_may_launch_at_the_same_time(simulate):
    program = HEADER + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def work(n):\n"
        "    return (Tensor(np.full(100, n, np.float32), device='CUDA') * 2).sum().item()\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(work, range(8))) == [200.0 * n for n in range(8)])"
    )
    assert simulate(program).clean_lines()[0] == "True"


def test_a_forked_child_that_ends_leaves_its_parents_device_alone(simulate):
    program = HEADER + (
        "import os, sys\n"
        "x = (Tensor([1.0], device='CUDA') + 1).realize()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    import atexit; atexit._run_exitfuncs(); os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], x.tolist())"
    )
    assert simulate(program).clean_lines()[0] == "0 [2.0]"


def test_a_child_forked_after_its_parent_looked_for_devices_is_told_so(simulate):
    program = HEADER + (
        "import os\n"
        "from plugrad.errors import ForkError\n"
        "Device.devices()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n"
        "        Tensor([1.0], device='CUDA').realize()\n"
        "    except ForkError as error:\n"
        "        os._exit(7 if 'asked the CUDA driver' in str(error) else 8)\n"
        "    os._exit(9)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), Tensor([1.0], device='CUDA').tolist())"
    )
    assert simulate(program).clean_lines()[0] == "7 [1.0]"


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_places_that_are_named_often_take_every_update(simulate, dtype):
    program = HEADER + (
        "rng = np.random.default_rng(1)\n"
        f"x = rng.integers(0, 99, (3000, 2)).astype('{dtype}')\n"
        "at = rng.integers(0, 400, 3000); at[::3] = 7\n"
        f"want = np.zeros((400, 2), '{dtype}'); np.add.at(want, at, x)\n"
        "start, rows, values = (Tensor(a, device='CUDA') for a in (0 * want, at, x))\n"
        "out = start.index_add(0, rows, values)\n"
        "stores = [call.ast.src[0].arg for call in out.schedule()]\n"
        "print(bool((out.numpy() == want).all()), stores.count(None) < len(stores))"
    )
    assert simulate(program).clean_lines()[0] == "True True"


def test_kernels_of_other_sizes_are_launched_with_them(simulate):
    program = HEADER + (
        "from plugrad import events\n"
        "names = []\n"
        "a = np.arange(240, dtype=np.float32).reshape(40, 6)\n"
        "x, w = Tensor(a, device='CUDA').realize(), Tensor(a[:6], device='CUDA').realize()\n"
        "with events.subscribe(events.CompileEvent, lambda event: names.append(event.name)):\n"
        "    for n in (5, 9, 17, 40):\n"
        "        np.testing.assert_array_equal((x[:n] @ w).relu().sum(0).numpy(), (a[:n] @ a[:6]).sum(0))\n"
        "        np.testing.assert_array_equal((x[:n] * 2).numpy(), a[:n] * 2)\n"
        "print(len(names))"
    )
    assert int(simulate(program, CACHELEVEL=0).clean_lines()[0]) <= 9
