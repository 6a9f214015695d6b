"""The state of models: their tensors by name, and files of them."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import cast

from plugrad.device import Device
from plugrad.dtype import dtypes, is_bool
from plugrad.engine import storage
from plugrad.errors import DtypeError, ShapeError, StateError
from plugrad.nn.safetensors import Entry, StoredTensor, read_header, write_file
from plugrad.runtime.buffer import Buffer
from plugrad.tensor import Tensor
from plugrad.uop.uop import UOp

__all__ = ["get_parameters", "get_state_dict", "load_state_dict", "safe_load", "safe_save"]


def get_state_dict(model: object, prefix: str = "") -> dict[str, Tensor]:
    """Return the tensors of a model by the path of attributes, keys and positions that leads to each.

    Looks into attributes of objects, lists, tuples and dicts; the names are those of PyTorch for modules of
    the same make. A tensor that is reached by two names is there by both.

    Example:
        >>> list(get_state_dict(Linear(3, 2)))
        ['weight', 'bias']
    """
    return dict(_walk(model, prefix.rstrip("."), ()))


def get_parameters(model: object) -> list[Tensor]:
    """Return the tensors of a model that are to be trained (`requires_grad`), each once.

    Example:
        >>> len(get_parameters([Linear(3, 2), Linear(2, 1, bias=False)]))
        3
    """
    found = get_state_dict(model).values()
    return list({id(tensor): tensor for tensor in found if tensor.requires_grad}.values())


def load_state_dict(model: object, state: Mapping[str, Tensor], strict: bool = True) -> None:
    """Copy the values of `state` into the tensors of a model with the same names, dtypes and devices kept.

    Nothing is copied unless all of it fits.

    Args:
        model: what `get_state_dict` takes.
        state: values by name.
        strict: names that only one side has are an error; otherwise they are skipped.

    Raises:
        StateError: `strict`, and the names differ.
        ShapeError: a value has another shape than the model's tensor.
    """
    own = get_state_dict(model)
    missing, unexpected = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
    if strict and (missing or unexpected):
        raise StateError(
            f"the state does not fit the model: missing {missing}, unexpected {unexpected}. Load it into a "
            "model of the same make, or pass strict=False to skip those."
        )
    shared = [(name, own[name], state[name]) for name in own if name in state]
    for name, tensor, value in shared:
        if tensor.shape != value.shape:
            raise ShapeError(
                f"{name!r} has shape {value.shape} in the state and {tensor.shape} in the model. "
                "Load it into a model of the same sizes."
            )
    for _, tensor, value in shared:
        tensor.assign(value.to(tensor.device).cast(tensor.dtype))
    Tensor.realize(*(tensor for _, tensor, _ in shared))


def safe_save(
    state: Mapping[str, Tensor], path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file; a file that is there is replaced once the new one is complete.

    Raises:
        DtypeError: something in `state` is no tensor.
        FileFormatError: a name or metadata that the format cannot hold.
        OSError: the file cannot be written.

    Example:
        >>> safe_save(get_state_dict(Linear(3, 2)), "model.safetensors")
    """
    for name, value in state.items():
        if not isinstance(value, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"cannot save {name!r}: {value!r} ({type(value).__name__}) is no tensor. Pass Tensor(...)."
            )
    Tensor.realize(*state.values())
    write_file(path, [_entry(name, tensor) for name, tensor in state.items()], metadata)


def safe_load(path: str | os.PathLike[str], device: str | None = None) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file.

    Args:
        path: the file.
        device: where the tensors are to live; the default device if left out.

    Raises:
        FileFormatError: the file is truncated, damaged or hostile.
        OSError: the file cannot be read.
    """
    header = read_header(path)
    disk = Device[f"DISK:{os.path.abspath(os.fspath(path))}"]
    # opened now: a file that replaces this one, such as a newer checkpoint, does not change what was loaded
    file = disk.new_buffer(header.nbytes, dtypes.uint8).ensure_allocated()
    return {name: _from_disk(file, stored, device) for name, stored in header.tensors.items()}


def _entry(name: str, tensor: Tensor) -> Entry:
    data = tensor.data()
    return Entry(name, tensor.dtype, tuple(size for size in tensor.shape if isinstance(size, int)), data)


def _from_disk(file: Buffer, stored: StoredTensor, device: str | None) -> Tensor:
    # a byte other than 0 and 1 in a file must not become a bool that equals neither
    dtype = dtypes.uint8 if is_bool(stored.dtype) else stored.dtype
    region = UOp.new_buffer(file.device, stored.shape, dtype)
    storage.bind_buffer(region, file.view(math.prod(stored.shape), dtype, stored.begin))
    loaded = Tensor(region).to(Device.canonicalize(device))
    return loaded != 0 if is_bool(stored.dtype) else loaded


def _walk(item: object, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    if isinstance(item, Tensor):
        yield path, item
        return
    if id(item) in above:
        return
    above = (*above, id(item))
    for name, part in _parts(item):
        yield from _walk(part, f"{path}.{name}" if path else str(name), above)


def _parts(item: object) -> Iterator[tuple[object, object]]:
    if isinstance(item, Mapping):
        return iter(cast("Mapping[object, object]", item).items())
    if isinstance(item, (list, tuple)):
        return iter(enumerate(cast("Sequence[object]", item)))
    if isinstance(item, (type, ModuleType, FunctionType)):
        return iter(())
    return iter(vars(item).items()) if hasattr(item, "__dict__") else iter(())
