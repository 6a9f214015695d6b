"""Tests of plugrad.observe.printer."""

import io

import pytest

from plugrad.dtype import dtypes
from plugrad.events import CompileEvent, CopyEvent, Event, KernelEvent, LowerEvent, PassEvent, RealizeEvent
from plugrad.observe.printer import Printer, coloured_name, header, highlighted, launch
from plugrad.observe.style import plain
from plugrad.settings import context
from plugrad.uop.ops import KernelInfo
from plugrad.uop.uop import UOp

ONE, TWO = UOp.const(dtypes.int32, 1), UOp.const(dtypes.int32, 2)
KERNEL = KernelEvent(
    "r_64_4",
    "NULL",
    global_size=(64,),
    local_size=(8, 2),
    seconds=1e-3,
    flops=2_000_000,
    bytes_accessed=4_000_000,
    memory_used=1500,
    axes=(("64", "GLOBAL"), ("4", "UPCAST")),
)
COMPILE = CompileEvent(
    "r_64_4", "NULL", "int x;\n", 120, 0.25, opts=("UPCAST:0:4",), disassemble=lambda: "ret"
)
EVENTS: dict[str, Event] = {
    "realize": RealizeEvent(2, 0.004, copies=1, devices=("NULL",)),
    "kernel": KERNEL,
    "copy": CopyEvent("PYTHON", "NULL", 2500, 1e-5),
    "compile": COMPILE,
    "pass": PassEvent("codegen", "fold", ONE, TWO, 1e-4),
    "lower": LowerEvent("r_64_4", "NULL", ONE, [ONE], 1e-3),
}


def printed(event: Event, level: int) -> str:
    stream = io.StringIO()
    with context(DEBUG=level):
        Printer(stream)(event)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "level"),
    [("realize", 1), ("kernel", 2), ("copy", 2), ("compile", 3), ("pass", 5), ("lower", 6)],
)
def test_an_event_is_printed_from_its_level_on(name: str, level: int) -> None:
    assert printed(EVENTS[name], level - 1) == ""
    assert printed(EVENTS[name], level) != ""
    assert printed(EVENTS[name], 7) != ""


def test_a_realize_shows_kernels_copies_devices_and_time() -> None:
    assert printed(EVENTS["realize"], 1) == "realize: 2 kernels, 1 copy on NULL in 4.00ms\n"


def test_a_kernel_is_one_line_with_launch_time_speed_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    header, line = printed(KERNEL, 2).splitlines()
    assert header.split() == ["#", "device", "kernel", "launch", "time", "GFLOP/s", "GB/s", "memory"]
    assert " ".join(line.split()) == "1 NULL r_64_4 64 @ 8x2 1.00ms 2.00 4.00 1.50 kB"


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_of_kernels_fit_the_terminal_and_break_no_number(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    long = KernelEvent("r_" + "_".join(["1024"] * 8), "NULL:1", seconds=12.5, flops=10**15)
    for event in (KERNEL, long, EVENTS["copy"]):
        lines = printed(event, 2).splitlines()
        assert all(len(line) <= columns for line in lines)
    assert printed(long, 2).splitlines()[-1].split()[-5:] == ["12.50s", "80000.00", "-", "0", "bytes"]
    assert printed(EVENTS["copy"], 2).splitlines()[-1].split()[-4] == "-"
    assert "r_1024_1024_1024_1024_1024_1024_1024_1024" in printed(long, 2)


def test_the_header_comes_once_and_says_what_colours_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    printer = Printer(stream)
    with context(DEBUG=2):
        printer(KERNEL)
        printer(KERNEL)
    assert stream.getvalue().count("GFLOP/s") == 1
    assert "\x1b[34mglobal\x1b[0m" in stream.getvalue()


@pytest.mark.parametrize("columns", [80, 120])
def test_the_header_fits_the_terminal(columns: int) -> None:
    assert all(len(plain(line)) <= columns for line in header(columns, coloured=True).splitlines())


def test_a_kernel_that_was_not_waited_for_has_no_speed() -> None:
    line = printed(KernelEvent("k", "NULL", flops=5), 2)
    assert line.splitlines()[-1].split()[-5:] == ["-", "-", "-", "0", "bytes"]


def test_kernels_are_numbered() -> None:
    stream = io.StringIO()
    printer = Printer(stream)
    with context(DEBUG=2):
        printer(KERNEL)
        printer(KERNEL)
    assert [line.split()[0] for line in stream.getvalue().splitlines()[1:]] == ["1", "2"]


def test_axes_are_coloured_in_place_when_the_name_ends_in_their_sizes() -> None:
    assert coloured_name(KERNEL) == "r_\x1b[34m64\x1b[0m_\x1b[33m4\x1b[0m"


def test_axes_follow_a_name_that_does_not_hold_them() -> None:
    event = KernelEvent("softmax", "NULL", axes=(("8", "REDUCE"), ("3", "LOOP")))
    assert coloured_name(event) == "softmax [\x1b[31m8\x1b[0m_3]"


def test_a_launch_without_dimensions_is_a_dash() -> None:
    assert launch(KernelEvent("k", "NULL")) == "-"
    assert launch(KernelEvent("k", "NULL", threads=2)) == "2 threads"


def test_opts_source_and_disassembly_come_one_level_after_the_other() -> None:
    assert "opts: UPCAST:0:4" in printed(COMPILE, 3)
    assert "int x;" not in printed(COMPILE, 3)
    assert "int x;" in printed(COMPILE, 4)
    assert "ret" not in printed(COMPILE, 6)
    assert printed(COMPILE, 7).endswith("ret\n")


def test_a_cached_kernel_says_so() -> None:
    assert "from the cache" in printed(CompileEvent("k", "NULL", "", 1, 0.0, cached=True), 3)


def test_a_pass_shows_the_graph_only_if_it_changed() -> None:
    assert repr(TWO) in printed(EVENTS["pass"], 5)
    assert printed(PassEvent("codegen", "fold", ONE, ONE, 0.0), 5) == "--- codegen: fold (0.00us) unchanged\n"


def test_a_pass_over_a_large_graph_shows_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    i = UOp.variable("i", 0, 9)
    before = after = i
    for number in range(20):
        before, after = before * (number + 2) + i, after * (number + 2 + 1000 * (number == 7)) + i
    text = printed(PassEvent("codegen", "fold", before, after, 0.0), 5)
    changed = [line for line in text.splitlines() if line[:1] in "+-" and line[:3] != "---"]
    assert [line.strip("+- ")[:33] for line in changed] == ["UOp(Ops.CONST, dtypes.index, arg="] * 2
    assert len(text.splitlines()) < 10


@pytest.mark.parametrize("width", [80, 120])
def test_graphs_and_programs_fit_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    many = tuple(f"UPCAST:{axis}:4" for axis in range(40))
    before, after = (UOp.sink(ONE, arg=KernelInfo("k", many[:count])) for count in (39, 40))
    for event in (
        PassEvent("codegen", "opts", before, after, 0.0),
        LowerEvent("k", "NULL", ONE, [ONE, after], 0.0),
        CompileEvent("k", "NULL", "", 1, 0.0, opts=many),
    ):
        assert max(map(len, printed(event, 6).splitlines())) <= width


def test_a_stream_that_takes_colours_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[34m" not in printed(KERNEL, 2)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[34m" in printed(KERNEL, 2)


def test_a_source_has_colours_and_is_the_same_without_them() -> None:
    source = "#include <math.h>\nvoid k(float* d0) {\n  d0[0] = exp2f(0x1Fu);  // sum\n}"
    assert highlighted(source).count("\x1b[") > 10
    assert plain(highlighted(source)) == source
