"""The plugin as it is, on the stand-in for Metal (evidence E2)."""

import pytest

HEADER = "from plugrad import Device, Tensor, dtypes\nimport numpy as np\n"


def test_a_stand_in_is_shown_as_simulated_and_never_chosen_by_itself(simulate):
    program = HEADER + "d = Device['METAL']; print(d.evidence.name, d.target.arch, d.probed.notes[-1][0])\n"
    out = simulate(program + "print(Device.DEFAULT)", DEVICE="").clean_lines()
    assert out[0] == "E2 apple9 simulated"
    assert out[1] != "METAL"


def test_results_are_numpys_and_nothing_is_left_behind(simulate):
    program = HEADER + (
        "rng = np.random.default_rng(1)\n"
        "a, b = (rng.normal(size=(64, 64)).astype('f') for _ in range(2))\n"
        "x, y = Tensor(a, device='METAL'), Tensor(b, device='METAL')\n"
        "np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=1e-4, atol=1e-4)\n"
        "np.testing.assert_allclose(x.reshape(-1).sum().numpy(), a.sum(), rtol=1e-4)\n"
        "np.testing.assert_array_equal(x[1:, 3:].half().numpy(), a[1:, 3:].astype(np.float16))\n"
        "np.testing.assert_array_equal((x.max(axis=1) > y.max(axis=1)).numpy(), a.max(1) > b.max(1))\n"
        "print('done')"
    )
    assert simulate(program).clean_lines()[0] == "done"


def test_half_arithmetic_rounds_each_step(simulate):
    program = HEADER + (
        "a, b = (np.arange(1, 2049, dtype=np.float16) / d for d in (np.float16(3), np.float16(7)))\n"
        "x, y = Tensor(a, device='METAL'), Tensor(b, device='METAL')\n"
        "print(bool(((x * y - x / y).numpy() == a * b - a / b).all()))"
    )
    assert simulate(program).clean_lines()[0] == "True"


def test_two_devices_have_memory_of_their_own(simulate):
    program = HEADER + (
        "a, b = Tensor([1.0, 2.0], device='METAL'), Tensor([3.0, 4.0], device='METAL:1')\n"
        "print((a + b.to('METAL')).tolist(), (b * 2).tolist(), Device['METAL:1'].target.index)"
    )
    assert simulate(program, PLUGRAD_SIM_DEVICES=2).clean_lines()[0] == "[4.0, 6.0] [6.0, 8.0] 1"


_LAUNCH = HEADER + (
    "from plugrad.errors import *\n"
    "from plugrad.runtime.program import Program\n"
    "d = Device['METAL']\n"
    "def kernel(body, name='k', threads=64, more=''):\n"
    "    s = f'''#include <metal_stdlib>\nusing namespace metal;\n"
    "[[kernel, max_total_threads_per_threadgroup({threads})]]\n"
    "void {name}(device float *p [[buffer(0)]]{more}, uint3 group [[threadgroup_position_in_grid]], '''\n"
    "    s += '''uint3 item [[thread_position_in_threadgroup]]) {\n'''\n"
    "    s += body + '\\n}'\n"
    "    variables = ('n',) if more else ()\n"
    "    return d.runner(Program(name, s, d.compiler.compile(s, name), outs=(0,), variables=variables))\n"
    "block = d.new_buffer(64, dtypes.float32).ensure_allocated()\n"
)


def test_a_fault_names_the_kernel_and_the_device_goes_on(simulate):
    program = _LAUNCH + (
        "kernel('p[item.x] = 1;', 'good')((block.handle,), (), (1,), (64,))\n"
        "bad = kernel('p[item.x + (1 << 20)] = 1;', 'bad')\n"
        "bad((block.handle,), (), (1,), (64,))\n"
        "try:\n"
        "    d.synchronize()\n"
        "except DeviceError as error:\n"
        "    print(error)\n"
        "print((Tensor([1.0], device='METAL') + 1).tolist())"
    )
    out = simulate(program).clean_lines()
    assert out[0] == "METAL: running bad failed: Caused GPU Address Fault Error (code 3)"
    assert out[1] == "[2.0]"


def test_several_failed_launches_are_one_error(simulate):
    program = _LAUNCH + (
        "bad = kernel('p[1 << 30] = 1;', 'bad')\n"
        "for _ in range(3): bad((block.handle,), (), (1,), (1,))\n"
        "try:\n"
        "    d.synchronize()\n"
        "except DeviceError as error:\n"
        "    print(error.__notes__)"
    )
    assert simulate(program).clean_lines()[0] == "['2 launches after it failed too']"


def test_a_fault_that_nobody_waited_for_is_shown_at_the_end(simulate):
    program = _LAUNCH + "kernel('p[1 << 30] = 1;', 'bad')((block.handle,), (), (1,), (1,))"
    assert "METAL: running bad failed" in simulate(program).stderr


def test_running_out_of_memory_is_typed_and_the_device_goes_on(simulate):
    program = HEADER + (
        "from plugrad.errors import DeviceOutOfMemory\n"
        "keep = [Tensor(np.zeros(1 << 20, np.float32), device='METAL').realize()]\n"
        "for size in (1 << 20, 1 << 22):\n"
        "    try:\n"
        "        keep.append(Tensor(np.zeros(size, np.float32), device='METAL').realize())\n"
        "    except DeviceOutOfMemory as error:\n"
        "        print(error.requested_bytes)\n"
        "print((Tensor([1.0], device='METAL') + 1).tolist())"
    )
    out = simulate(program, PLUGRAD_SIM_MEMORY=6 << 20).clean_lines()
    assert out[:3] == [str(4 << 20), str(4 << 22), "[2.0]"]


def test_kept_memory_is_given_back_before_running_out(simulate):
    program = HEADER + (
        "for size in range(1, 9):\n"
        "    Tensor(np.zeros(size << 18, np.float32), device='METAL').realize()\n"
        "print('done')"
    )
    assert simulate(program, PLUGRAD_SIM_MEMORY=10 << 20).clean_lines()[0] == "done"


def test_a_threadgroup_that_is_too_large_is_refused(simulate):
    program = _LAUNCH + (
        "try:\n"
        "    kernel('p[0] = 1;')((block.handle,), (), (1,), (65,))\n"
        "except DeviceError as error:\n"
        "    print(error)"
    )
    assert simulate(program).clean_lines()[0] == "METAL runs k in threadgroups of up to 64 threads, not of 65"


def test_barriers_and_threadgroup_memory_are_real(simulate):
    program = _LAUNCH + (
        "run = kernel('''threadgroup float t[64];\n"
        "int i = item.x; t[i] = i + 100 * group.x;\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup); p[i] = t[63 - i];''')\n"
        "seconds = run((block.handle,), (), (3,), (64,), wait=True)\n"
        "got = np.frombuffer(block.as_memoryview(), np.float32)\n"
        "print(bool((got == 263 - np.arange(64)).all()), seconds > 0)"
    )
    assert simulate(program).clean_lines()[0] == "True True"


def test_bound_variables_arrive(simulate):
    program = _LAUNCH + (
        "run = kernel('p[item.x] = values[0];', more=', constant long *values [[buffer(1)]]')\n"
        "run((block.handle,), (5,), (1,), (64,))\n"
        "print(np.frombuffer(block.as_memoryview(), np.float32)[63])"
    )
    assert simulate(program).clean_lines()[0] == "5.0"


def test_host_views_are_the_memory_itself(simulate):
    program = _LAUNCH + (
        "view = block.host_view()\n"
        "kernel('p[item.x] = 7;')((block.handle,), (), (1,), (64,))\n"
        "d.synchronize()\n"
        "print(np.frombuffer(view, np.float32).tolist() == [7.0] * 64)"
    )
    assert simulate(program).clean_lines()[0] == "True"


def test_reading_memory_before_waiting_ends_the_process(simulate):
    program = _LAUNCH + (
        "view = block.host_view()\nkernel('p[item.x] = 7;')((block.handle,), (), (1,), (64,))\nprint(view[0])"
    )
    done = simulate(program)
    assert done.returncode == 139
    assert "memory of a command buffer that nobody waited for (256 bytes)" in done.stderr


def test_touching_released_memory_ends_the_process(simulate):
    program = (
        "import Metal\n"
        "buffer = Metal.MTLCopyAllDevices()[0].newBufferWithLength_options_(256, 0)\n"
        "view = buffer.contents().as_buffer(256)\n"
        "view[0] = 1\n"
        "del buffer\n"
        "view[0] = 2\n"
    )
    done = simulate(program)
    assert done.returncode == 139
    assert "memory that was released (256 bytes)" in done.stderr


def test_a_write_behind_a_buffer_is_reported(simulate):
    program = _LAUNCH + (
        "small = d.new_buffer(63, dtypes.float32).ensure_allocated()\n"
        "kernel('p[item.x] = 1;')((small.handle,), (), (1,), (64,))\n"
        "d.synchronize()\n"
        "del small\n"
        "d.allocator.free_cache()"
    )
    assert "a write behind a buffer of 252 bytes" in simulate(program).stderr


_MISUSE = (
    "import Metal, objc\n"
    "a, b = Metal.MTLCopyAllDevices()\n"
    "options = Metal.MTLCompileOptions.alloc().init()\n"
    "options.setFastMathEnabled_(False)\n"
    "source = 'kernel void k(device float *p [[buffer(0)]]) { p[0] = 1; }'\n"
    "library, _ = a.newLibraryWithSource_options_error_(source, options, None)\n"
    "descriptor = Metal.MTLComputePipelineDescriptor.alloc().init()\n"
    "descriptor.setComputeFunction_(library.newFunctionWithName_('k'))\n"
    "make = a.newComputePipelineStateWithDescriptor_options_reflection_error_\n"
    "state, _ = make(descriptor, 0, None, None)\n"
    "one, many = Metal.MTLSizeMake(1, 1, 1), Metal.MTLSizeMake(1025, 1, 1)\n"
    "queue, memory, foreign = a.newCommandQueue(), *(d.newBufferWithLength_options_(64, 0) for d in (a, b))\n"
    "with objc.autorelease_pool():\n"
    "    commands = queue.commandBuffer()\n"
    "    encoder = commands.computeCommandEncoder()\n"
    "    encoder.setComputePipelineState_(state)\n"
)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("encoder.setBuffer_offset_atIndex_(3, 0, 0)", "takes a MTLBuffer, not 3"),
        ("encoder.setBuffer_offset_atIndex_(foreign, 0, 0)", "an object of another device"),
        ("encoder.setBuffer_offset_atIndex_(memory, 0, 31)", "there is no place 31 for a buffer, only 31"),
        ("encoder.setBuffer_offset_atIndex_(memory, 64, 0)", "the offset 64 is not inside"),
        ("encoder.dispatchThreadgroups_threadsPerThreadgroup_(one, one)", "launched without its buffer 0"),
        ("encoder.dispatchThreadgroups_threadsPerThreadgroup_(one, many)", "has 1024 at most"),
        ("commands.commit()", "was committed before endEncoding"),
        ("commands.waitUntilCompleted()", "was waited for before its commit"),
        ("encoder.endEncoding(); commands.commit(); commands.commit()", "was committed twice"),
    ],
)
def test_what_metals_validation_refuses_the_stand_in_does(simulate, call, complaint):
    done = simulate(f"{_MISUSE}    {call}\n", PLUGRAD_SIM_DEVICES=2)
    assert done.returncode == 1
    assert complaint in done.stderr


def test_what_is_left_at_the_end_is_reported(simulate):
    program = _MISUSE + "    encoder.endEncoding()\n    commands.commit()\nqueue.commandBuffer()\n"
    done = simulate(program, PLUGRAD_SIM_DEVICES=2)
    assert "1 command buffers were committed, and nobody waited for them" in done.stderr
    assert "a command buffer was made without an autorelease pool" in done.stderr


def test_a_refused_kernel_has_the_compilers_log_and_its_source(simulate):
    program = _LAUNCH + (
        "try:\n"
        "    kernel('nonsense;')\n"
        "except CompileError as error:\n"
        "    print('nonsense' in error.log, 'nonsense' in error.source, '-std=metal3.1' in error.command)"
    )
    assert simulate(program).clean_lines()[0] == "True True True"


def test_archives_are_kept_and_loaded(simulate):
    program = _LAUNCH + (
        "from plugrad_metal.compiler import pack_image, unpack_image\n"
        "s = kernel('p[0] = 1;').__class__ and 'kernel void k(device float *p [[buffer(0)]]) { p[0] = 3; }'\n"
        "lib = d.compiler.compile(s, 'k')\n"
        "source, archive = unpack_image(lib)\n"
        "print(source == s, len(archive) > 0)\n"
        "for image in (lib, pack_image(source, b'')):\n"
        "    d.runner(Program('k', s, image, outs=(0,)))((block.handle,), (), (1,), (1,))\n"
        "    print(np.frombuffer(block.as_memoryview(), np.float32)[0])\n"
        "try:\n"
        "    d.runner(Program('k', s, pack_image(source, b'damaged'), outs=(0,)))\n"
        "except DeviceError as error:\n"
        "    print('does not load an archive of 7 bytes' in str(error))"
    )
    assert simulate(program).clean_lines()[:4] == ["True True", "3.0", "3.0", "True"]


def test_a_gpu_that_keeps_no_archives_compiles_again(simulate, tmp_path):
    program = HEADER + "print((Tensor([1.0], device='METAL') + 1).tolist())"
    for _ in range(2):  # the second time from its cache, which no GPU with archives has filled
        assert simulate(program, PLUGRAD_SIM_ARCHIVES=0, PLUGRAD_CACHE=tmp_path).clean_lines()[0] == "[2.0]"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"PLUGRAD_SIM_DEVICES": 0}, "macOS lists no GPU"),
        ({"PLUGRAD_SIM_FAMILY": 1006}, "simulated Apple GPU 0 belongs to none of the GPU families"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_explained(simulate, settings, reason):
    program = HEADER + "from plugrad.errors import DeviceNotFound\n"
    program += "try:\n    Device['METAL']\nexcept DeviceNotFound as error:\n    print(error)"
    assert reason in simulate(program, **settings).stdout


@pytest.mark.parametrize("language", ["2.4", "3.0", "3.2"])
def test_bfloat16_works_in_every_language(simulate, language):
    program = HEADER + (
        "x = Tensor([1.0, 2.5, float('nan')], device='METAL').cast(dtypes.bfloat16)\n"
        "y = Tensor([16777217], device='METAL').cast(dtypes.bfloat16)\n"
        "print((x * 3).cast(dtypes.float32).tolist(), y.tolist())"
    )
    out = simulate(program, PLUGRAD_SIM_LANGUAGE=language).clean_lines()
    assert out[0] == "[3.0, 7.5, nan] [16777216.0]"


def test_threads_may_launch_at_the_same_time(simulate):
    program = HEADER + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def work(n):\n"
        "    return (Tensor(np.full(100, n, np.float32), device='METAL') * 2).sum().item()\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(work, range(8))) == [200.0 * n for n in range(8)])"
    )
    assert simulate(program).clean_lines()[0] == "True"


def test_more_launches_than_a_queue_holds(simulate):
    program = _LAUNCH + (
        "run = kernel('p[item.x] = p[item.x] + 1;')\n"
        "block.copyin(memoryview(bytes(256)))\n"
        "for _ in range(200): run((block.handle,), (), (1,), (64,))\n"
        "print(np.frombuffer(block.as_memoryview(), np.float32)[5])"
    )
    assert simulate(program).clean_lines()[0] == "200.0"


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
def test_places_that_are_named_often_take_every_update(simulate, dtype):
    program = HEADER + (
        "rng = np.random.default_rng(1)\n"
        f"x = rng.integers(0, 99, (3000, 2)).astype('{dtype}')\n"
        "at = rng.integers(0, 400, 3000); at[::3] = 7\n"
        f"start = np.full((400, 2), 5, '{dtype}'); want, most = start.copy(), start[:, 0].copy()\n"
        "np.add.at(want, at, x); np.maximum.at(most, at, x[:, 0])\n"
        "first, rows, values = (Tensor(a, device='METAL') for a in (start, at.astype('i'), x))\n"
        "added = first.index_add(0, rows, values)\n"
        "greatest = first[:, 0].scatter_reduce(0, rows, values[:, 0], 'amax')\n"
        "print([u.ast.src[0].arg is not None for u in added.schedule()].count(True))\n"
        "print((added.numpy() == want).all(), (greatest.numpy() == most).all())"
    )
    assert simulate(program).clean_lines()[:2] == ["1", "True True"]


def test_kernels_of_other_sizes_are_launched_with_them(simulate):
    program = HEADER + (
        "from plugrad import events\n"
        "names = []\n"
        "a = np.arange(240, dtype=np.float32).reshape(40, 6)\n"
        "x, w = Tensor(a, device='METAL').realize(), Tensor(a[:6], device='METAL').realize()\n"
        "with events.subscribe(events.CompileEvent, lambda event: names.append(event.name)):\n"
        "    for n in (5, 9, 17, 40):\n"
        "        np.testing.assert_array_equal((x[:n] @ w).relu().sum(0).numpy(), (a[:n] @ a[:6]).sum(0))\n"
        "        np.testing.assert_array_equal((x[:n] * 2).numpy(), a[:n] * 2)\n"
        "print(len(names))"
    )
    assert int(simulate(program, CACHELEVEL=0).clean_lines()[0]) <= 9
