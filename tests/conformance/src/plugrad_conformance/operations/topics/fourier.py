"""Fourier transforms of every length, with complex numbers as pairs of floats."""

# the lambdas of a table take whatever its inputs are
# ruff: noqa: E731
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Meaning, Operation, reals


def _complex(pairs: Any) -> Any:
    return pairs[..., 0] + 1j * pairs[..., 1]


def _pairs(numbers: Any) -> Any:
    return np.stack([numbers.real, numbers.imag], -1)


def _numbers(x: Any, of_pairs: bool = True) -> Any:
    """Return the inputs of a transform: pairs as complex numbers, in their precision."""
    wide = x if x.dtype.name in ("float32", "float64") else x.cast("float32")
    # what has no axes is for the transform to refuse
    return wide.view_as_complex() if of_pairs and x.ndim else wide


def _narrow(out: Any, x: Any) -> Any:
    """Return complex numbers as pairs, in the dtype of floats that were given."""
    out = out.view_as_real() if out.is_complex() else out
    return out.cast(x.dtype) if x.is_floating_point() else out


def _cases() -> Iterator[Operation]:
    for size in (1, 6, 7, 8):
        x = reals(2, size, 2)
        for name in ("fft", "ifft"):
            there: Meaning = lambda x, name=name: _pairs(getattr(np.fft, name)(_complex(x)))
            call: Meaning = lambda x, name=name: _narrow(getattr(_numbers(x), name)(), x)
            yield Operation(name, f"of {size}", call, there, (x,), order=2, accuracy=2.0)
        real: Meaning = lambda x: _pairs(np.fft.rfft(x))
        yield Operation(
            "rfft",
            f"of {size}",
            lambda x: _narrow(_numbers(x, False).rfft(), x),
            real,
            (x[..., 0],),
            order=2,
            accuracy=2.0,
        )
        back: Meaning = lambda x, n=size: np.fft.irfft(_complex(x), n)
        half = (reals(2, size // 2 + 1, 2),)
        yield Operation(
            "irfft",
            f"to {size}",
            lambda x, n=size: _narrow(_numbers(x).irfft(n), x),
            back,
            half,
            order=2,
            accuracy=2.0,
        )
    image = reals(3, 4, 2)
    for name in ("fft2", "ifft2"):
        both: Meaning = lambda x, name=name: _pairs(getattr(np.fft, name)(_complex(x)))
        call2: Meaning = lambda x, name=name: _narrow(getattr(_numbers(x), name)(), x)
        yield Operation(name, "3 by 4", call2, both, (image,), order=2, accuracy=2.0)
    for name in ("fftn", "ifftn"):
        every: Meaning = lambda x, name=name: _pairs(getattr(np.fft, name)(_complex(x)))
        calln: Meaning = lambda x, name=name: _narrow(getattr(_numbers(x), name)(), x)
        yield Operation(name, "3 by 4", calln, every, (image,), order=2, accuracy=2.0)
    for name in ("rfft2", "rfftn"):
        halved: Meaning = lambda x, name=name: _pairs(getattr(np.fft, name)(x, (4, 5), (-2, -1)))
        callr: Meaning = lambda x, name=name: _narrow(getattr(_numbers(x, False), name)((4, 5)), x)
        yield Operation(name, "4 by 5 of 3 by 4", callr, halved, (reals(3, 4),), order=2, accuracy=2.0)
    for name in ("irfft2", "irfftn"):
        whole: Meaning = lambda x, name=name: getattr(np.fft, name)(_complex(x), (3, 5), (-2, -1))
        calli: Meaning = lambda x, name=name: _narrow(getattr(_numbers(x), name)((3, 5)), x)
        yield Operation(name, "3 by 5", calli, whole, (reals(3, 3, 2),), order=2, accuracy=2.0)
    padded: Meaning = lambda x: _pairs(np.fft.fft(_complex(x), 5, 0, "ortho"))
    short: Meaning = lambda x: _narrow(_numbers(x).fft(5, 0, "ortho"), x)
    yield Operation("fft", "5 of 3, ortho, axis 0", short, padded, (image,), order=2)
    of_real: Meaning = lambda x: _pairs(np.fft.fft(x))
    yield Operation(
        "fft",
        "of real numbers",
        lambda x: _narrow(_numbers(x, False).fft(), x),
        of_real,
        (reals(2, 5),),
        order=2,
    )
    mirrored: Meaning = lambda x: np.fft.hfft(_complex(x), 5)
    to_real: Meaning = lambda x: _narrow(_numbers(x).hfft(5), x)
    yield Operation("hfft", "to 5", to_real, mirrored, (reals(2, 3, 2),), order=2, accuracy=2.0)
    # NumPy's own multiplies by a complex 1/n, which makes NaN of the zero beside one
    inverse: Meaning = lambda x: _pairs(np.conj(np.fft.rfft(x))) / x.shape[-1]
    yield Operation(
        "ihfft", "of 5", lambda x: _narrow(_numbers(x, False).ihfft(), x), inverse, (reals(2, 5),), order=2
    )
    for name in ("fftshift", "ifftshift"):
        moved: Meaning = lambda x, name=name: getattr(np.fft, name)(x) if x.ndim else x
        move: Meaning = lambda x, name=name: getattr(x, name)()
        yield Operation(name, "3 by 4", move, moved, (reals(3, 4),), order=2)


CASES = (*_cases(),)
