import math
import platform
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, dtypes
from plugrad.dtype import FLOAT8, STORABLE, DType, to_numpy
from plugrad.errors import DtypeError, ShapeError


@pytest.mark.parametrize("target", [d for d in STORABLE if d is not dtypes.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize("source", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"])
def test_casts_of_values_that_both_hold_are_those_of_numpy(source: str, target: DType) -> None:
    values = np.array([0, 1, 1, 0] if source == "bool" else [0, 1, 2, 100], source)
    out = Tensor(values).cast(target)
    assert out.dtype is target
    np.testing.assert_array_equal(out.numpy(), values.astype(to_numpy(target)))


def test_floats_to_integers_drop_the_fraction() -> None:
    assert Tensor([1.9, -1.9, 0.5]).int().tolist() == [1, -1, 0]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="there PyTorch asks the processor")
@pytest.mark.parametrize("target", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_floats_beyond_integers_are_those_of_one_element_in_torch(source: str, target: str) -> None:
    beyond = [
        math.nan,
        math.inf,
        -math.inf,
        -1.5,
        300.0,
        -40000.0,
        3e9,
        -3e9,
        5e9,
        3e9 + 7,
        9.3e18,
        1e19,
        -1e20,
    ]
    values = torch.tensor(beyond, dtype=torch.float64).to(getattr(torch, source))
    expected = [v.to(getattr(torch, target)).item() for v in values]
    tensor = Tensor(values.double().numpy()).cast(source)
    assert tensor.cast(target).tolist() == expected
    assert [Tensor(v, dtype=source).cast(target).item() for v in values.tolist()] == expected  # folded
    assert tensor.repeat(40).cast(target).tolist() == expected * 40  # in vectors


def test_anything_but_zero_is_true() -> None:
    assert Tensor([0.0, -0.0, 0.1, float("nan")]).bool().tolist() == [False, False, True, True]
    assert Tensor([256, 0]).bool().tolist() == [True, False]


def test_integers_wrap() -> None:
    assert Tensor([257, -1]).cast("uint8").tolist() == [1, 255]
    assert Tensor([1 << 31], dtype="int64").int().tolist() == [-(1 << 31)]


def test_bfloat16_rounds_as_in_torch() -> None:
    values = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    expected = torch.tensor(values).bfloat16().float().numpy()
    np.testing.assert_array_equal(Tensor(values).cast("bfloat16").numpy(), expected)


FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = [d.name for d in STORABLE if d.kind in ("int", "uint")]


def every_kind_of_float(name: str) -> Any:
    """Return all numbers of 16 bits, or those of more where casts go wrong (bfloat16 as float32)."""
    if name == "float16":
        return np.arange(65536, dtype=np.uint16).view(np.float16)
    if name == "bfloat16":
        return (np.arange(65536, dtype=np.uint32) << 16).view(np.float32)
    limits = np.finfo(name)
    ends = [limits.max, limits.tiny, limits.smallest_subnormal, math.inf, 0.0]
    small = [0.5, 0.99999, 1.5, 2.5, 127.9, 128.9, 255.9, 256.0, 32767.5, 32768.0, 65535.5, 65536.0]
    large = [2.0**power + less for power in (31, 32, 53, 63, 64) for less in (0, -1, 1, -2048)]
    halves = [65504.0, 65519.99, 65520.0, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, 6e-8, 1e-40]
    brain = [1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 3.3895e38, 3.4e38, 1e39]
    values = np.array([*ends, *small, *large, *halves, *brain])
    with np.errstate(over="ignore"):
        return np.append(np.concatenate([values, -values]), math.nan).astype(name)


def every_kind_of_integer(name: str) -> Any:
    low, high = np.iinfo(name).min, np.iinfo(name).max
    beside = {2**power + more for power in range(63) for more in (-1, 0, 1)}
    # between two float32, with and without more behind the tie
    ties = {(2**24 + 1) << shift for shift in range(38)} | {((2**24 + 1) << 20) + 1, (257 << 30) + 1}
    numbers = beside | ties | {low, low + 1, high, high - 1}
    return np.array(sorted(v for n in numbers for v in {n, -n} if low <= v <= high), name)


def as_torch(values: Any, name: str) -> torch.Tensor:
    return torch.tensor(values).to(getattr(torch, name))


def as_numpy(tensor: torch.Tensor) -> Any:
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, "bool"])
def test_casts_to_floats_are_those_of_torch_bit_for_bit(source: str, target: str) -> None:
    if source == "bool":
        values = np.array([False, True])
    else:
        values = (every_kind_of_float if source in FLOATS else every_kind_of_integer)(source)
    out = Tensor(values).cast(source).cast(target).numpy()
    through = as_torch(values, source)
    if target in ("float16", "bfloat16"):
        # torch goes through float32; exact and rounded once is what float64 makes of it
        exact = values if source in ("float32", "bfloat16", "float16") else odd_float32(values)
        through = torch.tensor(exact)
    expected = as_numpy(through.to(getattr(torch, target)))
    np.testing.assert_array_equal(out, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(out[known]), np.signbit(expected[known]))


def odd_float32(values: Any) -> Any:
    """Return float32 that rounds on as the exact values do: the last digit is odd where there was more."""
    out: list[np.float32] = []
    with np.errstate(over="ignore"):
        for value in values.tolist():
            near = np.float32(value)
            if np.isfinite(near) and not near.view(np.uint32) & 1:
                lost = Fraction(value) - Fraction(float(near))
                near = np.nextafter(near, np.float32(math.inf if lost > 0 else -math.inf)) if lost else near
            out.append(near)
    return np.array(out, np.float32)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_in_an_integers_range_are_truncated(source: str, target: str) -> None:
    values = every_kind_of_float(source)
    values = values[np.isfinite(values)]
    whole, limits = np.trunc(values.astype(np.float64)), np.iinfo(target)
    inside = values[(whole >= limits.min) & (whole < 2.0**limits.bits / (2 if limits.min else 1))]
    out = Tensor(inside).cast(source).cast(target).numpy()
    np.testing.assert_array_equal(out, as_numpy(as_torch(inside, source).to(getattr(torch, target))))


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_wrap_as_in_torch(source: str, target: str) -> None:
    values = every_kind_of_integer(source)
    np.testing.assert_array_equal(Tensor(values).cast(target).numpy(), values.astype(target))


FLOAT8_NAMES = {
    dtypes.fp8e4m3: torch.float8_e4m3fn,
    dtypes.fp8e5m2: torch.float8_e5m2,
    dtypes.fp8e4m3fnuz: torch.float8_e4m3fnuz,
    dtypes.fp8e5m2fnuz: torch.float8_e5m2fnuz,
}


@pytest.mark.parametrize("dtype", FLOAT8, ids=lambda d: d.name)
def test_floats_of_a_byte_are_those_of_torch(dtype: DType) -> None:
    codes = np.arange(256, dtype=np.uint8)
    theirs = torch.tensor(codes).view(FLOAT8_NAMES[dtype])
    ours = Tensor(codes).bitcast(dtype)
    for name in ("float16", "bfloat16", "float32", "float64"):
        np.testing.assert_array_equal(ours.cast(name).numpy(), as_numpy(theirs.to(getattr(torch, name))))
    values = every_kind_of_float("float32")
    beside = (theirs.float() * 1.0625).numpy()
    values = np.concatenate([values, beside, np.array([448.0, 464.0, 465.0], np.float32)])
    known = ~np.isnan(values)
    expected = torch.tensor(values).to(FLOAT8_NAMES[dtype]).view(torch.uint8).numpy()
    np.testing.assert_array_equal(Tensor(values).cast(dtype).bitcast("uint8").numpy()[known], expected[known])
    assert Tensor(values).cast(dtype).isnan().numpy()[~known].all()


@pytest.mark.parametrize("dtype", FLOAT8, ids=lambda d: d.name)
def test_floats_of_a_byte_are_computed_with_and_go_to_python_and_back(dtype: DType) -> None:
    numbers = [0.0, 1.5, -3.0, 0.015625, 13.0]
    t = Tensor(numbers, dtype=dtype)
    assert t.dtype is dtype
    assert t.tolist() == [0.0, 1.5, -3.0, 0.015625, 12.0 if dtype.name.startswith("fp8e5") else 13.0]
    assert (t + t).dtype is dtype
    assert (t * 2).tolist()[:3] == [0.0, 3.0, -6.0]
    assert (t.max().item(), t[:3].sum().item(), t[1:3].exp().dtype) == (t.tolist()[-1], -1.5, dtype)
    assert (t + Tensor([1.0], dtype="float16")).dtype is dtypes.float16
    x = Tensor([1.0, 2.0])
    (gradient,) = (x.cast(dtype) * 3).cast("float32").sum().gradient(x)
    assert gradient.tolist() == [3.0, 3.0]


def test_casting_to_the_same_dtype_is_the_tensor_itself() -> None:
    t = Tensor([1.0])
    assert t.float() is t
    assert t.bitcast(dtypes.float32).tolist() == t.tolist()
    assert (t.half().dtype, t.double().dtype, t.long().dtype) == (
        dtypes.float16,
        dtypes.float64,
        dtypes.int64,
    )


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(DtypeError, match="'float33' is not a dtype"):
        Tensor([1.0]).cast("float33")


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "int32"), ("float16", "int16"), ("int64", "float64")]
)
def test_bits_stay_where_sizes_are_equal(source: str, target: str) -> None:
    values = np.array([0, 1, 3, 100], source)
    np.testing.assert_array_equal(Tensor(values).bitcast(target).numpy(), values.view(target))


@pytest.mark.parametrize("target", ["uint8", "int16", "float32", "int64", "float16"])
@pytest.mark.parametrize("source", ["uint8", "int16", "float32", "float64"])
def test_bits_of_other_sizes_change_the_last_axis(source: str, target: str) -> None:
    values = (np.arange(24).reshape(3, 8) * 3 + 1).astype(source)
    np.testing.assert_array_equal(Tensor(values).bitcast(target).numpy(), values.view(target))


def test_bits_that_make_no_whole_element_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"bitcast of shape \(3,\) from uint8 to float32.*multiple of 4 elements"
    ):
        Tensor(b"abc").bitcast("float32")
    with pytest.raises(DtypeError, match="bools have no bits of their own"):
        Tensor([True]).bitcast("uint8")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("half", "float16"), ("bfloat16", "bfloat16"), ("float", "float32"), ("double", "float64"),
        ("char", "int8"), ("byte", "uint8"), ("short", "int16"), ("int", "int32"), ("long", "int64"),
        ("bool", "bool"),
    ],
)  # fmt: skip
def test_dtypes_have_the_names_of_pytorch(name: str, dtype: str) -> None:
    out = getattr(Tensor([0, 1]), name)()
    assert out.dtype.name == dtype
    assert out.tolist() == [0, 1]
    assert Tensor([True, False]).type_as(out).dtype is out.dtype


BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
TORCH = {**FLOAT8_NAMES, **{d: getattr(torch, d.name) for d in STORABLE}}


@pytest.mark.parametrize(
    "source",
    [d for d in (*STORABLE, *FLOAT8) if d.itemsize <= 2 and d is not dtypes.bool],
    ids=lambda d: d.name,
)
def test_all_numbers_of_a_short_dtype_become_floats_of_a_byte_as_in_torch(source: DType, device: str) -> None:
    step = 1 if device != "PYTHON" or source.itemsize == 1 else 13
    codes = np.arange(0, 256**source.itemsize, step).astype(f"uint{8 * source.itemsize}")
    ours = Tensor(codes).bitcast(source)
    for target in FLOAT8:
        expected = of_bits(codes, source).to(TORCH[target])
        # torch and the processor differ in which NaN it is
        is_nan = expected.float().isnan().numpy()
        found = ours.cast(target)
        np.testing.assert_array_equal(np.isnan(found.numpy()), is_nan)
        bits = expected.view(torch.uint8).numpy()
        np.testing.assert_array_equal(found.bitcast("uint8").numpy()[~is_nan], bits[~is_nan])


def of_bits(codes: Any, dtype: DType) -> torch.Tensor:
    return torch.tensor(codes.view(BITS[dtype.itemsize])).view(TORCH[dtype])


def test_bits_of_a_single_element_keep_their_size() -> None:
    assert Tensor(1.0).bitcast("int32").item() == 0x3F800000
    with pytest.raises(ShapeError, match="there is no axis whose size could change"):
        Tensor(1.0).bitcast("int16")


def test_the_compilers_own_dtypes_are_refused() -> None:
    for wrong in ("index", "void", dtypes.float32.vec(4)):
        with pytest.raises(DtypeError, match="is no dtype of elements"):
            Tensor([1.0]).cast(wrong)
        with pytest.raises(DtypeError, match="is no dtype of elements"):
            Tensor([1.0], dtype=wrong)
