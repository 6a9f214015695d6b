"""The structures of DLPack, by which array libraries hand each other memory without a copy.

A capsule names a structure that describes the memory and has a function to call when it is no longer used.

Source: the C API of DLPack 1.0 (dmlc.github.io/dlpack), its header dlpack.h.
"""

import functools
import math
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from plugrad._util import ctypes
from plugrad._util import numpy as np
from plugrad.dtype import DType, dtypes
from plugrad.errors import SharingError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["HOST", "Shared", "export_memory", "import_memory"]

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
    dtypes.bool: (6, 8),
    dtypes.fp8e4m3: (10, 8),
    dtypes.fp8e4m3fnuz: (11, 8),
    dtypes.fp8e5m2: (12, 8),
    dtypes.fp8e5m2fnuz: (13, 8),
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}

# DLTensor: data, device type and number, ndim, dtype (code, bits, lanes), shape, strides, byte offset
_TENSOR = struct.Struct("PiiiBBHPPQ")
# what stands after a DLTensor in a DLManagedTensor: context, deleter
_OWNER = struct.Struct("PP")
# what stands before it in a DLManagedTensorVersioned: major, minor, context, deleter, flags
_VERSIONED = struct.Struct("IIPPQ")
_READ_ONLY, _IS_COPIED = 1, 2

# PyCapsule keeps the addresses of these
_NAME, _USED = b"dltensor", b"used_dltensor"
_NAME_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"

# what exported structures need, by their address, until their deleter is called
_exported: dict[int, Any] = {}


class Shared(NamedTuple):
    """Memory of another library.

    Attributes:
        elements: the elements as unsigned integers of their size; they hold the memory.
        dtype: what the elements are.
    """

    elements: "npt.NDArray[Any]"
    dtype: DType


class _Api(NamedTuple):
    new: Callable[..., Any]
    pointer: Callable[..., Any]
    rename: Callable[..., Any]
    is_valid: Callable[..., Any]
    delete: Any
    destroy: Any


@functools.cache
def _api() -> _Api:
    python = ctypes.pythonapi
    address, text, capsule = ctypes.c_void_p, ctypes.c_char_p, ctypes.py_object
    # by address: a capsule that is being destroyed must not be held again
    pointer = ctypes.PYFUNCTYPE(address, address, text)(("PyCapsule_GetPointer", python))
    is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, address, text)(("PyCapsule_IsValid", python))
    new = ctypes.PYFUNCTYPE(capsule, address, text, address)(("PyCapsule_New", python))
    rename = ctypes.PYFUNCTYPE(ctypes.c_int, address, text)(("PyCapsule_SetName", python))
    forget = _exported.pop

    def delete(managed: int) -> None:
        forget(managed, None)

    def destroy(capsule: int) -> None:
        for name in (_NAME, _NAME_VERSIONED):
            if is_valid(capsule, name):
                forget(pointer(capsule, name), None)

    return _Api(
        new,
        pointer,
        rename,
        is_valid,
        ctypes.CFUNCTYPE(None, address)(delete),
        ctypes.PYFUNCTYPE(None, address)(destroy),
    )


def export_memory(
    memory: memoryview, shape: tuple[int, ...], dtype: DType, *, is_versioned: bool, is_copied: bool
) -> Any:
    """Return a capsule of elements in row-major order, which holds `memory`.

    Args:
        memory: their bytes.
        shape: of the array.
        dtype: of the elements.
        is_versioned: say that the memory is read-only, where it is.
        is_copied: say that nobody else uses it.
    """
    api = _api()
    holder = np.frombuffer(memory, np.uint8)
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sizes = (ctypes.c_int64 * max(2 * len(shape), 1))(*shape, *strides)
    start = ctypes.addressof(sizes)
    data = holder.ctypes.data if memory.nbytes else 0
    code, bits = _CODES[dtype]
    tensor = _TENSOR.pack(data, *HOST, len(shape), code, bits, 1, start, start + 8 * len(shape), 0)
    deleter = ctypes.cast(api.delete, ctypes.c_void_p).value or 0
    flags = (_READ_ONLY if memory.readonly else 0) | (_IS_COPIED if is_copied else 0)
    packed = (
        _VERSIONED.pack(1, 0, 0, deleter, flags) + tensor
        if is_versioned
        else tensor + _OWNER.pack(0, deleter)
    )
    managed = ctypes.create_string_buffer(packed, len(packed))
    address = ctypes.addressof(managed)
    _exported[address] = managed, sizes, holder
    return api.new(
        address, _NAME_VERSIONED if is_versioned else _NAME, ctypes.cast(api.destroy, ctypes.c_void_p)
    )


class _Owner:
    """A structure of another library that is used here until this goes."""

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
    at = id(capsule)
    if type(capsule).__name__ != "PyCapsule":
        raise SharingError(f"{capsule!r} ({type(capsule).__name__}) is no DLPack capsule. Pass an array.")
    if api.is_valid(at, _NAME_VERSIONED):
        managed = api.pointer(at, _NAME_VERSIONED)
        major, _, _, deleter, _ = _VERSIONED.unpack(ctypes.string_at(managed, _VERSIONED.size))
        if major > 1:
            raise SharingError(f"a DLPack structure of version {major}: versions up to 1 are known.")
        api.rename(at, _USED_VERSIONED)
        place = managed + _VERSIONED.size
    elif api.is_valid(at, _NAME):
        place = managed = api.pointer(at, _NAME)
        _, deleter = _OWNER.unpack(ctypes.string_at(managed + _TENSOR.size, _OWNER.size))
        api.rename(at, _USED)
    else:
        raise SharingError(f"{capsule!r} is no DLPack capsule, or was used before. Ask for another.")
    return _described(place, _Owner(managed, deleter))


def _described(place: int, owner: _Owner) -> Shared:
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
    kind = np.dtype(f"u{dtype.itemsize}")
    if 0 in shape:
        return Shared(np.empty(shape, kind), dtype)
    # what is derived from the array of one element holds that, and that holds the owner
    first: Any = (ctypes.c_char * dtype.itemsize).from_address(data + offset)
    first.owner = owner
    one: npt.NDArray[Any] = np.frombuffer(first, kind)
    steps = None if strides is None else [step * dtype.itemsize for step in strides]
    if steps is None:
        steps = [math.prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(ndim)]
    return Shared(np.lib.stride_tricks.as_strided(one, shape, steps, writeable=False), dtype)


def _numbers(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * count).from_address(address)) if count else ()
