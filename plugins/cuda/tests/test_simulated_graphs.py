"""Graphs of the driver's for recorded functions, on the stand-in (evidence E2)."""

import pytest

HEADER = """
from plugrad import Device, Tensor, Variable, dtypes
from plugrad.jit import jit
import numpy as np
d = Device['CUDA']
"""
KERNELS = (
    HEADER
    + """
from plugrad.errors import DeviceError
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
def kernel(body, name='k', parameters='float *p', **rest):
    head = f'extern "C" __global__ void __launch_bounds__(64) {name}({parameters})'
    s = head + '{' + body + '}'
    return d.runner(Program(name, s, d.compiler.compile(s, name), outs=(0,), **rest))
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
        "    assert f(Tensor(x, device='CUDA').realize()).item() == (2 * x + 2 * x.max()).sum()\n"
        "import plugrad_cuda.graph as g, gc\n"
        "print(sum(isinstance(o, g.CudaGraph) for o in gc.get_objects()))"
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


def test_blocks_variables_and_sizes_are_exchanged_until_the_next_change(simulate):
    program = KERNELS + (
        "k = kernel('p[blockIdx.x * blockDim.x + threadIdx.x] += n;', parameters='float *p, long long n',\n"
        "           variables=('n',))\n"
        "graph = d.graph([GraphLaunch(k, (a.handle,), (v,), (1,), (2,)) for v in (1, 2)])\n"
        "graph(); graph.set_handle(1, 0, b.handle); graph.set_sizes(0, (5,), (2,), (3,)); graph(); graph()\n"
        "print(floats(a)[:7].tolist(), floats(b)[:3].tolist())"
    )
    wanted = "[13.0, 13.0, 10.0, 10.0, 10.0, 10.0, 0.0] [4.0, 4.0, 0.0]"
    assert simulate(program).clean_lines()[0] == wanted


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


def test_an_illegal_address_in_a_graph_names_its_kernels(simulate):
    program = KERNELS + (
        "good, bad = kernel('p[0] = 1;', 'good'), kernel('p[1 << 30] = 1;', 'bad')\n"
        "graph = d.graph([GraphLaunch(k, (a.handle,), (), (1,), (1,)) for k in (good, bad)])\n"
        "graph()\n"
        "for again in (d.synchronize, graph, lambda: good((a.handle,), (), (1,), (1,))):\n"
        "    try:\n"
        "        again()\n"
        "    except DeviceError as error:\n"
        "        print(type(error).__name__, 'at fault is one of good, bad (the latest last).' in str(error))"
    )
    done = simulate(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == ["DeviceLost True"] * 3


def test_a_launch_that_the_driver_refuses_is_named(simulate):
    program = KERNELS + (
        "k = kernel('p[0] += 1;', 'small')\n"
        "two = [GraphLaunch(k, (a.handle,), (), (1,), (n,)) for n in (1, 65)]\n"
        "try:\n    d.graph(two)\nexcept DeviceError as error:\n    print(error)\n"
        "graph = d.graph(two[:1] * 2)\n"
        "graph.set_sizes(1, (), (1,), (65,))\n"
        "try:\n    graph()\nexcept DeviceError as error:\n    print(error)\n"
    )
    lines = simulate(program).clean_lines()
    assert "adding small on 1x1x1 blocks of 65x1x1 to a graph failed: CUDA_ERROR_LAUNCH_OUT" in lines[0]
    assert "changing small on 1x1x1 blocks of 65x1x1 in a graph failed: CUDA_ERROR_LAUNCH_OUT" in lines[1]


@pytest.mark.parametrize("call", ["cuGraphDestroy", "cuGraphExecDestroy"])
def test_the_stand_in_notices_what_was_destroyed_too_early(simulate, call):
    program = KERNELS + (
        "graph = d.graph([GraphLaunch(kernel('p[0] = 1;'), (a.handle,), (), (1,), (1,))] * 2)\n"
        f"handle = graph._template if '{call}' == 'cuGraphDestroy' else graph._ready\n"
        f"graph._context.driver.library.{call}(handle)\n"
        "graph.set_handle(0, 0, b.handle)\n"
        "try:\n    graph()\nexcept DeviceError as error:\n    print('INVALID_HANDLE' in str(error))\n"
    )
    assert simulate(program).stdout.split() == ["True"]
