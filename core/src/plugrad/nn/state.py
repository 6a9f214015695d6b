"""The state of models: their tensors by name, and files of them."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

from plugrad.dtype import is_float
from plugrad.errors import DtypeError, FileFormatError, ShapeError, StateError
from plugrad.nn.formats.archive import tar_extract, zip_extract
from plugrad.nn.formats.byte_source import ByteSource, as_path
from plugrad.nn.formats.gguf import gguf_load
from plugrad.nn.formats.safetensors import Entry, read_header, read_index, write_file
from plugrad.nn.formats.torch_file import torch_load
from plugrad.nn.named_state import NamedState, UnsavedNames
from plugrad.tensor import Tensor
from plugrad.tensor.gradient import uncomputed_leaves
from plugrad.tensor.shapes import shape_today, show
from plugrad.tree import named_leaves

__all__ = [
    "PlainTensorWarning",
    "get_parameters",
    "get_state_dict",
    "gguf_load",
    "load",
    "load_state_dict",
    "safe_load",
    "safe_save",
    "save",
    "tar_extract",
    "torch_load",
    "zip_extract",
]

# what a folder may hold, whole or in parts
_MODEL_FILES = ("model.safetensors", "model.safetensors.index.json")


def get_state_dict(model: object, prefix: str = "") -> dict[str, Tensor]:
    """Return the tensors of a model by path of attributes, keys and positions.

    Looks into attributes and slots of objects, lists, tuples, deques and dicts; the names are those of
    PyTorch for modules of the same make. A tensor that is reached by two names is there by both. What was
    computed from parameters of the model is no part of its state: activations that a layer has kept, or the
    transpose of another layer's weight. Those kept without a gradient (`Tensor.no_grad`) cannot be told from
    constants. So a running average of activations is state if it is written to (`self.mean.assign(...)`) or
    computed without a gradient (`activations.detach()`); a new tensor with the old one's name is none.
    Buffers that were registered with `persistent=False` are none either.

    Optimizers have the names of their `state_dict()`, without the parameters.

    Raises:
        StateError: two tensors have one name, such as those of {"a.b": x, "a": {"b": y}}.

    Example:
        >>> list(get_state_dict(Linear(3, 2)))
        ['weight', 'bias']
    """
    found = named_tensors(model, prefix)
    for name, unsaved in named_leaves(model, UnsavedNames, prefix.rstrip(".")):
        above = name.rpartition(".")[0]
        for inner in unsaved:
            found.pop(f"{above}.{inner}" if above else inner, None)
    return found


def named_tensors(model: object, prefix: str = "") -> dict[str, Tensor]:
    """Return the tensors of the state and the buffers that are not persistent, by name."""
    found: dict[str, Tensor] = {}
    named = list(_named_states(model, prefix.rstrip(".")))
    parameters = {id(tensor) for tensor in trained_tensors(named)}
    for name, tensor in named:
        if tensor.requires_grad and id(tensor) not in parameters:
            continue
        if found.setdefault(name, tensor) is not tensor:
            raise StateError(f"get_state_dict: two tensors of the model are named {name!r}. Rename one.")
    return found


def _named_states(model: object, prefix: str) -> Iterator[tuple[str, Tensor]]:
    for name, item in named_leaves(model, (Tensor, NamedState), prefix):
        if isinstance(item, Tensor):
            yield name, item
        else:
            yield from (
                (f"{name}.{inner}" if name else inner, value) for inner, value in item.state_dict().items()
            )


def get_parameters(model: object) -> list[Tensor]:
    """Return the tensors of a model that are to be trained (`requires_grad`), each once.

    What was computed from them is none of them: activations that a layer has kept, or the transpose of
    another layer's weight.

    A tensor of floats as an attribute is a constant, as in PyTorch, unless it requires a gradient.

    Warns:
        PlainTensorWarning: nobody has set the `requires_grad` of a tensor of floats, neither to True nor to
            False, by then: in tinygrad it would be trained.

    Example:
        >>> len(get_parameters([Linear(3, 2), Linear(2, 1, bias=False)]))
        3
    """
    named = list(named_leaves(model, Tensor))
    warn_of_plain_tensors(model, named)
    return trained_tensors(named)


def trained_tensors(named: Iterable[tuple[str, Tensor]]) -> list[Tensor]:
    """Return the tensors to be trained, each once, without those that were computed from them."""
    each = {id(tensor): tensor for _, tensor in named}.values()
    return uncomputed_leaves(each)


def load_state_dict(
    model: object,
    state_dict: Mapping[str, Tensor],
    strict: bool = True,
    *,
    consume: bool = False,
    realize: bool = True,
    verbose: bool = False,
) -> None:
    """Copy values into the tensors of a model with the same names.

    Nothing is copied unless all of it fits.

    Args:
        model: what `get_state_dict` takes.
        state_dict: values by name.
        strict: names that only one side has are an error; otherwise they are skipped.
        consume: take the values that the model has out of `state_dict`, so that nothing keeps their memory.
        realize: copy at once; otherwise when the tensors are needed.
        verbose: taken for the sake of programs for tinygrad; nothing is printed.

    Raises:
        StateError: `strict`, and the names differ; or `state_dict` is not texts with tensors.
        ShapeError: a value has another shape than the model's tensor.

    Example:
        >>> model = {"weight": Tensor([0.0, 0.0])}
        >>> load_state_dict(model, {"weight": Tensor([1.0, 2.0])})
        >>> model["weight"].tolist()
        [1.0, 2.0]
    """
    own = get_state_dict(model)
    _check_state(state_dict)
    missing, unexpected = sorted(own.keys() - state_dict.keys()), sorted(state_dict.keys() - own.keys())
    if strict and (missing or unexpected):
        raise StateError(
            f"the state does not fit the model: missing {missing}, unexpected {unexpected}. Load it into a "
            "model of the same make, or pass strict=False to skip those."
        )
    shared = [(name, own[name], state_dict[name]) for name in own if name in state_dict]
    for name, tensor, value in shared:
        if tensor.shape != value.shape:
            raise ShapeError(
                f"{name!r} has shape {show(value.shape)} in the state and {show(tensor.shape)} in the model. "
                "Load it into a model of the same sizes."
            )
    loaded = _load_named_states(model, {name: value for name, _, value in shared})
    for name, tensor, value in shared:
        if name not in loaded:
            tensor.assign(value.to(tensor.device).cast(tensor.dtype))
        if consume:
            cast("MutableMapping[str, Tensor]", state_dict).pop(name)
    if shared and realize:
        Tensor.realize(*(tensor for _, tensor, _ in shared))


def _load_named_states(model: object, values: Mapping[str, Tensor]) -> set[str]:
    """Load a model's optimizers by their own method; return the names."""
    loaded: set[str] = set()
    for name, item in named_leaves(model, NamedState):
        names = {inner: f"{name}.{inner}" if name else inner for inner in item.state_dict()}
        given = {inner: values[outer] for inner, outer in names.items() if outer in values}
        if given:
            item.load_state_dict({**item.state_dict(), **given})
            loaded.update(map(names.__getitem__, given))
    return loaded


def _check_state(state: Any) -> None:
    if not isinstance(state, Mapping):
        raise StateError(f"load_state_dict: {state!r:.60} ({type(state).__name__}) is no state. Pass a dict.")
    for name, value in cast("Mapping[Any, Any]", state).items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise StateError(
                f"load_state_dict: the state has {value!r:.60} at {name!r:.60}; it takes names with tensors."
            )


def safe_save(
    state: Mapping[str, Tensor], path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a new safetensors file, which replaces `path` once it is complete.

    Of a symbolic shape the file has the sizes that it has today.

    Raises:
        ArgumentError: `path` is no path.
        DtypeError: something in `state` is no tensor.
        FileFormatError: a name or metadata that the format cannot hold.
        OSError: the file cannot be written.
        ShapeError: a size depends on a variable that no value is bound to.

    Example:
        >>> safe_save(get_state_dict(Linear(3, 2)), "model.safetensors")
    """
    path = as_path(path)
    for name, value in state.items():
        if not isinstance(value, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"cannot save {name!r}: {value!r} ({type(value).__name__}) is no tensor. Pass Tensor(...)."
            )
    Tensor.realize(*state.values())
    entries = (
        Entry(name, value.dtype, shape_today(value.shape, f"safe_save: {name!r}"), value.data())
        for name, value in state.items()
    )
    write_file(path, entries, metadata)


def safe_load(path: str | os.PathLike[str], device: str | None = None) -> dict[str, Tensor]:
    """Return the tensors of one or several safetensors files, read when they are used.

    A slice of consecutive elements that is asked for by itself, as in `tensors["weight"][:9].numpy()`, is all
    that is read then. To compute with a tensor reads the whole of it, once.

    Args:
        path: the file; or the index of several (`model.safetensors.index.json`), or the folder of either.
        device: where the tensors are to live; the default device if left out.

    Raises:
        ArgumentError: `path` is no path.
        FileFormatError: a file is truncated, damaged or hostile, or has not the tensors that the index says.
        OSError: a file cannot be read.

    Example:
        >>> safe_load("model.safetensors")["bias"].shape
        (2,)
    """
    where = Path(as_path(path))
    where = _in_folder(where) if where.is_dir() else where
    if where.suffix == ".json":
        return _load_shards(where, device)
    file = ByteSource(where)
    return {
        name: file.tensor(stored.begin, stored.shape, stored.dtype, device, repr(name))
        for name, stored in read_header(file).tensors.items()
    }


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Write the tensors of a model or a dict to a safetensors file.

    Raises:
        StateError: two tensors have one name, or a dict holds a number or a text, which the file cannot.
        OSError: the file cannot be written.

    Example:
        >>> save({"bias": Tensor([1.0, 2.0])}, "saved.pt")
        >>> load("saved.pt")["bias"].tolist()
        [1.0, 2.0]
    """
    _refuse_plain_values(model, "")
    safe_save(get_state_dict(model), path)


def _refuse_plain_values(state: object, name: str) -> None:
    if isinstance(state, Mapping):
        for key, value in cast("Mapping[object, object]", state).items():
            _refuse_plain_values(value, f"{name}.{key}" if name else str(key))
    elif isinstance(state, (int, float, complex, str, bytes)):
        raise StateError(
            f"save: {name} = {state!r:.60} ({type(state).__name__}) is no tensor, and the file holds nothing "
            "else. Make a tensor of a number, or write a file of its own beside it."
        )


def load(path: str | os.PathLike[str], device: str | None = None) -> Any:
    """Return the tensors of a file of safetensors, GGUF or `torch.save` by name.

    The first bytes of the file tell which of them it is.

    Args:
        path: the file, or what `safe_load` takes.
        device: where the tensors are to live; the default device if left out.

    Raises:
        FileFormatError: it is none of these, or damaged.
        OSError: the file cannot be read.

    Example:
        >>> load("model.safetensors")["bias"].shape, load("model.pt")["bias"].shape
        ((2,), (2,))
    """
    path = as_path(path)
    if os.path.isdir(path) or path.endswith(".json"):
        return safe_load(path, device)
    file = ByteSource(path)
    start = file.read(0, min(file.nbytes, 9))
    if start.startswith(b"GGUF"):
        return gguf_load(path, device)[1]
    # behind its size, the header of safetensors is a JSON object
    return safe_load(path, device) if start[8:] == b"{" else torch_load(path, device)


def _in_folder(folder: Path) -> Path:
    found = [folder / name for name in _MODEL_FILES if (folder / name).is_file()]
    if not found:
        raise FileNotFoundError(
            f"{folder} has no {' and no '.join(_MODEL_FILES)}. Pass the path of the file."
        )
    return found[0]


def _load_shards(index: Path, device: str | None) -> dict[str, Tensor]:
    places = read_index(ByteSource(index))
    shards = {name: safe_load(index.parent / name, device) for name in dict.fromkeys(places.values())}
    found = {name for shard in shards.values() for name in shard}
    missing = [name for name, shard in places.items() if name not in shards[shard]]
    if missing or found != places.keys() or len(found) != sum(map(len, shards.values())):
        unlisted = sorted(found - places.keys())
        raise FileFormatError(
            f"{index} does not fit its files: {missing[:5]} are not where it says, {unlisted[:5]} not in it. "
            "Fetch or save the files again.",
            path=str(index),
        )
    return {name: shards[shard][name] for name, shard in places.items()}


# more names than these are only counted
_MOST_NAMES = 4


class PlainTensorWarning(UserWarning):
    """A model has tensors of floats whose `requires_grad` was never set.

    In tinygrad they are parameters; here, as in PyTorch, those with `requires_grad` are. Call
    `.requires_grad_()` on what is to be trained, and `.requires_grad_(False)` on constants, or pass
    `requires_grad` where they are made. What is computed of constants only is one.

    Example:
        >>> with warnings.catch_warnings(category=PlainTensorWarning, action="ignore"):
        ...     get_parameters({"scale": Tensor.ones(3)})
        []
    """


def warn_of_plain_tensors(model: object, named: Iterable[tuple[str, Tensor]]) -> None:
    """Warn, for `get_parameters`, of tensors whose `requires_grad` was never set.

    Nothing is said of integers, and of what was computed from tensors that require a gradient.
    """
    plain: dict[int, str] = {}
    for name, tensor in named:
        said = tensor._is_leaf  # pyright: ignore[reportPrivateUsage]
        if said is None and not tensor.requires_grad and is_float(tensor.dtype):
            plain.setdefault(id(tensor), f"{name or 'it'} {show(tensor.shape)}")
    if not plain:
        return
    names = list(plain.values())
    shown, rest = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    others = f" and {rest} more" if rest > 0 else ""
    warnings.warn(
        f"get_parameters: the {type(model).__name__} has tensors that are not trained, as in PyTorch, since "
        f"nobody set their requires_grad: {shown}{others}. Call .requires_grad_() on those to be trained, "
        "and .requires_grad_(False) on constants.",
        PlainTensorWarning,
        stacklevel=3,
    )
