"""Core: random numbers are the same on every device, bit for bit before rounding."""

import functools

import numpy as np

from plugrad import Tensor
from plugrad.dtype import DType, dtypes
from plugrad_conformance.case import Case, needs_dtypes
from plugrad_conformance.compare import worst_error
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import array_of

_SEED = 20240229
# Random123's known answers for threefry2x32 with 20 rounds: counter, key, result, as (low, high) words.
_KNOWN = (
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
)


def known_answers(bench: Bench) -> None:
    """Threefry-2x32 gives the published answers."""

    def words(pair: tuple[int, int]) -> int:
        return pair[0] | pair[1] << 32

    counter, key, result = (np.array([words(row[i]) for row in _KNOWN], np.uint64) for i in range(3))
    a, b = (Tensor(v, device=bench.name).realize() for v in (counter, key))
    got = Tensor(a.uop.threefry(b.uop), device=bench.name).numpy()
    assert (got == result).all(), (
        f"threefry gives {[hex(int(v)) for v in got]}, not {[hex(int(v)) for v in result]}"
    )


def _check_numbers_of_seed(kind: str, dtype: DType, bench: Bench) -> None:
    """Numbers of one seed equal those of PYTHON."""
    drawn = []
    for device in (bench.name, "PYTHON"):
        Tensor.manual_seed(_SEED)
        if kind == "randint":
            parts = [Tensor.randint(33, low=-50, high=1000, device=device) for _ in range(2)]
        else:
            parts = [getattr(Tensor, kind)(3, 11, dtype=dtype, device=device) for _ in range(2)]
        drawn.append([array_of(p.realize()) for p in parts])
    for mine, theirs in zip(*drawn, strict=True):
        if kind == "randn":
            error, at = worst_error(mine, theirs, dtype, np.ones_like(theirs))
            assert error <= 8, f"{kind} differs from PYTHON by {error:.3g} ULP at {at}"
        else:
            assert (mine == theirs).all(), f"{kind} of {dtype.name} differs from PYTHON"
    assert (drawn[0][0] != drawn[0][1]).any(), "two draws gave the same numbers"


def uniform_is_uniform(bench: Bench) -> None:
    """A few thousand numbers fill [0, 1) evenly, and never reach 1."""
    Tensor.manual_seed(_SEED)
    x = array_of(Tensor.rand(4096, device=bench.name).realize())
    assert x.min() >= 0, f"the least of 4096 numbers in [0, 1) is {x.min()}"
    assert x.max() < 1, f"the greatest of 4096 numbers in [0, 1) is {x.max()}"
    counts = np.histogram(x, 16, (0, 1))[0]
    # 256 expected in each of 16; six standard deviations
    assert np.abs(counts - 256).max() < 6 * 16, f"sixteenths of [0, 1) hold {counts.tolist()} of 4096"


CASES = (
    Case("core/random/known-answers", run=known_answers, needs=needs_dtypes("uint64")),
    *(
        Case(
            f"core/random/{kind}-{d.name}",
            run=functools.partial(_check_numbers_of_seed, kind, d),
            needs=needs_dtypes(d.name, "uint64"),
            alone=False,
        )
        for kind, ds in (
            ("rand", (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)),
            ("randn", (dtypes.float32,)),
            ("randint", (dtypes.int32,)),
        )
        for d in ds
    ),
    Case("core/random/uniform-is-uniform", run=uniform_is_uniform, needs=needs_dtypes("uint64")),
)
