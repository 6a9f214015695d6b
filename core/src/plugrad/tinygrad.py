"""Run programs for tinygrad unchanged: `python -m plugrad.tinygrad script.py`, or `-m module`.

While a program runs, imports of tinygrad and its public modules give plugrad's names. A name that plugrad
has not can be imported, and says so when it is used. docs/migrating.md lists what answers otherwise.
"""

import importlib
import os
import runpy
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial, total_ordering
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from plugrad import Tensor, nn
from plugrad.dtype import is_float
from plugrad.errors import PlugradError
from plugrad.messages import documentation_page
from plugrad.settings import settings
from plugrad.transforms import function

_ROOT = "tinygrad"
_USAGE = """usage: python -m plugrad.tinygrad SCRIPT.py [ARGUMENTS]
       python -m plugrad.tinygrad -m MODULE [ARGUMENTS]"""
# where the names of a module are looked up, in this order
_SOURCES = {
    "tinygrad": ("plugrad", "plugrad.helpers"),
    "tinygrad.tensor": ("plugrad.tensor", "plugrad"),
    "tinygrad.dtype": ("plugrad.dtype",),
    "tinygrad.device": ("plugrad.device", "plugrad.runtime.buffer", "plugrad.errors"),
    "tinygrad.helpers": ("plugrad.helpers",),
    "tinygrad.engine.jit": ("plugrad.jit", "plugrad.errors"),
    "tinygrad.nn": ("plugrad.nn",),
    "tinygrad.nn.optim": ("plugrad.nn.optim",),
    "tinygrad.nn.state": ("plugrad.nn.state", "plugrad.nn.formats.torch_file"),
    "tinygrad.nn.datasets": ("plugrad.nn.datasets",),
    "tinygrad.uop.ops": ("plugrad.uop.ops", "plugrad.uop.uop", "plugrad.uop.upat", "plugrad.uop.rewrite"),
}


class _Missing:
    """A name without a counterpart: importing it is fine, using it is not."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        name = self.__dict__["_name"]
        page = documentation_page("migrating.md")
        raise PlugradError(f"{name} has no counterpart in plugrad. {page} says what to write.")

    __call__ = __getattr__ = __setattr__ = __getitem__ = __iter__ = __bool__ = __enter__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__


@total_ordering
class _Setting:
    """A setting as tinygrad has it: compares as its value, which `Context` changes."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read

    @property
    def value(self) -> int:
        return int(self._read())

    def __int__(self) -> int:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return str(self.value)

    def __eq__(self, other: object) -> bool:
        return self.value == other

    def __lt__(self, other: int) -> bool:
        return self.value < other

    def __hash__(self) -> int:
        return id(self)


# --- names that mean something else there: other orders of arguments, and what is trained ---


def _trained(params: Iterable[Tensor]) -> list[Tensor]:
    """Let tensors of floats require a gradient, unless somebody said that they do not."""
    given = list(params)
    for t in given:
        said = t._is_leaf  # pyright: ignore[reportPrivateUsage]
        if said is None and not t.requires_grad and is_float(t.dtype):
            t.requires_grad_()
    return given


def _get_parameters(model: object) -> list[Tensor]:
    _trained(nn.state.get_state_dict(model).values())
    return nn.state.get_parameters(model)


class _BatchNorm(nn.BatchNorm):
    def __init__(
        self,
        sz: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float = 0.1,
    ) -> None:
        super().__init__(sz, eps, momentum, affine, track_running_stats)


class _Embedding(nn.Embedding):
    def __init__(self, vocab_size: int, embed_size: int) -> None:
        super().__init__(vocab_size, embed_size)


class _RMSNorm(nn.RMSNorm):
    def __init__(self, dim: int, eps: float = 1e-6, elementwise_affine: bool = True) -> None:
        super().__init__(dim, eps, elementwise_affine)


def _transposed(layer: type) -> Callable[..., Any]:
    def make(
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> Any:
        sizes = (in_channels, out_channels, kernel_size, stride, padding, output_padding)
        return layer(*sizes, groups=groups, bias=bias, dilation=dilation)

    return make


def _optimizer(make: type, *names: str) -> Callable[..., Any]:
    """Return a constructor of an optimizer that takes parameters, a rate, then `names`."""

    def made(params: Iterable[Tensor], lr: float = 1e-3, *values: Any, **named: Any) -> Any:
        named.pop("fused", None)  # how steps are computed is for the scheduler to choose
        named.pop("device", None)
        return make(_trained(params), lr, **dict(zip(names, values, strict=False)), **named)

    return made


def _function(
    fxn: Callable[..., Any] | None = None,
    *,
    precompile: bool = False,
    precompile_backward: bool = False,
    allow_implicit: bool = False,
    grad_fxn: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return the function as a unit for the scheduler, whatever else is asked for."""
    if grad_fxn is not None:
        raise PlugradError("function: grad_fxn has no counterpart. Write transforms.custom_gradient.")
    return function if fxn is None else function(fxn)


def _argfix(*items: Any) -> tuple[Any, ...]:
    is_one = len(items) == 1 and isinstance(items[0], (tuple, list))
    return tuple(*items) if is_one else items


def _argsort(items: Any) -> Any:
    order: list[int] = sorted(range(len(items)), key=items.__getitem__)
    return type(items)(order)


def _colored(text: str, color: str | None, background: bool = False) -> str:
    if color is None or color.lower() not in _COLOURS:
        return text
    code = _COLOURS.index(color.lower()) + 30 + 10 * background + 60 * color.isupper()
    return f"\x1b[{code}m{text}\x1b[0m"


class _Steps:
    """The items of a loop, of which a terminal shows what the program last said."""

    def __init__(self, items: Iterable[Any] = (), desc: str = "", **_: Any) -> None:
        self._items = items
        self._is_shown = False

    def __iter__(self) -> Iterator[Any]:
        yield from self._items
        if self._is_shown:
            print(file=sys.stderr)

    def set_description(self, text: str) -> None:
        self._is_shown = bool(settings.PROGRESS) and sys.stderr.isatty()
        if self._is_shown:
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)

    def update(self, count: int = 1) -> None:
        pass


def _trange(count: int, **_: Any) -> _Steps:
    return _Steps(range(count))


_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "all_same": lambda items: all(item == items[0] for item in items),
    "dedup": lambda items: list(dict.fromkeys(items)),
    "unwrap": lambda value: value,
}
_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "ceildiv": lambda number, by: -(number // -by),
    "make_tuple": lambda sizes, count: (sizes,) * count if isinstance(sizes, int) else tuple(sizes),
    "round_up": lambda number, by: -(number // -by) * by,
}
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_SETTINGS = ("DEBUG", "JIT", "BEAM", "NOOPT", "WINO")
_MUON = ("momentum", "weight_decay", "ns_steps", "ns_coefficients", "nesterov")
_ADAM = ("b1", "b2", "eps", "weight_decay")
_NAMES: dict[str, dict[str, Any]] = {
    "tinygrad": {"function": _function},
    "tinygrad.function": {"function": _function},
    "tinygrad.nn": {
        "BatchNorm": _BatchNorm,
        "BatchNorm2d": _BatchNorm,
        "BatchNorm3d": _BatchNorm,
        "Embedding": _Embedding,
        "RMSNorm": _RMSNorm,
        "ConvTranspose1d": _transposed(nn.ConvTranspose1d),
        "ConvTranspose2d": _transposed(nn.ConvTranspose2d),
    },
    "tinygrad.nn.optim": {
        "Adam": _optimizer(nn.optim.Adam, *_ADAM[:3]),
        "AdamW": _optimizer(nn.optim.AdamW, *_ADAM),
        "LAMB": _optimizer(nn.optim.LAMB, *_ADAM),
        "SGD": _optimizer(nn.optim.SGD, "momentum", "weight_decay", "nesterov"),
        "LARS": _optimizer(nn.optim.LARS, "momentum", "weight_decay"),
        "Muon": _optimizer(nn.optim.Muon, *_MUON),
    },
    "tinygrad.nn.state": {"get_parameters": _get_parameters},
    "tinygrad.helpers": {
        **{name: _Setting(partial(getattr, settings, name)) for name in _SETTINGS},
        "TRAINING": _Setting(partial(getattr, Tensor, "training")),
        "CI": bool(os.environ.get("CI")),
        "OSX": sys.platform == "darwin",
        "argfix": _argfix,
        "argsort": _argsort,
        "colored": _colored,
        "tqdm": _Steps,
        "trange": _trange,
        **_OF_ONE,
        **_OF_TWO,
    },
}


# --- the modules ---


class _Module(ModuleType):
    """A module of tinygrad, whose names are looked up when they are asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if path in _PACKAGES:
            return _module(path)
        if name in (own := _NAMES.get(self.__name__, {})):
            return own[name]
        for source in _SOURCES.get(self.__name__, ()):
            found = getattr(importlib.import_module(source), name, self)
            if found is not self:
                return found
        return _Missing(path)


_PACKAGES = {*_SOURCES, "tinygrad.engine", "tinygrad.uop"}


@cache
def _module(name: str) -> _Module:
    """Return the one module of a name, also when tinygrad itself can be imported again."""
    return _Module(name)


class _Finder(MetaPathFinder, Loader):
    """Find tinygrad and all below it; what plugrad has not is an empty module."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        is_ours = fullname == _ROOT or fullname.startswith(f"{_ROOT}.")
        return ModuleSpec(fullname, self, is_package=True) if is_ours else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextmanager
def mapped() -> Generator[None]:
    """Give plugrad's names to whoever imports tinygrad inside the block.

    Example:
        >>> with mapped():
        ...     from tinygrad import Tensor as Theirs
        >>> Theirs is Tensor
        True
    """
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == _ROOT}
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.split(".")[0] == _ROOT]:
            del sys.modules[name]
        sys.modules.update(before)


def main(words: Sequence[str]) -> int:
    """Run a program with its arguments: `script.py ...`, or `-m module ...`. Return the exit status.

    `DEV=NAME` chooses the device as `DEVICE=NAME` does, which goes first.
    """
    if not words or words[0] in ("-h", "--help") or words == ["-m"]:
        print(_USAGE)
        return 0 if words[:1] in (["-h"], ["--help"]) else 2
    if (device := os.environ.get("DEV")) and "DEVICE" not in os.environ:
        os.environ["DEVICE"] = device
    with mapped():
        if words[0] == "-m":
            sys.argv = list(words[1:])
            sys.path.insert(0, os.getcwd())
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(words)
            sys.path.insert(0, str(Path(words[0]).resolve().parent))
            runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    # under its own name: what `__main__` defines is the program's, which the JIT follows name by name
    sys.exit(importlib.import_module("plugrad.tinygrad").main(sys.argv[1:]))
