"""Complex tensors as arrays of the standard: operators, elements, memory, transforms."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import plugrad.array_api as xp
from plugrad import Tensor, Variable
from plugrad.dtype import is_complex
from plugrad.errors import DtypeError, ShapeError
from plugrad.jit import jit
from plugrad.transforms import grad

Z = np.array([[1 + 2j, -3j, 0.5], [4, 5 - 1j, 1j]], "complex64")


def array() -> Tensor:
    made: Any = xp.asarray(Z)
    return made


def test_an_array_says_what_it_is() -> None:
    z = array()
    assert (z.shape, z.ndim, z.size, z.size(), len(z), z.dtype) == ((2, 3), 2, 6, (2, 3), 2, xp.complex64)
    assert z.device == z.real.device
    assert repr(z).endswith(f"dtype=complex64, device={z.device!r})")
    assert z.__array_namespace__(api_version="2024.12") is xp
    np.testing.assert_array_equal(z.T.numpy(), Z.T)
    np.testing.assert_array_equal(z.mT.numpy(), Z.T)
    assert z.tolist() == Z.tolist()
    assert [row.tolist() for row in z] == Z.tolist()


def test_numpy_takes_arrays_and_leaves_operators_to_them() -> None:
    z = array()
    np.testing.assert_array_equal(np.asarray(z), Z)
    assert np.asarray(z, dtype="complex128").dtype.name == "complex128"
    np.testing.assert_array_equal(np.from_dlpack(z), Z)
    for found, wanted in ((Z + z, Z + Z), (np.float32(2) * z, 2 * Z), (z - np.complex64(1j), Z - 1j)):
        assert is_complex(found.dtype)
        np.testing.assert_allclose(found.numpy(), wanted)
    np.testing.assert_allclose((np.ones((3, 2), "f4") @ z).numpy(), np.ones((3, 2)) @ Z)


def test_tensors_leave_operators_to_arrays() -> None:
    z, t = array(), Tensor([1.0, 2.0, 4.0])
    real = t.numpy()
    for found, wanted in (
        (t + z, real + Z),
        (t - z, real - Z),
        (t * z, real * Z),
        (t / z[1], real / Z[1]),
        (t @ z.T, real @ Z.T),
        (t + 1j, real + 1j),
        (1j - t, 1j - real),
        (t * np.array([1j, 2, 3j]), real * np.array([1j, 2, 3j])),
    ):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
    assert (
        (t == xp.asarray([1, 2j, 4])).tolist() == (t == np.array([1, 2j, 4])).tolist() == [True, False, True]
    )
    assert (t != 1j).tolist() == [True, True, True]


def test_numbers_of_one_element() -> None:
    z = array()
    assert (complex(z[0, 0]), z[0, 1].item(), bool(z[0, 1]), bool(xp.asarray(0j))) == (
        1 + 2j,
        -3j,
        True,
        False,
    )
    assert bool(xp.asarray(complex(0.0, math.nan)))
    with pytest.raises(ShapeError, match=r"a tensor of shape \(2, 3\) is neither true nor false"):
        bool(z)
    for number in (float, int, range):
        with pytest.raises(DtypeError, match="complex64 is no"):
            number(z[0, 0])  # pyright: ignore


def test_what_complex_numbers_have_not_is_refused() -> None:
    z, t = array(), Tensor([1.0, 2.0, 4.0])
    for call in (
        lambda: z // 2,
        lambda: 2 % z,
        lambda: z < z,
        lambda: t >= z,
        lambda: t // z,
        lambda: z & 1,
        lambda: ~z,
        lambda: z << 1,
        lambda: t // 1j,
        lambda: divmod(z, 2),
    ):
        with pytest.raises(
            DtypeError,
            match=r"complex64",
        ):
            call()
    for junk in (None, "a", object()):
        with pytest.raises(DtypeError, match="cannot compute with "):
            z + junk
        assert (z == junk) is False
        assert z != junk


def test_elements_are_read_and_written_as_those_of_tensors() -> None:
    z = array() * 1
    wanted = Z.copy()
    for key in (0, (slice(None), -1), (slice(None, None, -1), None, slice(1)), ..., Z.real > 0.7):
        index = Tensor(key) if isinstance(key, np.ndarray) else key
        np.testing.assert_array_equal(z[index].numpy(), Z[key])
    np.testing.assert_array_equal(z[Tensor([1, 0])].numpy(), Z[[1, 0]])
    for key, value in (((0, 0), 7j), ((slice(None), 1), 2.5), (1, Z[0] * 2), ((0, slice(1, 3)), [1j, 2])):
        z[key] = value
        wanted[key] = value
    z[1, :2] = z[0, 1:]
    wanted[1, :2] = wanted[0, 1:]
    np.testing.assert_array_equal(z.numpy(), wanted)
    with pytest.raises(DtypeError):
        Tensor([1.0, 2.0])[0] = z[0, 0]


def test_results_share_no_memory_and_views_do() -> None:
    z = array() * 1
    others = [z + 0, z - Tensor(0.0), +z, z**1, xp.conj(z), xp.asarray(z, copy=True), xp.astype(z, z.dtype)]
    row = z[0]
    z[0, 0] = 100
    assert row.tolist()[0] == 100
    assert not [other for other in others if other.tolist()[0][0] == 100]
    t = Tensor([1.0])
    wide = xp.asarray(t, dtype=xp.complex64)
    wide[0] = 5
    assert t.tolist() == [1.0]


def test_operators_in_place_write_into_the_array() -> None:
    z = array() * 1
    row, wanted = z[0], Z.copy()
    z += 1j
    z *= 2j
    z -= Tensor([1.0, 2.0, 3.0])
    z /= 3
    z **= 2
    wanted += 1j
    wanted *= 2j
    wanted -= np.array([1, 2, 3])
    wanted /= 3
    wanted **= 2
    np.testing.assert_allclose(z.numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(row.numpy(), wanted[0], rtol=1e-5)
    with pytest.raises(DtypeError, match="cannot assign complex128 to complex64"):
        z += xp.asarray(1j, dtype=xp.complex128)


def test_products_of_matrices() -> None:
    z, t = array(), Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose((z @ z.T).numpy(), Z @ Z.T, rtol=1e-6)
    np.testing.assert_allclose((z @ t).numpy(), Z @ t.numpy(), rtol=1e-6)
    np.testing.assert_allclose((t @ z).numpy(), t.numpy() @ Z, rtol=1e-6)
    np.testing.assert_allclose((Tensor([[1, 2]]) @ z).numpy(), np.array([[1, 2]]) @ Z, rtol=1e-6)


def test_arrays_are_copied_and_pickled() -> None:
    z = array()
    for other in (copy.deepcopy(z), copy.copy(z), pickle.loads(pickle.dumps(z))):
        assert is_complex(other.dtype)
        assert other.tolist() == Z.tolist()
    assert pickle.loads(pickle.dumps(z.dtype)) is copy.deepcopy(z.dtype) is xp.complex64
    assert {z: 1}[z] == 1


def test_arrays_go_to_devices_and_other_dtypes() -> None:
    z = array()
    assert z.to_device(z.device) is z.cast(z.dtype) is z
    moved = z.to_device("PYTHON")
    assert (moved.device, moved.tolist()) == ("PYTHON", Z.tolist())
    assert z.cast(xp.complex128).real.dtype is xp.float64


def test_jitted_functions_take_and_return_arrays() -> None:
    calls = 0

    @jit
    def turned(z: Tensor, by: float) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return {"turned": xp.exp(z * 1j) + by, "size": xp.abs(z)}

    for shift in range(5):
        given: Any = xp.asarray(Z + shift).realize()
        found = turned(given, 0.5)
        np.testing.assert_allclose(found["turned"].numpy(), np.exp((Z + shift) * 1j) + 0.5, rtol=2e-5)
        np.testing.assert_allclose(found["size"].numpy(), np.abs(Z + shift), rtol=1e-5)
    assert calls < 5


def test_arrays_are_arguments_of_transforms() -> None:
    slope = grad(lambda z: xp.sum(xp.abs(z) * xp.abs(z)))(array())
    assert is_complex(slope.dtype)
    np.testing.assert_allclose(slope.numpy(), 2 * Z, rtol=1e-5)


def test_shapes_may_be_symbolic() -> None:
    v = Variable("v", 1, 3)
    z = array()
    for size in (1, 3):
        part = z[:, : v.bind(size)]
        np.testing.assert_allclose(xp.sum(part * part, axis=1).numpy(), (Z[:, :size] ** 2).sum(1), rtol=1e-6)
