"""Fourier transforms beside NumPy's: real and complex numbers, all norms, sizes and axes."""

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad import Variable
from plugrad.dtype import dtypes, is_complex
from plugrad.errors import ArgumentError, AxisError, DtypeError
from plugrad.tensor import Tensor

NORMS = ("backward", "ortho", "forward")
RANDOM = np.random.default_rng(0)
TOLERANCE = {np.dtype("float32"): 1e-5, np.dtype("float64"): 1e-12}

# Source: Python array API standard 2024.12, "Fourier transform Functions".
ALONG_ONE = "(x, /, *, n=None, axis=-1, norm='backward')"
ALONG_SEVERAL = "(x, /, *, s=None, axes=None, norm='backward')"
SIGNATURES = {
    **dict.fromkeys(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), ALONG_ONE),
    **dict.fromkeys(("fftn", "ifftn", "rfftn", "irfftn"), ALONG_SEVERAL),
    **dict.fromkeys(("fftfreq", "rfftfreq"), "(n, /, *, d=1.0, dtype=None, device=None)"),
    **dict.fromkeys(("fftshift", "ifftshift"), "(x, /, *, axes=None)"),
}


def array(x: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        return Tensor.complex(Tensor(np.array(x.real)), Tensor(np.array(x.imag)))
    return Tensor(x)


def values(x: Any) -> np.ndarray:
    return x.real.numpy() + 1j * x.imag.numpy() if is_complex(x.dtype) else x.numpy()


def all_same(pairs: list[tuple[Any, np.ndarray]]) -> None:
    """Compute all of ours at once, and compare each with NumPy's."""
    parts = [part for x, _ in pairs for part in ((x.real, x.imag) if is_complex(x.dtype) else (x,))]
    parts[0].realize(*parts[1:])
    for ours, theirs in pairs:
        same(ours, theirs)


def same(ours: Any, theirs: np.ndarray) -> None:
    found = values(ours)
    assert found.shape == theirs.shape
    assert found.dtype == theirs.dtype
    size = np.abs(theirs).max(initial=1.0)
    np.testing.assert_allclose(found, theirs, rtol=0, atol=TOLERANCE[theirs.real.dtype] * size)


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    real = RANDOM.normal(size=shape)
    return (real + 1j * RANDOM.normal(size=shape) if dtype[0] == "c" else real).astype(dtype)


def signature(function: Any) -> str:
    kept = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    return str(inspect.Signature(kept))


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_standards(name: str) -> None:
    assert signature(getattr(xp.fft, name)) == SIGNATURES[name]


def test_the_extension_has_the_standards_names() -> None:
    assert set(xp.fft.__all__) == set(SIGNATURES)


def along_one(name: str, x: np.ndarray, n: Any, axis: int, norm: Any) -> tuple[Any, np.ndarray]:
    ours = getattr(xp.fft, name)(array(x), n=n, axis=axis, norm=norm)
    return ours, getattr(np.fft, name)(x, n=n, axis=axis, norm=norm)


LENGTHS = ((None, -1), (None, 0), (4, -1), (7, 1))


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "hfft"])
def test_transforms_of_complex_numbers(name: str) -> None:
    x = numbers((3, 5), "complex128")
    all_same([along_one(name, x, *length, norm) for norm in NORMS for length in LENGTHS])
    narrow = [along_one(name, x.astype("complex64"), None, -1, norm) for norm in NORMS]
    all_same([*narrow, along_one(name, x.real, None, -1, "ortho")])


@pytest.mark.parametrize("name", ["rfft", "ihfft"])
def test_transforms_of_real_numbers(name: str) -> None:
    x = numbers((3, 5), "float64")
    all_same([along_one(name, x, *length, norm) for norm in NORMS for length in LENGTHS])
    all_same([along_one(name, x.astype("float32"), None, -1, norm) for norm in NORMS])


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_several_axes(name: str) -> None:
    x = numbers((2, 3, 4), "float64" if name == "rfftn" else "complex128")
    pairs: list[Any] = []
    sizes: Any = ((None, None), ((3, 5), None), (None, (0, 2)), ((4, -1), (2, 0)), ((2,), (1,)))
    for norm, (s, axes) in itertools.product(NORMS, sizes):
        ours = getattr(xp.fft, name)(array(x), s=s, axes=axes, norm=norm)
        # NumPy takes sizes without axes no more
        theirs = axes if axes is not None or s is None else tuple(range(-len(s), 0))
        pairs.append((ours, getattr(np.fft, name)(x, s=s, axes=theirs, norm=norm)))
    all_same(pairs)


def test_a_transform_along_no_axes_changes_nothing() -> None:
    x = numbers((2, 3), "complex128")
    for name in ("fftn", "ifftn"):
        same(getattr(xp.fft, name)(array(x), axes=()), x)
        same(getattr(xp.fft, name)(array(x[0, 0])), x[0, 0])


def test_transforms_give_back_what_they_were_given() -> None:
    z, x = numbers((2, 6), "complex128"), numbers((2, 6), "float64")
    of_complex = [xp.fft.ifft(xp.fft.fft(array(z))), xp.fft.ifftn(xp.fft.fftn(array(z)))]
    of_real = [xp.fft.irfft(xp.fft.rfft(array(x)), n=6), xp.fft.hfft(xp.fft.ihfft(array(x)), n=6)]
    of_real.append(xp.fft.irfftn(xp.fft.rfftn(array(x)), s=(2, 6)))
    all_same([*((y, z) for y in of_complex), *((y, x) for y in of_real)])


def test_one_element_and_no_rows() -> None:
    one, none = numbers((1,), "complex128"), numbers((0, 3), "complex128")
    same(xp.fft.fft(array(one)), np.fft.fft(one))
    same(xp.fft.hfft(array(one), n=1), np.fft.hfft(one, n=1))
    same(xp.fft.ifft(array(none)), np.fft.ifft(none))
    same(xp.fft.irfft(array(none)), np.fft.irfft(none))


def test_integers_and_narrow_floats_become_floats() -> None:
    for dtype in ("int32", "bool", "uint8", "float16", "bfloat16"):
        x = Tensor([1, 0, 1], dtype=dtype)
        assert xp.fft.fft(x).real.dtype is dtypes.float32
        assert xp.fft.rfft(x).dtype.name == "complex64"
        assert xp.fft.irfft(x).tolist() == [0.5, 0.0, 0.5, 0.0]


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        pairs: list[Any] = []
        for d in (1.0, 0.25, 3):
            wanted = getattr(np.fft, name)(n, d)
            pairs.append((getattr(xp.fft, name)(n, d=d, dtype=xp.float64), wanted))
            pairs.append((getattr(xp.fft, name)(n, d=d), wanted.astype("float32")))
        all_same(pairs)
    assert xp.fft.fftfreq(n, device="PYTHON").device == "PYTHON"


@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 0), ()])
def test_shifted_frequencies(shape: tuple[int, ...]) -> None:
    for dtype in ("float64", "complex128"):
        x = np.asarray(numbers(shape, dtype))
        if not shape:
            same(xp.fft.ifftshift(xp.fft.fftshift(array(x))), x)
            continue
        for axes in (None, *range(len(shape)), tuple(range(len(shape)))):
            same(xp.fft.fftshift(array(x), axes=axes), np.fft.fftshift(x, axes=axes))
            same(xp.fft.ifftshift(array(x), axes=axes), np.fft.ifftshift(x, axes=axes))


def test_transforms_have_gradients() -> None:
    x = Tensor([1.0, 2.0, -1.0], dtype="float64", requires_grad=True)
    out = xp.fft.hfft(xp.fft.fft(x))
    (out * out).sum().backward()
    assert x.grad is not None
    moved = np.array([1.0, 2.0 + 1e-6, -1.0])
    before, after = (np.square(np.fft.hfft(np.fft.fft(y))).sum() for y in (x.numpy(), moved))
    assert x.grad[1].item() == pytest.approx((after - before) / 1e-6, rel=1e-4)


def test_a_symbolic_axis_may_be_transformed() -> None:
    x = Tensor([1.0, 2.0, 3.0])[: Variable("n", 1, 3).bind(2)]
    np.testing.assert_allclose(values(xp.fft.fft(x, n=4)), np.fft.fft([1, 2, 0, 0]), atol=1e-6)
    np.testing.assert_allclose(values(xp.fft.hfft(x, n=4)), np.fft.hfft([1, 2], n=4), atol=1e-6)
    # without n=, the result is symbolic too: Parseval's sum tells whether it is right
    for name in ("fft", "ifft", "ihfft", "rfft", "fftn"):
        total = xp.sum(xp.square(xp.abs(getattr(xp.fft, name)(x))))
        wanted = np.square(np.abs(getattr(np.fft, name)([1.0, 2.0]))).sum()
        assert total.item() == pytest.approx(wanted, rel=1e-5)
    for name in ("irfft", "hfft"):
        total = xp.sum(xp.square(getattr(xp.fft, name)(x)))
        assert total.item() == pytest.approx(np.square(getattr(np.fft, name)([1.0, 2.0])).sum(), rel=1e-5)


def test_frequencies_of_a_symbolic_number_are_those_of_each_value() -> None:
    found: dict[str, Any] = {
        "fftfreq": lambda n: xp.fft.fftfreq(n, d=0.5),
        "rfftfreq": lambda n: xp.fft.rfftfreq(n, d=0.5),
        "fftshift": lambda n: xp.fft.fftshift(xp.fft.fftfreq(n)),
        "ifftshift": lambda n: xp.fft.ifftshift(xp.fft.fftfreq(n)),
    }
    wanted: dict[str, Any] = {
        "fftfreq": lambda n: np.fft.fftfreq(n, 0.5),
        "rfftfreq": lambda n: np.fft.rfftfreq(n, 0.5),
        "fftshift": lambda n: np.fft.fftshift(np.fft.fftfreq(n)),
        "ifftshift": lambda n: np.fft.ifftshift(np.fft.fftfreq(n)),
    }
    for name, function in found.items():
        programs: set[tuple[Any, ...]] = set()
        for size in (5, 4, 1):
            x = function(Variable("n", 1, 6).bind(size))
            count: Any = x.shape[0]
            x = x.pad((0, 6 - count))
            programs.add(tuple(item.ast for item in x.schedule()))
            expected = wanted[name](size)
            np.testing.assert_allclose(x.numpy(), np.pad(expected, (0, 6 - len(expected))), rtol=1e-6)
        assert len(programs) == 1
    with pytest.raises(ArgumentError, match=r"^rfftfreq: n=0 elements"):
        xp.fft.rfftfreq(Variable("n", 0, 6).bind(0))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_wrong_arguments_are_refused_by_name(name: str) -> None:
    transform = getattr(xp.fft, name)
    x = Tensor([1.0, 2.0])
    for error, message, arguments in (
        (ArgumentError, "n=0 elements", {"n": 0}),
        (ArgumentError, "n=1.5 .* is no integer", {"n": 1.5}),
        (ArgumentError, "norm='half' is none of", {"norm": "half"}),
        (AxisError, "axis 1 is out of range", {"axis": 1}),
        (AxisError, "axis='x' is no axis", {"axis": "x"}),
    ):
        with pytest.raises(error, match=f"^{name}: {message}"):
            transform(x, **arguments)
    with pytest.raises(AxisError, match=f"^{name}: axis -1 is out of range"):
        transform(Tensor(1.0))
    if name in ("rfft", "ihfft"):
        with pytest.raises(DtypeError, match=f"^{name} of complex64: it takes real numbers only"):
            transform(Tensor.complex(x, x))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_wrong_axes_are_refused_by_name(name: str) -> None:
    transform = getattr(xp.fft, name)
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    for error, message, arguments in (
        (ArgumentError, "s=.* for 1 axes", {"s": (1, 2), "axes": (0,)}),
        (ArgumentError, "s=.* more sizes than axes", {"s": (1, 2, 3)}),
        (ArgumentError, "n=0 elements", {"s": (0, 2)}),
        (ArgumentError, "norm='half' is none of", {"norm": "half"}),
        (AxisError, "axes .* name one axis twice", {"axes": (0, 0)}),
        (AxisError, "axis 2 is out of range", {"axes": (2,)}),
    ):
        with pytest.raises(error, match=f"^{name}: {message}"):
            transform(x, **arguments)
    if name in ("rfftn", "irfftn"):
        with pytest.raises(AxisError, match=f"^{name} of shape .*: there is no axis"):
            transform(x, axes=())


def test_wrong_frequencies_are_refused_by_name() -> None:
    for name in ("fftfreq", "rfftfreq"):
        make = getattr(xp.fft, name)
        for error, message, n, arguments in (
            (ArgumentError, "n=0 elements", 0, {}),
            (ArgumentError, "n='x' .* is no integer", "x", {}),
            (ArgumentError, "d=0 between samples", 4, {"d": 0}),
            (DtypeError, "d: 'x' .* is no number", 4, {"d": "x"}),
            (DtypeError, "dtype=int32 cannot hold fractions", 4, {"dtype": dtypes.int32}),
        ):
            with pytest.raises(error, match=f"^{name}: {message}"):
                make(n, **arguments)
    with pytest.raises(AxisError, match=r"^fftshift: axis 1 is out of range"):
        xp.fft.fftshift(Tensor([1.0]), axes=1)
