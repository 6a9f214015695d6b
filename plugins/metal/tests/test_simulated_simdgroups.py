"""Test instructions of whole simdgroups on the stand-in (evidence E2)."""

import pytest

HEADER = "from plugrad import Device, Tensor, dtypes\nimport numpy as np\n"


_LAUNCH = HEADER + (
    "from plugrad.errors import DeviceError\n"
    "from plugrad.runtime.program import Program\n"
    "d = Device['METAL']\n"
    "block = d.new_buffer(64, dtypes.float32).ensure_allocated()\n"
    "def run(body, threads=64):\n"
    "    s = '''#include <metal_stdlib>\nusing namespace metal;\n"
    "[[kernel]] void k(device float *p [[buffer(0)]], uint3 item [[thread_position_in_threadgroup]]) {\n"
    "uint i = item.x; float x = i;\n''' + body + '\\n}'\n"
    "    k = d.runner(Program('k', s, d.compiler.compile(s, 'k'), outs=(0,)))\n"
    "    k((block.handle,), (), (1,), (threads,))\n"
    "    d.synchronize()\n"
    "    return np.frombuffer(block.as_memoryview(), np.float32)\n"
    "i = np.arange(64); lane, first = i % 32, i // 32 * 32\n"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("simd_shuffle(x, ushort(31 - i % 32))", "first + 31 - lane"),
        ("simd_shuffle_xor(x, ushort(5))", "i ^ 5"),
        ("simd_shuffle_up(x, ushort(3))", "np.where(lane < 3, i, i - 3)"),
        ("simd_shuffle_down(x, ushort(30))", "np.where(lane < 2, i + 30, i)"),
        ("simd_sum(x)", "32 * first + 31 * 16"),
        ("float(simd_shuffle_xor(half(x), ushort(1)))", "i ^ 1"),
        ("float(simd_sum(int(i)) + simd_shuffle(long(i), ushort(2)))", "32 * first + 31 * 16 + first + 2"),
    ],
)
def test_threads_see_what_others_of_their_simdgroup_show(simulate, call, expected):
    program = _LAUNCH + f"print((run('p[i] = {call};') == {expected}).all())"
    assert simulate(program).clean_lines()[0] == "True"


def test_simdgroups_and_barriers_take_turns(simulate):
    program = _LAUNCH + (
        "got = run('''threadgroup float sums[2]; sums[i / 32] = simd_sum(x);\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "p[i] = simd_shuffle_xor(sums[0] + sums[1] + x, ushort(1));''')\n"
        "print((got == 63 * 32 + (i ^ 1)).all())"
    )
    assert simulate(program).clean_lines()[0] == "True"


_MATRICES = (
    "simdgroup_half8x8 a, b; simdgroup_float8x8 c, d;\n"
    "uint t = i % 32, row = (t / 4 & 4) + t / 2 % 4, column = (t / 4 & 2) * 2 + t % 2 * 2;\n"
    "for (uint j = 0; j < 2; j++) {\n"
    "  a.thread_elements()[j] = float(row * 8 + column + j);\n"
    "  b.thread_elements()[j] = float(row) - float(column + j) * 2;\n"
    "  c.thread_elements()[j] = float(row) * 3 + i / 32;\n"
    "}\n"
)


def test_matrices_are_multiplied_together(simulate):
    program = _LAUNCH + (
        "block = d.new_buffer(128, dtypes.float32).ensure_allocated()\n"
        f"got = run('''{_MATRICES}simdgroup_multiply_accumulate(d, a, b, c);\n"
        "for (uint j = 0; j < 2; j++) p[i / 32 * 64 + row * 8 + column + j] = d.thread_elements()[j];''')\n"
        "rows, columns = np.indices((8, 8))\n"
        "product = (rows * 8 + columns) @ (rows - columns * 2) + rows * 3\n"
        "print((got.reshape(2, 8, 8) == [product, product + 1]).all())"
    )
    assert simulate(program).clean_lines()[0] == "True"


@pytest.mark.parametrize(
    ("body", "threads", "complaint"),
    [
        ("if (i < 16) p[i] = simd_sum(x);", 64, "only some threads of a simdgroup arrived at simd_sum"),
        (
            "p[i] = i < 16 ? simd_sum(x) : simd_shuffle_xor(x, ushort(1));",
            64,
            "some threads of a simdgroup arrived at simd_sum, others at simd_shuffle_xor",
        ),
        (
            "if (i == 3) threadgroup_barrier(mem_flags::mem_none); p[i] = simd_sum(x);",
            64,
            "only some threads of a simdgroup arrived at simd_sum",
        ),
        (
            "if (i < 32) threadgroup_barrier(mem_flags::mem_none);",
            64,
            "only some threads of a threadgroup arrived at a barrier",
        ),
        ("p[i] = simd_shuffle(x, ushort(32));", 64, "simd_shuffle asks for a thread that is not there"),
        ("p[i] = simd_shuffle_xor(x, ushort(31));", 40, "simd_shuffle_xor asks for a thread that is not"),
        (
            f"{_MATRICES}if (i != 40) simdgroup_multiply_accumulate(d, a, b, c);",
            64,
            "only some threads of a simdgroup arrived at simdgroup_multiply_accumulate",
        ),
        (
            f"{_MATRICES}simdgroup_multiply_accumulate(d, a, b, c);",
            48,
            "simdgroup_multiply_accumulate takes 32 threads",
        ),
    ],
)
def test_threads_that_do_not_meet_are_reported(simulate, body, threads, complaint):
    program = _LAUNCH + (
        f"try:\n    run('''{body}''', {threads})\nexcept DeviceError as error:\n    print(error)\n"
        "print(run('p[i] = simd_sum(x);')[0])"  # the device goes on
    )
    done = simulate(program)
    assert done.returncode == 0, done.stderr
    assert f"Metal stand-in: k: {complaint}" in done.stderr
    assert done.stdout.split("\n")[:2] == [
        "METAL: running k failed: Caused GPU Internal Error (code 1)",
        "496.0",
    ]


_PRODUCT = HEADER + (
    "from plugrad.events import LowerEvent, subscribe\n"
    "from plugrad.uop.ops import Ops\n"
    "used = []\n"
    "def look(event):\n"
    "    if event.device == 'METAL': used.append(any(u.op is Ops.WMMA for u in event.linear))\n"
    "def product(sizes, dtype, finish=lambda x: x, result=None):\n"
    "    m, n, k = sizes\n"
    "    rng = np.random.default_rng(m)\n"
    "    a, b = rng.normal(size=(m, k)).astype('f'), rng.normal(size=(k, n)).astype('f')\n"
    "    got = []\n"
    "    for device in ('METAL', 'PYTHON'):\n"
    "        x, y = (Tensor(v, device=device).cast(dtype).realize() for v in (a, b))\n"
    "        used.clear()\n"
    "        with subscribe(LowerEvent, look):\n"
    "            got.append(finish(x.matmul(y, dtype=result)).cast(dtypes.float32).numpy())\n"
    "        if device == 'METAL': assert any(used), (sizes, dtype)\n"
    "    return got\n"
)


@pytest.mark.parametrize(("dtype", "digits"), [("float16", 11), ("bfloat16", 8), ("float32", 24)])
def test_products_use_matrix_instructions_and_give_what_the_interpreter_does(
    simulate, tmp_path, dtype, digits
):
    # the sums are of float32; rounding them to fewer digits may go to the neighbour
    program = _PRODUCT + (
        "for sizes in ((8, 8, 8), (64, 64, 64), (100, 100, 100), (48, 24, 136)):\n"
        f"    got, wanted = product(sizes, dtypes.{dtype})\n"
        f"    np.testing.assert_allclose(got, wanted, rtol=2.0**{1 - digits}, atol=1e-5)\n"
        "print('done')"
    )
    assert simulate(program, PLUGRAD_CACHE=tmp_path).clean_lines()[0] == "done"


def test_products_of_small_floats_may_give_float32_and_go_on(simulate, tmp_path):
    program = _PRODUCT + (
        "for dtype in (dtypes.float16, dtypes.bfloat16):\n"
        "    got, wanted = product((64, 32, 64), dtype, lambda x: x.relu() + 1, dtypes.float32)\n"
        "    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-5)\n"
        "print('done')"
    )
    assert simulate(program, PLUGRAD_CACHE=tmp_path).clean_lines()[0] == "done"


@pytest.mark.parametrize(
    ("settings", "cores"),
    [
        ({"PLUGRAD_SIM_FAMILY": 1007}, "float16 bfloat16 float32"),
        ({"PLUGRAD_SIM_FAMILY": 2002}, ""),
        ({"PLUGRAD_SIM_LANGUAGE": "3.0"}, "float16 float32"),
    ],
)
def test_matrix_instructions_follow_the_family_and_the_language(simulate, settings, cores):
    program = HEADER + (
        "print(*(core.dtype_in.name for core in Device['METAL'].capabilities.tensor_cores))\n"
        "a = np.arange(256, dtype='f').reshape(16, 16) % 7\n"
        "for dtype in (dtypes.bfloat16, dtypes.float32):\n"
        "    x = Tensor(a, device='METAL').cast(dtype)\n"
        "    assert ((x @ x).cast(dtypes.float32).numpy() == a @ a).all()"
    )
    assert simulate(program, **settings).clean_lines()[0] == cores
