"""Indirect command buffers for recorded functions, on the stand-in (evidence E2)."""

import pytest

HEADER = """
from plugrad import Device, Tensor, Variable, dtypes
from plugrad.jit import jit
import gc
import numpy as np
import plugrad_metal.graph
d = Device['METAL']
def graphs():
    return sum(isinstance(o, plugrad_metal.graph.MetalGraph) for o in gc.get_objects())
"""
KERNELS = (
    HEADER
    + """
from plugrad.errors import DeviceError
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
def kernel(body, name='k', more='', variables=(), **rest):
    s = '#include <metal_stdlib>\\nusing namespace metal;\\n'
    s += '[[kernel, max_total_threads_per_threadgroup(64)]]\\n'
    s += f'void {name}(device float *p [[buffer(0)]]{more}, uint3 group [[threadgroup_position_in_grid]], '
    s += 'uint3 item [[thread_position_in_threadgroup]]) {\\n' + body + '\\n}'
    return d.runner(Program(name, s, d.compiler.compile(s, name), outs=(0,), variables=variables, **rest))
def new():
    return d.new_buffer(64, dtypes.float32).copyin(memoryview(np.zeros(64, np.float32)).cast('B'))
def floats(block):
    return np.frombuffer(block.as_memoryview(), np.float32)
a, b = new(), new()
"""
)


def test_a_recorded_function_is_one_graph(simulate):
    program = HEADER + (
        "@jit\n"
        "def f(x):\n"
        "    y = (x * 2).contiguous()\n"
        "    return (y + y.max()).contiguous().sum().realize()\n"
        "for n in range(6):\n"
        "    x = np.arange(n, n + 8, dtype=np.float32)\n"
        "    assert f(Tensor(x, device='METAL').realize()).item() == (2 * x + 2 * x.max()).sum()\n"
        "print(graphs())"
    )
    assert simulate(program).clean_lines()[0] == "1"


_TRAINING = (
    "from plugrad.nn import optim\n"
    "def train(device):\n"
    "    rng = np.random.default_rng(3)\n"
    "    def values(*shape): return Tensor(rng.normal(size=shape).astype('f'), device=device).realize()\n"
    "    w, v = values(32, 16), values(16, 8)\n"
    "    w.requires_grad = v.requires_grad = True\n"
    "    step_of = optim.Adam([w, v], lr=0.01)\n"
    "    @jit\n"
    "    def step(x, y):\n"
    "        step_of.zero_grad()\n"
    "        loss = (((x @ w).relu() @ v - y) ** 2).mean()\n"
    "        loss.backward()\n"
    "        step_of.step()\n"
    "        return loss.realize()\n"
    "    losses = [step(values(16, 32), values(16, 8)).item() for _ in range(6)]\n"
    "    return graphs(), losses, w.numpy(), v.numpy()\n"
)


@pytest.mark.parametrize("settings", [{}, {"PLUGRAD_SIM_INDIRECT": 0}, {"PLUGRAD_SIM_FAMILY": 1008}])
def test_a_training_step_replays_with_the_right_numbers(simulate, tmp_path, settings):
    program = (
        HEADER
        + _TRAINING
        + (
            "count, *got = train('METAL')\n"
            "print(count > 0)\n"
            "for ours, theirs in zip(got, train('PYTHON')[1:], strict=True):\n"
            "    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)"
        )
    )
    # a cache of its own: kernels that were loaded for replay are others
    assert simulate(program, PLUGRAD_CACHE=tmp_path, **settings).clean_lines()[0] == str(not settings)


def test_bound_variables_and_symbolic_sizes_replay(simulate):
    program = HEADER + (
        "n = Variable('n', 1, 16)\n"
        "x = Tensor(np.arange(16, dtype='f'), device='METAL').realize()\n"
        "@jit\n"
        "def f(k):\n"
        "    y = (x[:k] * 3).contiguous()\n"
        "    return y.sum().realize()\n"
        "for k in (5, 5, 5, 9, 2, 16, 5):\n"
        "    assert f(n.bind(k)).item() == 3 * sum(range(k)), k\n"
        "print(graphs())"
    )
    assert simulate(program).clean_lines()[0] == "1"


def test_launches_take_effect_in_their_order(simulate):
    program = KERNELS + (
        "add, double = kernel('p[0] += 1;', 'add'), kernel('p[0] *= 2;', 'doubled')\n"
        "one = [GraphLaunch(k, (a.handle,), (), (1,), (1,)) for k in (add, double, add, double, double)]\n"
        "graph = d.graph(one)\n"
        "graph(); graph()\n"
        "print(floats(a)[0], graph(wait=True) > 0)"
    )
    assert simulate(program).clean_lines()[0] == "108.0 True"


_SIZED = KERNELS + (
    "k = kernel('p[group.x * 3 + item.x] += values[0];', more=', constant long *values [[buffer(1)]]',\n"
    "           variables=('n',))\n"
    "graph = d.graph([GraphLaunch(k, (a.handle,), (v,), (1,), (2,)) for v in (1, 2)])\n"
)


def test_blocks_variables_and_sizes_are_exchanged_until_the_next_change(simulate):
    program = _SIZED + (
        "graph(); graph.set_handle(1, 0, b.handle); graph.set_sizes(0, (5,), (2,), (3,)); graph(); graph()\n"
        "print(floats(a)[:7].tolist(), floats(b)[:3].tolist())"
    )
    wanted = "[13.0, 13.0, 10.0, 10.0, 10.0, 10.0, 0.0] [4.0, 4.0, 0.0]"
    assert simulate(program).clean_lines()[0] == wanted


def test_each_run_keeps_the_values_it_was_given(simulate):
    program = _SIZED + (
        "for n in range(10):\n"
        "    graph.set_sizes(0, (n,), (1,), (2,)); graph.set_handle(1, 0, (a, b)[n % 2].handle); graph()\n"
        "print(floats(a)[0], floats(b)[0])"
    )
    assert simulate(program).clean_lines()[0] == "55.0 10.0"


def test_parts_of_blocks_are_exchanged(simulate):
    program = _SIZED + (
        "graph(); graph.set_handle(1, 0, d.allocator.offset(a.handle, 16, 16)); graph()\n"
        "print(floats(a)[:6].tolist())"
    )
    assert simulate(program).clean_lines()[0] == "[4.0, 4.0, 0.0, 0.0, 2.0, 2.0]"


def test_a_run_under_way_keeps_what_it_was_given(simulate):
    program = KERNELS + (
        "k = kernel('p[0] += 1;')\n"
        "graph = d.graph([GraphLaunch(k, (a.handle,), (), (1,), (1,))] * 2)\n"
        "graph(); graph.set_handle(0, 0, b.handle); graph(); del graph, k\n"
        "print(floats(a)[0], floats(b)[0])"
    )
    assert simulate(program).clean_lines()[0] == "3.0 1.0"


def test_runners_of_others_are_left_alone(simulate):
    program = KERNELS + (
        "k = kernel('p[0] += 1;')\n"
        "print(d.graph([GraphLaunch(x, (a.handle,), (), (1,), (1,)) for x in (k, lambda *_: None)]))"
    )
    assert simulate(program).clean_lines()[0] == "None"


@pytest.mark.parametrize("settings", [{"PLUGRAD_SIM_INDIRECT": 0}, {"PLUGRAD_SIM_FAMILY": 1008}])
def test_kernels_that_cannot_stand_in_one_are_launched_one_by_one(simulate, tmp_path, settings):
    program = KERNELS + (
        "k = kernel('p[0] += 1;')\n"
        "k((a.handle,), (), (1,), (1,))\n"
        "print(floats(a)[0], k.can_replay, d.graph([GraphLaunch(k, (a.handle,), (), (1,), (1,))] * 2))"
    )
    assert simulate(program, PLUGRAD_CACHE=tmp_path, **settings).clean_lines()[0] == "1.0 False None"


def test_a_fault_in_a_graph_names_its_kernels_and_the_device_goes_on(simulate):
    program = KERNELS + (
        "good, bad = kernel('p[0] = 1;', 'good'), kernel('p[1 << 30] = 1;', 'bad')\n"
        "graph = d.graph([GraphLaunch(k, (a.handle,), (), (1,), (1,)) for k in (good, bad)])\n"
        "graph()\n"
        "try:\n    d.synchronize()\nexcept DeviceError as error:\n    print(error)\n"
        "good((a.handle,), (), (1,), (1,))\n"
        "print(floats(a)[0])"
    )
    out = simulate(program).clean_lines()
    assert out[0] == "METAL: running a graph of good, bad failed: Caused GPU Address Fault Error (code 3)"
    assert out[1] == "1.0"


def test_a_threadgroup_that_is_too_large_is_refused(simulate):
    program = KERNELS + (
        "k = kernel('p[0] += 1;', 'small')\n"
        "two = [GraphLaunch(k, (a.handle,), (), (1,), (n,)) for n in (1, 65)]\n"
        "graph = d.graph(two[:1] * 2)\n"
        "for call in (lambda: d.graph(two), lambda: graph.set_sizes(1, (), (1,), (65,))):\n"
        "    try:\n        call()\n    except DeviceError as error:\n        print(error)\n"
    )
    lines = simulate(program).clean_lines()
    assert lines[:2] == ["METAL runs small in threadgroups of up to 64 threads, not of 65"] * 2


_MISUSE = (
    "import Metal, objc\n"
    "a, b = Metal.MTLCopyAllDevices()\n"
    "options = Metal.MTLCompileOptions.alloc().init()\n"
    "options.setFastMathEnabled_(False)\n"
    "source = 'kernel void k(device float *p [[buffer(0)]]) { p[0] = 1; }'\n"
    "library, _ = a.newLibraryWithSource_options_error_(source, options, None)\n"
    "def pipeline(is_indirect):\n"
    "    descriptor = Metal.MTLComputePipelineDescriptor.alloc().init()\n"
    "    descriptor.setComputeFunction_(library.newFunctionWithName_('k'))\n"
    "    descriptor.setSupportIndirectCommandBuffers_(is_indirect)\n"
    "    make = a.newComputePipelineStateWithDescriptor_options_reflection_error_\n"
    "    return make(descriptor, 0, None, None)[0]\n"
    "asked = Metal.MTLIndirectCommandBufferDescriptor.alloc().init()\n"
    "asked.setCommandTypes_(1 << 5); asked.setMaxKernelBufferBindCount_(1)\n"
    "asked.setInheritBuffers_(False); asked.setInheritPipelineState_(False)\n"
    "one, many = Metal.MTLSizeMake(1, 1, 1), Metal.MTLSizeMake(1025, 1, 1)\n"
    "queue, memory, foreign = a.newCommandQueue(), *(d.newBufferWithLength_options_(64, 0) for d in (a, b))\n"
    "indirect = a.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_(asked, 2, 0)\n"
    "with objc.autorelease_pool():\n"
    "    command, last = (indirect.indirectComputeCommandAtIndex_(i) for i in (0, 1))\n"
    "    def fill(command, barrier=True):\n"
    "        command.setComputePipelineState_(pipeline(True))\n"
    "        command.setKernelBuffer_offset_atIndex_(memory, 0, 0)\n"
    "        if barrier: command.setBarrier()\n"
    "        command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(one, one)\n"
    "    commands = queue.commandBuffer()\n"
    "    encoder = commands.computeCommandEncoder()\n"
    "    def run(count, *used, usage=2):\n"
    "        encoder.useResources_count_usage_(list(used), len(used), usage)\n"
    "        encoder.executeCommandsInBuffer_withRange_(indirect, Metal.NSMakeRange(0, count))\n"
)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("command.setComputePipelineState_(pipeline(False))", "does not support indirect command buffers"),
        ("command.setKernelBuffer_offset_atIndex_(foreign, 0, 0)", "an object of another device"),
        ("command.setKernelBuffer_offset_atIndex_(memory, 0, 1)", "there is no place 1 for a buffer, only 1"),
        ("command.setKernelBuffer_offset_atIndex_(memory, 64, 0)", "the offset 64 is not inside"),
        (
            "command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(one, one)",
            "a command without a pipeline",
        ),
        (
            "command.setComputePipelineState_(pipeline(True));"
            "command.concurrentDispatchThreadgroups_threadsPerThreadgroup_(one, one)",
            "k was launched without its buffer 0",
        ),
        ("fill(command); fill(command)", "was changed after its dispatch, without a reset"),
        ("indirect.indirectComputeCommandAtIndex_(2)", "there is no command 2, only 2"),
        ("fill(command); fill(last); run(3, memory)", "commands 0 to 3 of 2 were executed"),
        ("fill(command); run(2, memory)", "command 1 was executed, which has no dispatch"),
        ("fill(command); run(1)", "command 0 uses memory that useResource: did not name"),
        ("fill(command); run(1, memory, usage=1)", "command 0 uses memory that useResource: did not name"),
        ("fill(command); run(1, foreign)", "an object of another device"),
        (
            "fill(command); run(1, memory); encoder.endEncoding(); commands.commit(); command.reset()",
            "a command was changed that runs, or is about to",
        ),
    ],
)
def test_what_metals_validation_refuses_the_stand_in_does(simulate, call, complaint):
    done = simulate(f"{_MISUSE}    {call}\n", PLUGRAD_SIM_DEVICES=2)
    assert done.returncode == 1
    assert complaint in done.stderr


@pytest.mark.parametrize(("has_barrier", "complaints"), [(True, 0), (False, 1)])
def test_a_barrier_that_is_missing_is_reported(simulate, has_barrier, complaints):
    program = _MISUSE + (
        f"    fill(command); fill(last, {has_barrier}); run(2, memory)\n"
        "    encoder.endEncoding(); commands.commit(); commands.waitUntilCompleted()\n"
        "    print(memory.contents().as_buffer(4)[3])"
    )
    done = simulate(program, PLUGRAD_SIM_DEVICES=2)
    assert done.stdout == "63\n"
    complaint = "command 1 has no barrier, and uses memory that one before it changes"
    assert done.stderr.count(complaint) == complaints
