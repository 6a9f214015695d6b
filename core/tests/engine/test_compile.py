import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from plugrad.device import Device
from plugrad.engine import compile as engine_compile
from plugrad.engine.compile import clear_loaded, compile_kernels
from plugrad.engine.realize import realize, schedule
from plugrad.errors import CompileError, PluginError
from plugrad.events import CompileEvent, LowerEvent
from plugrad.runtime.disk_cache import kernel_cache
from plugrad.settings import context
from plugrad.tensor import Tensor
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pvars
from plugrad_conformance.testing import recorded_events, temporary_cache
from plugrad_conformance.testing.memory import get, put

pytestmark = pytest.mark.usefixtures("cold_kernels")


def kernel_of(value: UOp) -> UOp:
    return schedule([value])[-1].ast


def test_a_kernel_is_compiled_once_for_all_its_uses(device: str) -> None:
    ast = kernel_of(put([1.0, 2.0], device) * 3)
    with temporary_cache(), recorded_events(LowerEvent) as lowered:
        first, second = compile_kernels(Device[device], [ast, ast])
        (third,) = compile_kernels(Device[device], [ast])
    assert first is second is third
    assert len(lowered) == 1


def test_a_second_process_lowers_nothing(device: str) -> None:
    ast = kernel_of(put([1.0, 2.0], device) * 3)
    with temporary_cache():
        (first,) = compile_kernels(Device[device], [ast])
        clear_loaded()
        with recorded_events(LowerEvent) as lowered, recorded_events(CompileEvent) as compiled:
            (second,) = compile_kernels(Device[device], [ast])
    assert not lowered
    assert [event.cached for event in compiled] == [True]
    assert second.program == first.program


def test_who_wants_to_see_the_passes_has_them_run(device: str) -> None:
    ast = kernel_of(put([1.0, 2.0], device) * 3)
    with temporary_cache(), recorded_events(LowerEvent) as lowered:
        for debug in (0, 4, 5):
            clear_loaded()
            with context(DEBUG=debug):
                compile_kernels(Device[device], [ast])
    assert len(lowered) == 2


def test_several_kernels_are_handed_to_the_compiler_together(device: str, monkeypatch: Any) -> None:
    asts = [kernel_of(put(np.arange(n), device) * 3) for n in (2.0, 3.0, 4.0)]
    batches: list[int] = []
    compiler = Device[device].compiler
    compile_many = compiler.compile_many

    def counting(units: Sequence[tuple[str, str]]) -> list[bytes]:
        batches.append(len(units))
        return compile_many(units)

    monkeypatch.setattr(type(compiler), "compile_many", lambda self, units: counting(units))
    with temporary_cache():
        compile_kernels(Device[device], asts)
    assert batches == [3]


def test_rules_of_the_renderer_are_applied(monkeypatch: Any) -> None:
    x = pvars("x")[0]
    rules = PatternMatcher((UPat(Ops.NEG, src=(x,)), lambda x: x.const_like(0) - x))
    monkeypatch.setattr(Device["PYTHON"].renderer, "extra_rules", rules)
    ast = kernel_of(-put([1.0, 2.0], "PYTHON"))
    with temporary_cache(), recorded_events(LowerEvent) as lowered:
        compile_kernels(Device["PYTHON"], [ast])
    ops = {getattr(u, "op", None) for u in lowered[0].linear}
    assert Ops.SUB in ops
    assert Ops.NEG not in ops


@pytest.mark.parametrize(
    ("part", "method", "result", "said"),
    [
        ("renderer", "render", None, "plugrad_renderer gave, render must return a str, got None"),
        ("compiler", "compile", "text", "plugrad_compiler gave, compile must return bytes, got str"),
        ("compiler", "compile_many", [], "compile_many must return a list of 1, one for each unit, got list"),
    ],
)
def test_a_part_that_returns_something_else_is_named(
    monkeypatch: Any, part: str, method: str, result: Any, said: str
) -> None:
    monkeypatch.setattr(type(getattr(Device["PYTHON"], part)), method, lambda *_: result)
    ast = kernel_of(-put([1.0, 2.0], "PYTHON"))
    with temporary_cache(), pytest.raises(PluginError, match="plugin 'python'") as caught:
        compile_kernels(Device["PYTHON"], [ast])
    assert said in str(caught.value)
    assert caught.value.distribution.startswith("plugrad-core")


def _raise(*_: Any) -> Any:
    raise RuntimeError("the moon is full.")


@pytest.mark.parametrize(("part", "method"), [("renderer", "render"), ("compiler", "compile")])
def test_a_part_that_raises_is_named(monkeypatch: Any, part: str, method: str) -> None:
    monkeypatch.setattr(type(getattr(Device["PYTHON"], part)), method, _raise)
    ast = kernel_of(-put([1.0, 2.0], "PYTHON"))
    with temporary_cache(), pytest.raises(PluginError, match="plugin 'python'") as caught:
        compile_kernels(Device["PYTHON"], [ast])
    assert f"of what plugrad_{part} gave, " in str(caught.value)
    assert "raised RuntimeError: the moon is full. `plugrad devices`" in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_noopt_gives_the_plain_loops() -> None:
    ast = kernel_of(put(np.zeros((64, 64))) * 3)
    with temporary_cache(), context(NOOPT=1):
        (plain,) = compile_kernels(Device["PYTHON"], [ast])
    assert plain.program.opts == ()


def test_the_kernels_of_one_compiler_run_share_a_library_on_disk(device: str) -> None:
    asts = [kernel_of(put(np.arange(n), device) * 3) for n in (2.0, 3.0, 4.0)]
    with temporary_cache():
        first = compile_kernels(Device[device], asts)
        libraries = {kernel.program.lib for kernel in first}
        info = kernel_cache().info()
        assert (info.entries, info.blobs) == (3, len(libraries))
        clear_loaded()
        second = compile_kernels(Device[device], asts)
    assert [kernel.program for kernel in second] == [kernel.program for kernel in first]


@pytest.mark.parametrize("damage", ["removed", "torn"])
def test_an_entry_whose_library_is_gone_is_compiled_again(device: str, damage: str) -> None:
    ast = kernel_of(put([1.0, 2.0], device) * 3)
    with temporary_cache(), recorded_events(LowerEvent) as lowered:
        (first,) = compile_kernels(Device[device], [ast])
        for file in kernel_cache().path.glob("??/*.blob"):
            if damage == "removed":
                file.unlink()
            else:
                file.write_bytes(file.read_bytes()[:-1])
        for _ in range(2):
            clear_loaded()
            (again,) = compile_kernels(Device[device], [ast])
            assert again.program.source == first.program.source
    assert len(lowered) == 2


def test_only_the_kernels_used_last_are_kept_in_memory() -> None:
    asts = [kernel_of(put(np.arange(n)) * 3) for n in (2.0, 3.0, 4.0)]
    with temporary_cache(), recorded_events(CompileEvent) as compiled, context(CACHE_KERNELS=2):
        for number in (0, 1, 0, 2, 0, 1):
            compile_kernels(Device["PYTHON"], [asts[number]])
        assert [event.cached for event in compiled] == [False, False, False, True]
        # more than are kept, in one go
        kernels = compile_kernels(Device["PYTHON"], [*asts, *asts])
    assert kernels[:3] == kernels[3:]
    assert len(set(map(id, kernels))) == 3


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"nonsense",
        pickle.dumps((1, 2, 3)),
        pickle.dumps((None, b"blob")),
        pickle.dumps({"no": "program"}),
        b"cplugrad.nothing\nThing\n.",
    ],
)
def test_an_entry_of_another_build_is_a_miss(payload: bytes) -> None:
    ast = kernel_of(put([1.0, 2.0]) * 3)
    with temporary_cache():
        kernel_cache().put(engine_compile._disk_key(Device["PYTHON"], ast, None), payload)
        (kernel,) = compile_kernels(Device["PYTHON"], [ast])
    assert kernel.program.outs == (0,)


def test_after_a_compiler_failed_the_same_value_can_be_realized(monkeypatch: Any) -> None:
    x = put([1.0, 2.0])
    values = [x.assign(x + 1), x * 9]
    compiler = type(Device["PYTHON"].compiler)

    def fail(self: object, source: str, name: str) -> bytes:
        raise CompileError("no", source=source, log="a log", command="cc")

    with temporary_cache():
        with monkeypatch.context() as patch:
            patch.setattr(compiler, "compile", fail)
            with pytest.raises(CompileError):
                realize(values)
        np.testing.assert_array_equal(get(x), [1, 2])
        realize(values)
    np.testing.assert_array_equal(get(x), [2, 3])
    np.testing.assert_array_equal(get(values[1]), [9, 18])


def test_an_interrupt_while_compiling_leaves_nothing_behind(monkeypatch: Any) -> None:
    x = put([1.0, 2.0])
    y = x * 11
    compiler = type(Device["PYTHON"].compiler)

    def interrupt(self: object, source: str, name: str) -> bytes:
        raise KeyboardInterrupt

    with temporary_cache() as folder:
        with monkeypatch.context() as patch:
            patch.setattr(compiler, "compile", interrupt)
            with pytest.raises(KeyboardInterrupt):
                realize([y])
        assert not [path for path in folder.rglob("*") if path.suffix == ".tmp"]
        realize([y])
    np.testing.assert_array_equal(get(y), [11, 22])


def test_kernels_that_add_the_same_terms_in_another_order_are_one() -> None:
    weights = Tensor(np.ones((48, 48), np.float32)).realize()

    def of_heads(x: Tensor) -> Tensor:
        return x.permute(0, 2, 1, 3).reshape(32, 48) @ weights

    def heads(x: Tensor) -> Tensor:
        return x.reshape(2, 16, 6, 8).permute(0, 2, 1, 3)

    with temporary_cache(), recorded_events(LowerEvent) as lowered:
        first = of_heads(Tensor(np.ones((2, 6, 16, 8), np.float32)).realize())
        second = of_heads(heads(first).contiguous())
        total = first.exp().sum(1).contiguous().sum()
        of_heads((heads(second) + total).contiguous()).realize()
    products = [event for event in lowered if "32_48_48" in event.name]
    assert len(products) == 1
