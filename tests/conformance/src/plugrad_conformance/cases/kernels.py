"""Minimal: kernels on float32, int32 and bool, and the launch path around them."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import DType
from plugrad.engine.compile import compile_kernels
from plugrad.errors import PlugradError
from plugrad.runtime.program import Program
from plugrad.uop import Ops
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import Array, array_of, memory_of, sample, tensor_of
from plugrad_conformance.tolerance import Tolerance, tolerance_of

#: One element, less than a vector, around the sizes of vectors, groups and pages.
SIZES = (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 65, 127, 257, 1000, 4097)

Shaped = Callable[[Any], Any]


def _movement(dtype: DType, shape: tuple[int, ...], move: Shaped, expect: Shaped, bench: Bench) -> Check:
    x = sample(dtype, int(np.prod(shape))).reshape(shape)
    return Check([move(tensor_of(x, dtype, bench.name))], [expect(x)])


# name, shape, on tensors, on arrays
_MOVEMENTS: tuple[tuple[str, tuple[int, ...], Shaped, Shaped], ...] = (
    ("reshape", (4, 6), lambda t: t.reshape(3, 8) + t.reshape(3, 8), lambda x: _twice(x.reshape(3, 8))),
    ("permute", (2, 3, 5), lambda t: t.permute(2, 0, 1).contiguous(), lambda x: x.transpose(2, 0, 1)),
    ("expand", (1, 5), lambda t: t.expand(4, 5).contiguous(), lambda x: np.broadcast_to(x, (4, 5))),
    ("shrink", (5, 7), lambda t: t.shrink(((1, 4), (2, 7))).contiguous(), lambda x: x[1:4, 2:7]),
    ("pad", (3, 4), lambda t: t.pad(((1, 2), (0, 3))), lambda x: np.pad(x, ((1, 2), (0, 3)))),
    ("flip", (3, 5), lambda t: t.flip(0, 1).contiguous(), lambda x: x[::-1, ::-1]),
)


def _twice(x: Array) -> Array:
    return x | x if x.dtype == bool else x + x


_ELEMENTWISE: dict[str, tuple[Callable[[Any, Any], Any], tuple[DType, ...]]] = {
    "add": (lambda x, y: x + y, (dtypes.float32, dtypes.int32)),
    "mul": (lambda x, y: x * y, (dtypes.float32, dtypes.int32)),
    "sub": (lambda x, y: x - y, (dtypes.float32, dtypes.int32)),
    "less": (lambda x, y: x < y, (dtypes.float32, dtypes.int32)),
    "equal": (lambda x, y: x == y, (dtypes.float32, dtypes.int32, dtypes.bool)),
    "and": (lambda x, y: x & y, (dtypes.int32, dtypes.bool)),
    "or": (lambda x, y: x | y, (dtypes.int32, dtypes.bool)),
    "xor": (lambda x, y: x ^ y, (dtypes.int32, dtypes.bool)),
}


def _elementwise(name: str, dtype: DType, bench: Bench) -> Check:
    function = _ELEMENTWISE[name][0]
    x, y = sample(dtype, 77, 1), sample(dtype, 77, 2)
    out = function(tensor_of(x, dtype, bench.name), tensor_of(y, dtype, bench.name))
    tolerance = tolerance_of("add", dtype) if name in ("add", "sub", "mul") else Tolerance(0, "exact")
    with np.errstate(over="ignore"):
        return Check([out], [function(x, y)], tolerance)


def _every_size(dtype: DType, bench: Bench) -> Check:
    outputs, expected = [], []
    for n in SIZES:
        x = sample(dtype, n, n)
        t = tensor_of(x, dtype, bench.name)
        outputs.append(~t if dtype is dtypes.bool else t * 3)
        expected.append(~x if dtype is dtypes.bool else x * 3)
    return Check(outputs, expected, tolerance_of("mul", dtype))


def _reduced_sizes(dtype: DType, bench: Bench) -> Check:
    x = [sample(dtype, 3 * n, n).reshape(3, n) for n in SIZES]
    tensors = [tensor_of(a, dtype, bench.name) for a in x]
    if dtype is dtypes.bool:
        return Check([t.any(1) for t in tensors], [a.any(1) for a in x])
    scales = [np.abs(a.astype(np.float64)).sum(1) for a in x]
    return Check([t.sum(1) for t in tensors], [a.sum(1) for a in x], tolerance_of("sum", dtype), scales)


def _reduce(name: str, axis: Any, dtype: DType, bench: Bench) -> Check:
    x = sample(dtype, 6 * 7 * 5, 3).reshape(6, 7, 5)
    out = getattr(tensor_of(x, dtype, bench.name), name)(axis)
    scale = [np.abs(x.astype(np.float64)).sum(axis)] if name == "sum" else None
    return Check(
        [out],
        [getattr(x, name)(axis)],
        tolerance_of("sum", dtype) if name == "sum" else Tolerance(0, "exact"),
        scale,
    )


def _where(dtype: DType, bench: Bench) -> Check:
    c, x, y = sample(dtypes.bool, 50, 1), sample(dtype, 50, 2), sample(dtype, 50, 3)
    on = [tensor_of(a, d, bench.name) for a, d in ((c, dtypes.bool), (x, dtype), (y, dtype))]
    return Check([on[0].where(on[1], on[2])], [np.where(c, x, y)])


def _constants(bench: Bench) -> Check:
    full = Tensor.full((3, 5), 7, device=bench.name).contiguous()
    ramp = Tensor.arange(2, 20, 3, device=bench.name)
    flags = Tensor.full((4,), True, device=bench.name).contiguous()
    scalar = Tensor(2.5, device=bench.name).contiguous()
    expected = [
        np.full((3, 5), 7, np.int32),
        np.arange(2, 20, 3).astype(np.int32),
        np.ones(4, bool),
        np.float64(2.5),
    ]
    return Check([full, ramp, flags, scalar], expected)


def _empty(bench: Bench) -> Check:
    nothing = Tensor(np.zeros((0, 3), np.float32), device=bench.name)
    one = tensor_of(np.array([1.0]), dtypes.float32, bench.name) + 1
    sums = nothing.sum(0).contiguous()
    return Check(
        [one, nothing + 1, sums, nothing.sum()],
        [np.array([2.0]), np.zeros((0, 3)), np.zeros(3), np.float64(0)],
    )


def _broadcast(bench: Bench) -> Check:
    x, y, z = sample(dtypes.int32, 6, 1).reshape(6, 1), sample(dtypes.int32, 7, 2), sample(dtypes.int32, 1, 3)
    a, b, c = (tensor_of(v, dtypes.int32, bench.name) for v in (x, y, z))
    return Check([a * b + c], [x * y + z])


def _chain(bench: Bench) -> Check:
    x = sample(dtypes.int32, 60, 5).reshape(6, 10)
    t = tensor_of(x, dtypes.int32, bench.name)
    a = (t + 1).contiguous()
    b = (a.sum(0).contiguous() * 2).contiguous()
    c = (a - b).contiguous().max(1)
    wanted = ((x + 1) - (x + 1).sum(0) * 2).max(1)
    return Check([c, b], [wanted, (x + 1).sum(0) * 2])


def _long_reduction(dtype: DType, bench: Bench) -> Check:
    """One long row: devices with workgroups share it, through local memory and barriers."""
    x = np.arange(4096).astype(np.int32) % 17 if dtype is dtypes.int32 else sample(dtype, 4096, 8)
    t = tensor_of(x, dtype, bench.name)
    scale = [np.abs(x.astype(np.float64)).sum(), None]
    tolerance = Tolerance(64.0, "4096 roundings; measured by the sum of magnitudes")
    exact = tolerance if dtype is dtypes.float32 else Tolerance(0, "exact")
    return Check([t.sum(), t.max()], [x.sum(), x.max()], exact, [s if s is not None else 0.0 for s in scale])


# --- the launch path ---


def kernel_sees_new_inputs(bench: Bench) -> None:
    """The same kernel, launched on other buffers, reads those and writes those."""
    kept: list[tuple[Tensor, Array]] = []
    for seed in range(6):
        x = sample(dtypes.int32, 40, seed)
        kept.append(((tensor_of(x, dtypes.int32, bench.name) * 5 + 1).realize(), x * 5 + 1))
    for number, (t, wanted) in enumerate(kept):
        assert (array_of(t) == wanted).all(), f"launch {number} of one kernel gave another launch's result"


def results_are_fresh(bench: Bench) -> None:
    """A launch after its input changed sees the change."""
    t = tensor_of(np.arange(16), dtypes.int32, bench.name).realize()
    for step in range(5):
        t.assign(t + 1).realize()
        assert t.tolist() == [i + step + 1 for i in range(16)], (
            f"after assignment {step + 1} the old elements are there"
        )


def inputs_are_unchanged(bench: Bench) -> None:
    """Kernels leave their inputs alone."""
    x = sample(dtypes.float32, 300, 4)
    t = tensor_of(x, dtypes.float32, bench.name).realize()
    for out in (t * 2, t.sum(), t.reshape(20, 15).permute(1, 0).contiguous()):
        out.realize()
    assert (array_of(t) == x).all(), "a kernel changed its input"


def kernels_of_two_dtypes(bench: Bench) -> None:
    """The same expression in two dtypes is two kernels."""
    for dtype in (dtypes.float32, dtypes.int32, dtypes.bool, dtypes.float32):
        x = sample(dtype, 33, 6)
        y = tensor_of(x, dtype, bench.name)
        got = array_of((y == y).where(y, y.logical_not().cast(dtype)).contiguous())
        assert (got == x).all(), f"{dtype.name} came out wrong after another dtype's kernel"


def writes_part_of_a_buffer(bench: Bench) -> None:
    """Assigning to a slice changes that slice."""
    t = tensor_of(np.zeros(40), dtypes.int32, bench.name).realize()
    t[10:20] = tensor_of(np.arange(10), dtypes.int32, bench.name)
    t[35:] = 7
    wanted = np.zeros(40, np.int64)
    wanted[10:20], wanted[35:] = np.arange(10), 7
    assert t.tolist() == wanted.tolist(), "assigning to a slice changed other elements, or not those"


def bool_memory_is_zero_or_one(bench: Bench) -> None:
    """Kernels store bools as bytes 0 and 1."""
    x = np.arange(-8, 56, dtype=np.int32)
    t = (tensor_of(x, dtypes.int32, bench.name) * 2).cast(dtypes.bool).realize()
    found = sorted(set(bytes(t.data().cast("B"))))
    assert found == [0, 1], f"bools lie in memory as {found}"
    assert t.sum().item() == 63, "a sum of bools counts something else than truths"


def _some_program(bench: Bench) -> Program:
    t = tensor_of(np.arange(8), dtypes.float32, bench.name) * 2 + 1
    ast = next(s.ast for s in t.schedule() if s.ast.op is Ops.SINK)
    return compile_kernels(bench.device, [ast])[0].program


def foreign_binary_is_refused(bench: Bench) -> None:
    """A binary that is no kernel is refused."""
    _use(bench)
    program = _some_program(bench)
    garbage = replace(program, lib=b"\x00no kernel of any device\xff" * 8, source="")
    buffers = [bench.device.new_buffer(8, dtypes.float32).ensure_allocated() for _ in range(2)]
    buffers[1].copyin(memory_of(np.arange(8, dtype=np.float32)))
    try:
        runner = bench.device.runner(garbage)
        runner(tuple(b.handle for b in buffers), (), *garbage.launch_dims({}), True)
    except PlugradError:
        return
    raise AssertionError(
        "a binary that is no kernel was loaded and launched: the device does not run what the compiler made"
    )


def programs_reload(bench: Bench) -> None:
    """A program can be loaded again, and both runners work."""
    program = _some_program(bench)
    x = np.arange(8, dtype=np.float32)
    out, source = (bench.device.new_buffer(8, dtypes.float32) for _ in range(2))
    source.copyin(memory_of(x))
    for number, runner in enumerate([bench.device.runner(program) for _ in range(2)]):
        out.copyin(memory_of(np.zeros(8, np.float32)))
        runner((out.handle, source.handle), (), *program.launch_dims({}))
        got = np.frombuffer(out.as_memoryview(), np.float32)
        assert (got == x * 2 + 1).all(), f"loaded {number + 1} times, the program gives {got.tolist()}"
    _use(bench)


def launches_return_seconds(bench: Bench) -> None:
    """With `wait` a launch returns its seconds, without it returns None."""
    program = _some_program(bench)
    runner = bench.device.runner(program)
    handles = tuple(bench.device.new_buffer(8, dtypes.float32).ensure_allocated().handle for _ in range(2))
    waited = runner(handles, (), *program.launch_dims({}), True)
    assert isinstance(waited, float), f"a launch with wait returned {waited!r}, not seconds"
    assert waited >= 0, f"a launch took {waited} s"
    assert runner(handles, (), *program.launch_dims({}), False) is None, "a launch without wait returns None"
    bench.device.synchronize()
    _use(bench)


def _use(bench: Bench) -> None:
    t = tensor_of(np.arange(4), dtypes.int32, bench.name) + 1
    assert t.tolist() == [1, 2, 3, 4], "a plain addition is wrong"


def wide_grids_are_complete(bench: Bench) -> None:
    """Every element of an output is written, also at the ends of launch axes."""
    for shape in ((1, 1, 1), (3, 5, 7), (2, 1, 129), (70, 3, 2)):
        x = np.arange(np.prod(shape)).reshape(shape)
        t = tensor_of(x, dtypes.int32, bench.name).permute(2, 0, 1) + 1
        assert (array_of(t.contiguous().realize()) == x.transpose(2, 0, 1) + 1).all(), (
            f"elements of {shape} are missing"
        )


_TESTS = (
    kernel_sees_new_inputs,
    results_are_fresh,
    inputs_are_unchanged,
    kernels_of_two_dtypes,
    writes_part_of_a_buffer,
    bool_memory_is_zero_or_one,
    foreign_binary_is_refused,
    programs_reload,
    launches_return_seconds,
    wide_grids_are_complete,
)


_NEEDS = needs_dtypes("float32", "int32", "bool")


def _case(name: str, build: Callable[..., Check], *args: Any) -> Case:
    return Case(f"minimal/kernels/{name}", build=functools.partial(build, *args), needs=_NEEDS)


_BASIC = (dtypes.float32, dtypes.int32, dtypes.bool)

CASES = (
    *(_case(f"{name}-{d.name}", _elementwise, name, d) for name, (_, ds) in _ELEMENTWISE.items() for d in ds),
    *(
        _case(f"{name}-{d.name}", _movement, d, shape, f, g)
        for name, shape, f, g in _MOVEMENTS
        for d in _BASIC[:2]
    ),
    *(_case(f"flip-{d.name}", _movement, d, *_MOVEMENTS[5][1:]) for d in _BASIC[2:]),
    *(_case(f"every-size-{d.name}", _every_size, d) for d in _BASIC),
    *(_case(f"reduce-sizes-{d.name}", _reduced_sizes, d) for d in _BASIC),
    *(
        _case(f"{name}-axis-{'all' if axis is None else axis}-{d.name}", _reduce, name, axis, d)
        for name in ("sum", "max")
        for axis in (None, 0, 1, 2)
        for d in _BASIC[:2]
    ),
    *(_case(f"where-{d.name}", _where, d) for d in _BASIC),
    *(_case(f"long-reduction-{d.name}", _long_reduction, d) for d in _BASIC[:2]),
    _case("constants", _constants),
    _case("zero-size", _empty),
    _case("broadcast", _broadcast),
    _case("chain", _chain),
    *(Case(f"minimal/kernels/{t.__name__.replace('_', '-')}", run=t, needs=_NEEDS) for t in _TESTS),
)
