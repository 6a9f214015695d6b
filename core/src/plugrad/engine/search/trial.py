"""Run variants of one kernel on their own memory, comparing results and taking times."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad._util import numpy as np
from plugrad.builtin.arithmetic import decoded, lane_dtype, to_storage
from plugrad.device import OpenDevice
from plugrad.dtype import FLOAT8, DType, dtypes, is_bool, is_float, to_numpy
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.program import Program
from plugrad.runtime.runner import Runner
from plugrad.uop import Ops, UOp
from plugrad.uop.shape import size_at

# Sums of other orders differ by some roundings, and by more of them the more is added.
_ROUNDINGS = 64
_ROUNDINGS_PER_ROOT_OF_STEPS = 8
# Bits of the significand, of dtypes that NumPy's finfo does not know.
_EPSILONS = {dtypes.bfloat16: 2.0**-7}
_EPSILON_OF_BYTES = 2.0**-2
# Memory of several runs, against the second cache: what a model's kernel reads was written a while before.
_BEYOND_CACHE = 4
_MOST_TURNS = 16
# Integers as indices meet arrays of any size: most of these are within it.
_MOST = 8


@frozen(eq=False)
class Variant:
    """A compiled kernel with some optimisations, and the seconds that its runs took."""

    program: Program
    runner: Runner
    seconds: list[float]

    @property
    def best(self) -> float:
        """Return the seconds of its fastest run."""
        return min(self.seconds)


class Trial:
    """Memory for the runs of one kernel, filled with the same numbers before each comparison.

    Runs whose time counts have other memory in turn, as no model finds all of it in the first caches.

    Args:
        device: where the kernel runs.
        ast: the kernel; its variables are at their greatest values.
        flops: the operations of one run.
    """

    def __init__(self, device: OpenDevice, ast: UOp, flops: Any) -> None:
        params: dict[int, UOp] = {u.arg[0]: u for u in ast.toposort() if u.op is Ops.PARAM}
        variables = [u for u in ast.toposort() if u.op is Ops.DEFINE_VAR]
        self.values: Mapping[str, int] = {u.arg[0]: int(u.vmax) for u in variables}
        written = {s.src[0].src[0] for s in ast.src if s.op is Ops.STORE}
        self._outs: list[int] = sorted([u.arg[0] for u in written if u.op is Ops.PARAM])
        random = np.random.default_rng(0)
        self._contents = {slot: _numbers(u.dtype, u.arg[1], random) for slot, u in params.items()}
        nbytes = sum(u.arg[1] * u.dtype.itemsize for u in params.values())
        near = _BEYOND_CACHE * max(device.capabilities.cache_bytes, default=0)
        turns = [
            [
                Buffer(device.name, u.arg[1], u.dtype, device.allocator, label="a search of optimisations")
                for _, u in sorted(params.items())
            ]
            for _ in range(min(_MOST_TURNS, 1 + near // max(1, nbytes)))
        ]
        for self._buffers in turns:
            for slot in params:
                self._fill(slot)
        self._turns = itertools.cycle(turns)
        results = sum([buffer.size for slot, buffer in enumerate(self._buffers) if slot in self._outs])
        self._steps = size_at(flops, self.values) / max(1, results)
        self._expected: list[Any] = []

    def expect(self, variant: Variant) -> None:
        """Take the results of `variant` for right."""
        self._expected = self._results(variant)

    def agrees(self, variant: Variant) -> bool:
        """Say whether the results of `variant` are the expected ones, but for roundings of floats."""
        found = self._results(variant)
        return all(self._is_near(*each) for each in zip(found, self._expected, self._outs, strict=True))

    def time(self, variants: Sequence[Variant], rounds: int, give_up_at: float = math.inf) -> None:
        """Run each variant once a round, so that all meet the same disturbances.

        A variant is left out once its fastest run takes `give_up_at` times that of the fastest variant.
        """
        running = list(variants)
        for _ in range(rounds):
            for variant in running:
                self._buffers = next(self._turns)
                variant.seconds.append(self._run(variant))
            least = min(variant.best for variant in variants if variant.seconds)
            running = [variant for variant in running if variant.best <= least * give_up_at]

    def _run(self, variant: Variant) -> float:
        handles = tuple(buffer.ensure_allocated().handle for buffer in self._buffers)
        program = variant.program
        scalars = tuple(self.values[name] for name in program.variables)
        seconds = variant.runner(handles, scalars, *program.launch_dims(self.values), True)
        return math.inf if seconds is None else seconds

    def _results(self, variant: Variant) -> list[Any]:
        for slot in self._outs:
            self._fill(slot)
        self._run(variant)
        written = (self._buffers[slot] for slot in self._outs)
        return [decoded(buffer.as_memoryview(), buffer.dtype) for buffer in written]

    def _fill(self, slot: int) -> None:
        self._buffers[slot].copyin(memoryview(self._contents[slot]).cast("B"))

    def _is_near(self, found: Any, expected: Any, slot: int) -> bool:
        dtype = self._buffers[slot].dtype
        if not is_float(dtype):
            return bool(np.array_equal(found, expected))
        finite = np.isfinite(expected)
        if not np.array_equal(finite, np.isfinite(found)):
            return False
        largest = float(np.max(np.abs(expected), where=finite, initial=1.0))
        roundings = _ROUNDINGS + _ROUNDINGS_PER_ROOT_OF_STEPS * math.sqrt(self._steps)
        allowed = _epsilon(dtype) * roundings * largest
        with np.errstate(invalid="ignore"):
            return bool(np.all((np.abs(found - expected) <= allowed) | ~finite))


def _epsilon(dtype: DType) -> float:
    kind: Any = to_numpy(dtype)
    return _EPSILONS.get(dtype, _EPSILON_OF_BYTES) if kind is None else float(np.finfo(kind).eps)


def _numbers(dtype: DType, count: int, random: Any) -> Any:
    """Return numbers for memory of `dtype`: floats from -1 to 1, small integers, truth values."""
    if is_bool(dtype):
        return random.random(count) < 0.5
    if dtype in FLOAT8:
        # any below the exponents of infinity and NaN
        return random.integers(0, 0x38, count).astype("uint8")
    drawn = random.uniform(-1, 1, count) if is_float(dtype) else random.integers(0, _MOST, count)
    return to_storage(drawn.astype(lane_dtype(dtype)), dtype)
