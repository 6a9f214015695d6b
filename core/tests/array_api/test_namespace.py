"""The namespace: the standard's names and nothing else, with the standard's keywords."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad.dtype import dtypes
from plugrad.tensor import Tensor

# Source: Python array API standard 2024.12, the pages of data-apis.org/array-api/2024.12/API_specification.
STANDARD = {
    "constants": "e inf nan newaxis pi",
    "dtypes": "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128",
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid "
    "ones ones_like tril triu zeros zeros_like",
    "data types": "astype can_cast finfo iinfo isdtype result_type",
    "elementwise": "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide "
    "equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less "
    "less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum "
    "minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit "
    "sin sinh square sqrt subtract tan tanh trunc",
    "indexing": "take take_along_axis",
    "inspection": "__array_namespace_info__",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat "
    "reshape roll squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
    "version": "__array_api_version__",
    "extensions": "fft linalg",
}
ATTRIBUTES = "dtype device mT ndim shape size T to_device"
METHODS = """
    __abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__
    __float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__
    __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__
    __sub__ __truediv__ __xor__ __radd__ __rand__ __rfloordiv__ __rmod__ __rmul__ __ror__ __rpow__
    __rsub__ __rtruediv__ __rxor__ __rlshift__ __rrshift__
"""
NAMES = " ".join(STANDARD.values()).split()


def test_nothing_of_the_standard_is_missing() -> None:
    assert not [name for name in NAMES if not hasattr(xp, name)]
    for array in (Tensor([[1.0]]), xp.asarray([[1j]])):
        assert not [name for name in (*ATTRIBUTES.split(), *METHODS.split()) if not hasattr(array, name)]
        assert array.size == 1


def test_the_namespace_holds_nothing_but_the_standards_names() -> None:
    assert set(xp.__all__) == {*NAMES, "SUPPORTED_VERSIONS"}
    assert Tensor([1]).__array_namespace__() is xp


# where NumPy has no such function, or takes more by other names
OTHERWISE_IN_NUMPY = {"clip", "repeat", "meshgrid", "__array_namespace_info__"}
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(xp, name))]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in OTHERWISE_IN_NUMPY])
def test_keywords_are_named_as_in_numpy(name: str) -> None:
    try:
        theirs = inspect.signature(getattr(np, name)).parameters.values()
    except ValueError:
        pytest.skip("NumPy's signature is not known")
    ours = inspect.signature(getattr(xp, name)).parameters.values()
    theirs_by_name = {p.name for p in theirs if p.kind is not p.VAR_KEYWORD}
    keywords = {p.name for p in ours if p.kind is p.KEYWORD_ONLY}
    # NumPy's `kind` of sort stands beside `stable`, its ufuncs take dtype and more
    assert keywords <= theirs_by_name | {
        "stable",
        "descending",
        "copy",
        "device",
        "correction",
        "endpoint",
        "k",
    }


# newer than 2024.12
NEWER = {"broadcast_shapes", "isin", "eig", "eigvals"}


@pytest.mark.parametrize("extension", ["", "fft", "linalg"])
def test_parameters_are_those_of_array_api_strict(extension: str) -> None:
    strict = pytest.importorskip("array_api_strict", reason="pip install array-api-strict to compare with it")
    theirs, ours = (getattr(module, extension) if extension else module for module in (strict, xp))
    names = [
        name for name in getattr(theirs, "__all__", dir(strict)) if inspect.isfunction(getattr(theirs, name))
    ]
    names = [name for name in names if not name.startswith("_") and "flags" not in name]
    assert len(names) > 10
    for name in set(names) - NEWER:
        assert _parameters(getattr(ours, name)) == _parameters(getattr(theirs, name)), name


def _parameters(function: Any) -> list[tuple[str, str]]:
    return [(p.name, p.kind.name) for p in inspect.signature(function).parameters.values()]


def test_both_kinds_of_array_have_what_those_of_array_api_strict_have() -> None:
    strict = pytest.importorskip("array_api_strict", reason="pip install array-api-strict to compare with it")
    public = [name for name in dir(strict.asarray([1.0])) if not name.startswith("_")]
    for array in (Tensor([[1.0]]), xp.asarray([[1j]])):
        assert not [name for name in public if not hasattr(array, name)]


def test_the_namespace_describes_itself() -> None:
    info = xp.__array_namespace_info__()
    assert info.capabilities()["max dimensions"] is None
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is dtypes.float32
    assert set(info.dtypes()) == set(STANDARD["dtypes"].split())
    assert info.default_dtypes()["complex floating"] is xp.complex64
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}


def test_importing_plugrad_leaves_the_namespace_out() -> None:
    code = "import sys, plugrad; print([m for m in sys.modules if 'array_api' in m or m.endswith('torch')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.walk_packages(xp.__path__, "plugrad.array_api.")]
)
def test_examples_show_what_happens(name: str) -> None:
    module = importlib.import_module(name)
    names = {"Tensor": Tensor, "Complex": Tensor, "dtypes": dtypes, "np": np}
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_every_function_shows_an_example() -> None:
    assert not [name for name in FUNCTIONS if ">>>" not in inspect.getdoc(getattr(xp, name))]
