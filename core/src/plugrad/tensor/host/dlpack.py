"""The structures of DLPack, by which array libraries hand each other memory without a copy.

A capsule names a structure that describes the memory and has a function to call when it is no longer used.

Source: the C API of DLPack 1.0 (dmlc.github.io/dlpack), its header dlpack.h.
"""

import functools
import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from plugrad._util import ctypes
from plugrad._util import numpy as np
from plugrad.dtype import DType, dtypes, is_complex
from plugrad.errors import SharingError

#: kDLCPU, device 0.
HOST = (1, 0)

# DLDataTypeCode and bits
_CODES: dict[DType, tuple[int, int]] = {
    dtypes.int8: (0, 8),
    dtypes.int16: (0, 16),
    dtypes.int32: (0, 32),
    dtypes.int64: (0, 64),
    dtypes.uint8: (1, 8),
    dtypes.uint16: (1, 16),
    dtypes.uint32: (1, 32),
    dtypes.uint64: (1, 64),
    dtypes.float16: (2, 16),
    dtypes.float32: (2, 32),
    dtypes.float64: (2, 64),
    dtypes.bfloat16: (4, 16),
    dtypes.complex64: (5, 64),
    dtypes.complex128: (5, 128),
    dtypes.bool: (6, 8),
    dtypes.fp8e4m3: (10, 8),
    dtypes.fp8e4m3fnuz: (11, 8),
    dtypes.fp8e5m2: (12, 8),
    dtypes.fp8e5m2fnuz: (13, 8),
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}

# DLTensor: data, device type and number, ndim, dtype (code, bits, lanes), shape, strides, byte offset
_TENSOR = struct.Struct("PiiiBBHPPQ")
_CODE_AT = struct.calcsize("Piii")
# what stands after a DLTensor in a DLManagedTensor: context, deleter
_OWNER = struct.Struct("PP")
# what stands before it in a DLManagedTensorVersioned: major, minor, context, deleter, flags
_VERSIONED = struct.Struct("IIPPQ")
_IS_COPIED = 2

# PyCapsule keeps the addresses of these
_NAME, _USED = b"dltensor", b"used_dltensor"
_NAME_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"


class Shared(NamedTuple):
    """Memory of another library.

    Attributes:
        elements: the elements as unsigned integers of their size, or complex; they hold the memory.
        dtype: what the elements are.
    """

    elements: "np.typing.NDArray[Any]"
    dtype: DType


class _Api(NamedTuple):
    pointer: Callable[..., Any]
    rename: Callable[..., Any]
    is_valid: Callable[..., Any]


@functools.cache
def _api() -> _Api:
    python = ctypes.pythonapi
    address, text, capsule = ctypes.c_void_p, ctypes.c_char_p, ctypes.py_object
    return _Api(
        ctypes.PYFUNCTYPE(address, capsule, text)(("PyCapsule_GetPointer", python)),
        ctypes.PYFUNCTYPE(ctypes.c_int, capsule, text)(("PyCapsule_SetName", python)),
        ctypes.PYFUNCTYPE(ctypes.c_int, capsule, text)(("PyCapsule_IsValid", python)),
    )


def _bits_dtype(dtype: DType) -> "np.dtype[Any]":
    """Return NumPy's dtype for the bits of elements, an integer where there is one."""
    return np.dtype(dtype.name if is_complex(dtype) else f"u{dtype.itemsize}")


def knows_versions() -> bool:
    """Say whether memory can be exported with a version (NumPy 2.1), and so read-only."""
    return np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def export_memory(
    memory: memoryview, shape: tuple[int, ...], dtype: DType, *, is_versioned: bool, is_copied: bool
) -> Any:
    """Return a capsule of elements in row-major order, which holds `memory`.

    NumPy makes it, of what carries the bits, and only their dtype is exchanged: what frees a capsule may run
    while an exception is on its way, where a function of Python cannot.

    Args:
        memory: their bytes; without a version they are not read-only.
        is_versioned: say that the memory is read-only, where it is.
        is_copied: say that nobody else uses it.
    """
    kind = _bits_dtype(dtype)
    elements: Any = np.frombuffer(memory, kind) if memory.nbytes else np.empty(0, kind)
    options: dict[str, Any] = {"max_version": (1, 0)} if is_versioned else {}
    capsule = elements.reshape(shape).__dlpack__(**options)
    managed = _api().pointer(capsule, _NAME_VERSIONED if is_versioned else _NAME)
    tensor = managed + _VERSIONED.size if is_versioned else managed
    ctypes.memmove(tensor + _CODE_AT, bytes(_CODES[dtype]), 2)
    if is_versioned and is_copied:
        flags = ctypes.c_uint64.from_address(tensor - 8)
        flags.value |= _IS_COPIED
    return capsule


class _Owner:
    """Keeps memory of another library: calls its deleter when this object is freed."""

    def __init__(self, managed: int, deleter: int) -> None:
        self._managed = managed
        self._delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter) if deleter else None

    def __del__(self) -> None:
        if self._delete is not None:
            self._delete(self._managed)


def import_memory(capsule: Any) -> Shared:
    """Return the memory that a capsule names, which is used up by that.

    Raises:
        SharingError: it is no capsule of DLPack, was used before, or its memory is not the host's.
        DtypeError: the elements have no plugrad dtype.
    """
    api = _api()
    if type(capsule).__name__ != "PyCapsule":
        raise SharingError(f"{capsule!r} ({type(capsule).__name__}) is no DLPack capsule. Pass an array.")
    if api.is_valid(capsule, _NAME_VERSIONED):
        managed = api.pointer(capsule, _NAME_VERSIONED)
        major, _, _, deleter, _ = _VERSIONED.unpack(ctypes.string_at(managed, _VERSIONED.size))
        if major > 1:
            raise SharingError(f"a DLPack structure of version {major}: versions up to 1 are known.")
        api.rename(capsule, _USED_VERSIONED)
        place = managed + _VERSIONED.size
    elif api.is_valid(capsule, _NAME):
        place = managed = api.pointer(capsule, _NAME)
        _, deleter = _OWNER.unpack(ctypes.string_at(managed + _TENSOR.size, _OWNER.size))
        api.rename(capsule, _USED)
    else:
        raise SharingError(f"{capsule!r} is no DLPack capsule, or was used before. Ask for another.")
    return _read_tensor(place, _Owner(managed, deleter))


def _read_tensor(place: int, owner: _Owner) -> Shared:
    fields = _TENSOR.unpack(ctypes.string_at(place, _TENSOR.size))
    data, device, _, ndim, code, bits, lanes, shape_at, strides_at, offset = fields
    dtype = _DTYPES.get((code, bits))
    if device != HOST[0]:
        raise SharingError(f"memory of DLPack's device type {device} is not the host's. Copy it there first.")
    if dtype is None or lanes != 1:
        raise SharingError(
            f"DLPack's type with code {code}, {bits} bits and {lanes} lanes has no plugrad dtype. "
            "Cast it first."
        )
    shape = _numbers(shape_at, ndim)
    strides = _numbers(strides_at, ndim) if strides_at else None
    kind = _bits_dtype(dtype)
    if 0 in shape:
        return Shared(np.empty(shape, kind), dtype)
    # what is derived from the array of one element holds that, and that holds the owner
    first: Any = (ctypes.c_char * dtype.itemsize).from_address(data + offset)
    first.owner = owner
    one: np.typing.NDArray[Any] = np.frombuffer(first, kind)
    steps = None if strides is None else [step * dtype.itemsize for step in strides]
    if steps is None:
        steps = [math.prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(ndim)]
    return Shared(np.lib.stride_tricks.as_strided(one, shape, steps, writeable=False), dtype)


def _numbers(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * count).from_address(address)) if count else ()
