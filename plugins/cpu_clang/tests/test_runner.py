import gc
import os
import tempfile
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from plugrad.dtype import dtypes
from plugrad.errors import CompileError, DeviceError
from plugrad.runtime.graph import GraphLaunch
from plugrad.runtime.program import Program
from plugrad.uop.ops import Ops
from plugrad_cpu_clang import pool as pool_module
from plugrad_cpu_clang import process
from plugrad_cpu_clang.library import load_library
from plugrad_cpu_clang.pool import pool
from plugrad_cpu_clang.renderer import CpuRenderer
from plugrad_cpu_clang.runner import CpuRunner, LaunchList

PIECES = 16


@pytest.fixture
def doubler(new_writer, best_compiler):
    """The kernel out[thread] = a[thread] * 2 + n."""
    w = new_writer()
    n = w.variable("n", dtypes.int64)
    out, a = w.param(0, dtypes.int64, PIECES), w.param(1, dtypes.int64, PIECES)
    thread = w.add(Ops.SPECIAL, dtypes.int32, w.const(dtypes.int32, PIECES), arg="thread")
    twice = w.alu(Ops.MUL, w.load(a, thread), w.const(dtypes.int64, 2))
    w.store(out, thread, w.alu(Ops.ADD, twice, n))
    return CpuRunner(w.program(CpuRenderer(), best_compiler, threads=PIECES))


def test_seconds_are_given_when_asked(doubler, addresses):
    a, out = np.arange(PIECES), np.zeros(PIECES, np.int64)
    assert doubler(addresses(out, a), (1,), (), ()) is None
    seconds = doubler(addresses(out, a), (1,), (), (), wait=True)
    assert 0 < seconds < 10
    np.testing.assert_array_equal(out, a * 2 + 1)


def test_buffers_that_the_kernel_folded_away_are_ignored(doubler, addresses):
    a, out = np.arange(PIECES), np.zeros(PIECES, np.int64)
    doubler(addresses(out, a, a, a), (1,))
    np.testing.assert_array_equal(out, a * 2 + 1)


def test_threads_may_launch_one_runner_at_the_same_time(doubler, addresses):
    wrong = []

    def launch_often(n):
        a, out = np.full(PIECES, n), np.zeros(PIECES, np.int64)
        for _ in range(500):
            out[:] = 0
            doubler(addresses(out, a), (n,))
            if (out != 3 * n).any():
                wrong.append(n)

    threads = [threading.Thread(target=launch_often, args=(n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_list_runs_in_order_and_takes_new_blocks_and_values(doubler, addresses):
    a, b, c = np.arange(PIECES), np.zeros(PIECES, np.int64), np.zeros(PIECES, np.int64)
    launches = LaunchList(
        [
            GraphLaunch(doubler, addresses(b, a), (1,), (), ()),
            GraphLaunch(doubler, addresses(c, b), (0,), (), ()),
        ]
    )
    assert len(launches) == 2
    launches()
    np.testing.assert_array_equal(c, (a * 2 + 1) * 2)
    other = np.zeros(PIECES, np.int64)
    launches.set_handle(1, 0, other.ctypes.data)
    launches.set_sizes(0, (5,), (), ())
    assert launches(wait=True) > 0
    np.testing.assert_array_equal(other, (a * 2 + 5) * 2)
    np.testing.assert_array_equal(c, (a * 2 + 1) * 2)


def test_an_empty_list_runs():
    LaunchList([])()


def test_workers_stay_up_between_launches(doubler, addresses):
    a, out = np.arange(PIECES), np.zeros(PIECES, np.int64)
    doubler(addresses(out, a), (0,))
    before = pool().plugrad_count_workers()
    for _ in range(100):
        doubler(addresses(out, a), (0,))
    assert pool().plugrad_count_workers() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_launches_too(doubler, addresses):
    a, out = np.arange(PIECES), np.zeros(PIECES, np.int64)
    doubler(addresses(out, a), (0,))
    child = os.fork()
    if child == 0:
        out[:] = 0
        doubler(addresses(out, a), (7,))
        os._exit(0 if (out == a * 2 + 7).all() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_the_same_bytes_are_loaded_once(best_compiler):
    data = best_compiler.compile("void once(void) {}", "once")
    first = load_library(data)
    assert load_library(bytes(bytearray(data))) is first
    del first
    gc.collect()
    assert load_library(data).address("once")


def test_libraries_do_not_get_mixed_up(best_compiler, addresses):
    total = np.zeros(1, np.int64)
    for n in range(40):
        source = f"void k(void *const *bufs) {{ *(long long *)bufs[0] += {n}; }}"
        CpuRunner(Program("k", source, best_compiler.compile(source, "k"), outs=(0,)))(addresses(total))
    assert total[0] == sum(range(40))


def test_libraries_load_from_files_where_there_is_no_anonymous_memory(best_compiler, monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = best_compiler.compile("void from_file(void) {}", "from_file")
    assert load_library(data).address("from_file")
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_no_library_are_an_error():
    with pytest.raises(DeviceError, match=r"cannot load a compiled kernel of 7 bytes: .+"):
        load_library(b"garbage")


def test_a_missing_kernel_is_an_error(best_compiler):
    lib = best_compiler.compile("void one(void) {}", "one")
    with pytest.raises(DeviceError, match="no function 'two'"):
        CpuRunner(Program("two", "", lib))


def test_an_undefined_symbol_is_an_error_that_names_it(best_compiler):
    lib = best_compiler.compile("void missing_one(void);\nvoid k(void) { missing_one(); }", "k")
    with pytest.raises(DeviceError, match="missing_one"):
        load_library(lib)


def test_the_pool_comes_from_the_cache(monkeypatch, best_compiler):
    monkeypatch.setattr(pool_module.os, "register_at_fork", lambda **hooks: None)
    # the process may have its pool from a cache of another test
    pool_module._load()
    monkeypatch.setattr(process.subprocess, "Popen", _refuse)
    assert pool_module._load().plugrad_count_workers() >= 0


def _refuse(*args, **options):
    raise AssertionError(f"a process was started: {args}")


def test_the_pool_is_compiled_beside_what_comes_before_the_first_launch(monkeypatch):
    monkeypatch.setattr(pool_module, "_pool", None)
    monkeypatch.setattr(pool_module, "kernel_cache", lambda: SimpleNamespace(get=lambda key: None))
    begun: list[str] = []
    monkeypatch.setattr(pool_module, "_prepare", lambda: begun.append(threading.current_thread().name))
    pool_module.prepare_pool()
    for thread in threading.enumerate():
        if thread.name == "plugrad pool":
            thread.join()
    assert begun == ["plugrad pool"]


def test_a_pool_that_cannot_be_compiled_is_told_by_a_launch_only(monkeypatch):
    def fail():
        raise CompileError("no compiler")

    monkeypatch.setattr(pool_module, "_pool", None)
    monkeypatch.setattr(pool_module, "_load", fail)
    pool_module._prepare()
    with pytest.raises(CompileError, match="no compiler"):
        pool_module.pool()
