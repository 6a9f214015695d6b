"""Kernels are compiled in another thread while more are lowered."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from plugrad.engine.compile_queue import CompileQueue, compile_queue
from plugrad.errors import CompileError

_LONG = "x" * 20_000


class _Compiler:
    may_overlap = True

    def __init__(self) -> None:
        self.runs: list[tuple[list[str], str]] = []

    def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
        names = [name for name, _ in units]
        self.runs.append((names, threading.current_thread().name))
        if "broken" in names:
            raise CompileError("no such instruction")
        return [name.encode() for name in names]


def _device(compiler: _Compiler) -> Any:
    return SimpleNamespace(compiler=compiler, plugins=[])


def _all_of(queue: CompileQueue, units: Sequence[tuple[str, str]]) -> list[bytes]:
    out = [pair for unit in units for pair in queue.put(unit)] + queue.drain()
    assert all(seconds >= 0 for _, seconds in out)
    return [lib for lib, _ in out]


def test_libraries_come_in_order() -> None:
    compiler = _Compiler()
    units = [(f"k{i}", _LONG if i % 3 else "short") for i in range(20)]
    with compile_queue(_device(compiler), len(units)) as queue:
        assert _all_of(queue, units) == [name.encode() for name, _ in units]
    threads = {thread for _, thread in compiler.runs}
    assert any(name.startswith("plugrad-compile") for name in threads)


def test_short_sources_wait_for_more() -> None:
    compiler = _Compiler()
    with compile_queue(_device(compiler), 3) as queue:
        assert _all_of(queue, [("a", "short"), ("b", "short"), ("c", "short")]) == [b"a", b"b", b"c"]
    assert compiler.runs == [(["a", "b", "c"], threading.current_thread().name)]


@pytest.mark.parametrize(("count", "may_overlap"), [(1, True), (2, False)])
def test_a_compiler_is_asked_in_this_thread_unless_it_gains(count: int, may_overlap: bool) -> None:
    compiler = _Compiler()
    compiler.may_overlap = may_overlap
    with compile_queue(_device(compiler), count) as queue:
        _all_of(queue, [(f"k{i}", _LONG) for i in range(count)])
    assert [thread for _, thread in compiler.runs] == [threading.current_thread().name]


def test_what_the_compiler_refuses_is_raised() -> None:
    with ThreadPoolExecutor(1) as thread:
        queue = CompileQueue(_device(_Compiler()), thread, 1)
        queue.put(("broken", _LONG))
        with pytest.raises(CompileError, match="no such instruction"):
            queue.drain()


def test_the_end_is_compiled_in_both_threads() -> None:
    both = threading.Barrier(2)

    class Meeting(_Compiler):
        def compile_many(self, units: Sequence[tuple[str, str]]) -> list[bytes]:
            if units[0][0] in ("0", "4"):
                both.wait(10)
            return super().compile_many(units)

    compiler = Meeting()
    with ThreadPoolExecutor(1) as thread:
        queue = CompileQueue(_device(compiler), None, 8)
        units = [(f"{i}", _LONG) for i in range(8)]
        assert not [done for unit in units for done in queue.put(unit)]
        queue._thread = thread
        assert [lib for lib, _ in queue.drain()] == [name.encode() for name, _ in units]
    # half of all, then as much as is worth a start
    assert sorted(names for names, _ in compiler.runs) == [[*"0123"], [*"456"], ["7"]]
    assert len({thread for _, thread in compiler.runs}) == 2


def test_a_run_leaves_half_of_what_is_to_come() -> None:
    queue = CompileQueue(_device(_Compiler()), None, 12)
    for i in range(8):
        queue.put((f"k{i}", _LONG))
    # of 160,000 characters that wait and 80,000 to come
    assert queue._take(1) == range(6)
    assert queue._take(50_000) == range(6, 6)


def test_the_first_refusal_is_raised_and_no_other() -> None:
    with ThreadPoolExecutor(1) as thread:
        queue = CompileQueue(_device(_Compiler()), thread, 2)
        queue.put(("broken", _LONG))
        queue._units.append(("broken", "short"))
        with pytest.raises(CompileError, match="no such instruction"):
            queue.drain()
