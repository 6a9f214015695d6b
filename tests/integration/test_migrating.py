"""Every entry of docs/migrating.md is executed, and gives what the other library gives."""

import ast
import functools
import importlib
import inspect
import math
import operator
import pathlib
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plugrad
from plugrad import array_api, context, nn, transforms
from plugrad.settings import settings

GENERATOR = Path(__file__).resolve().parents[2] / "docs" / "generate"
MODULES = {"np": "numpy", "torch": "torch", "tinygrad": "tinygrad", "plugrad": "plugrad"}
CODE = re.compile("`([^`]+)`")
draws = np.random.default_rng(7)

# deprecated names are in the tables as well, and mean what they mean
pytestmark = pytest.mark.filterwarnings("ignore")


def drawn(*shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    return draws.uniform(low, high, shape).astype(np.float32)


#: What names in examples stand for, in each library as its tensors.
ARRAYS: dict[str, Any] = {
    "x": drawn(3, 4),
    "y": drawn(3, 4),
    "p": drawn(3, 4, low=0.1, high=0.9),
    "q": drawn(3, 4, low=0.1, high=0.9),
    "i": np.array([[0, 3, 1, 2], [5, 4, 2, 0], [1, 1, 6, 7]], np.int32),
    "j": np.array([[1, 2, 3, 1], [2, 2, 1, 3], [3, 1, 2, 2]], np.int32),
    "k": np.array([2, 0, 1], np.int32),
    "b": np.array([[True, False, True, False], [False, False, True, True], [True, True, False, False]]),
    "c": np.array([[True, True, False, False], [False, True, True, False], [False, True, False, True]]),
    "v": np.array([3, 1, -2, 7], np.float32),
    "w": np.array([2, -1, 0.5, 4], np.float32),
    "n": np.array([[1, np.nan, np.inf, -np.inf], [0, -1, np.nan, 2]], np.float32),
    "m": drawn(3, 3),
    "s": np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]], np.float32),
    "u": drawn(2, 3, 4),
    "zeros": np.zeros((20, 80), np.float32),
    "signal": drawn(2, 4, 6),
    "image": drawn(2, 4, 4, 4),
    "volume": drawn(1, 4, 4, 4, 4),
}
MEMORY = np.array([3, 1, 4, 1], np.float32)
#: Arrays with one, two and three axes beside batch and channels.
WINDOWED = ("signal", "image", "volume")


def spread(values: Any) -> tuple[float, float]:
    """Return mean and deviation of random numbers, as far as a sample tells them."""
    (array,) = leaves(values)
    return round(abs(float(array.mean() / array.std()))), float(f"{array.std():.1g}")


def worked(context: AbstractContextManager[Any], inside: Callable[[], Any] = lambda: True) -> Any:
    with context:
        return inside()


class Library:
    """One library, and what examples need of it beside its names.

    Args:
        name: as examples write it.
        folder: of files that examples read and write.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.module: Any = importlib.import_module(MODULES[name])

    @property
    def rand(self) -> Callable[..., Any]:
        return np.random.rand

    def seed(self, number: int) -> None:
        np.random.seed(number)

    def tensor(self, array: Any) -> Any:
        return array.copy()

    def names(self, code: str) -> dict[str, Any]:
        """Return what names in code stand for; tensors are new ones, since code may write to them."""
        words = set(re.findall(r"\w+", code))
        return {
            **{name: self.tensor(array) for name, array in ARRAYS.items() if name in words},
            **{self.name: self.module, "np": np, "math": math, "pathlib": pathlib, "folder": self.folder},
            **{"float32": np.float32, "int32": np.int32, "memory": bytearray(MEMORY), "text": str},
            **{"address": MEMORY.ctypes.data, "url": (self.folder / "memory").as_uri()},
            **{"again": self.again, "spread": spread, "worked": worked},
        }

    def run(self, code: str, given: str = "", **more: Any) -> Any:
        """Return the value of code, with more names given as keyword arguments in text or as values."""
        self.seed(0)
        names = {**self.names(f"{code} {given}"), **more}
        return value_of(code, {**names, **eval(f"dict({given})", names)})

    def again(self, seed: Callable[[], object]) -> bool:
        """Say whether a seed brings the same random numbers back."""
        return len({(seed(), str(leaves(self.rand(4))))[1] for _ in range(2)}) == 1


class Framework(Library):
    """A library with gradients: plugrad and tinygrad, whose names are the same."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder)
        parts = (f"{self.module.__name__}.nn.{part}" for part in ("optim", "state"))
        self.optim, self.state = map(importlib.import_module, parts)
        self.dtypes: Any = self.module.dtypes

    @property
    def rand(self) -> Callable[..., Any]:
        return self.module.Tensor.rand

    def seed(self, number: int) -> None:
        self.module.Tensor.manual_seed(number)

    def tensor(self, array: Any) -> Any:
        return self.module.Tensor(array.copy())

    def names(self, code: str) -> dict[str, Any]:
        helpers = (self.fill, self.leaf, self.trained, self.clipped, self.pooled, self.rates)
        return {
            **{name: value for name, value in vars(self.module).items() if not name.startswith("_")},
            **super().names(code),
            **{helper.__name__: helper for helper in helpers},
            **{name: getattr(self.dtypes, name) for name in ("float32", "int32")},
            **{name: make() for name, make in self.made().items() if re.search(rf"\b{name}\b", code)},
            "optim": self.optim,
        }

    def made(self) -> dict[str, Callable[[], Any]]:
        """Return how names are made that few examples use."""
        layers = self.module.nn
        return {
            "layer": lambda: layers.Linear(3, 3),
            "model": lambda: self.fill(layers.Sequential(layers.Linear(4, 3), layers.BatchNorm1d(3))),
            "optimizer": lambda: self.optim.SGD([self.leaf()], lr=1.0),
        }

    def training(self) -> AbstractContextManager[Any]:
        return self.module.Context(TRAINING=1)

    def weights(self, layer: Any) -> dict[str, Any]:
        return self.state.get_state_dict(layer)

    def write(self, weight: Any, array: Any) -> None:
        weight.assign(self.tensor(array)).realize()

    def fill(self, layer: Any) -> Any:
        """Give the weights of a layer values that depend on their names and shapes only."""
        for _, weight in sorted(self.weights(layer).items()):
            if "float" in str(weight.dtype):
                size = math.prod(weight.shape)
                self.write(weight, np.linspace(0.2, 0.9, size, dtype=np.float32).reshape(weight.shape))
        return layer

    def leaf(self) -> Any:
        """Return a matrix that is trained."""
        # tinygrad has no such class: all its tensors are trained
        return getattr(self.module.nn, "Parameter", lambda tensor: tensor)(self.tensor(ARRAYS["m"]))

    def trained(self, optimizer: Callable[..., Any], **options: Any) -> Any:
        """Return weights after three steps of an optimizer."""
        weight = self.leaf()
        steps = optimizer([weight], **options)
        for _ in range(3):
            steps.zero_grad()
            (weight * weight * weight).sum().backward()
            with self.training():
                steps.step()
        return weight

    def clipped(self, clip: Callable[..., Any], limit: float) -> Any:
        """Return gradients that were clipped."""
        weight = self.leaf()
        (weight * weight).sum().backward()
        clip([weight], limit)
        return weight.grad

    def rates(self, schedule: Callable[[Any], Any], *arguments: Any) -> list[Any]:
        """Return the learning rates of six steps."""
        optimizer = self.optim.SGD([self.leaf()], lr=1.0)
        steps = schedule(optimizer)
        rates: list[Any] = []
        for _ in range(6):
            rates += leaves(optimizer.param_groups[0]["lr"])
            steps.step(*arguments)
        return rates

    def pooled(self, axes: int) -> Any:
        """Return the maxima of windows over so many axes, and their places."""
        x = self.tensor(ARRAYS[WINDOWED[axes - 1]])
        return getattr(x, f"max_pool{axes}d")(2, return_indices=True)


class Plugrad(Framework):
    """What the page is about."""

    def names(self, code: str) -> dict[str, Any]:
        parts = {"array_api": array_api, "transforms": transforms, "settings": settings}
        return {**super().names(code), **parts, "schedulers": nn.schedulers}


class Torch(Framework):
    """PyTorch, which has other names for some."""

    def __init__(self, name: str, folder: Path) -> None:
        Library.__init__(self, name, folder)
        for part in ("utils.checkpoint", "utils.data", "hub"):
            importlib.import_module(f"torch.{part}")
        self.dtypes, self.optim = self.module, self.module.optim

    @property
    def rand(self) -> Callable[..., Any]:
        return self.module.rand

    def seed(self, number: int) -> None:
        self.module.manual_seed(number)

    def tensor(self, array: Any) -> Any:
        return self.module.tensor(array)

    def names(self, code: str) -> dict[str, Any]:
        return {**super().names(code), "schedulers": self.optim.lr_scheduler}

    def training(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def weights(self, layer: Any) -> dict[str, Any]:
        return layer.state_dict()

    def write(self, weight: Any, array: Any) -> None:
        weight.copy_(self.tensor(array))

    def pooled(self, axes: int) -> Any:
        x = self.tensor(ARRAYS[WINDOWED[axes - 1]])
        return getattr(self.module.nn.functional, f"max_pool{axes}d")(x, 2, return_indices=True)


def leaves(value: Any) -> list[Any]:
    """Return the arrays and texts in what an example gives; of a layer, what it makes of an image."""
    match value:
        case None:
            return []
        case str():
            return [value]
        case bytes():
            return [np.frombuffer(value, np.uint8)]
        case dict():
            return [leaf for key in sorted(value) for leaf in (key, *leaves(value[key]))]
        case list() | tuple():
            return [leaf for each in value for leaf in leaves(each)]
        case _ if hasattr(value, "resolve_conj"):
            return [value.detach().resolve_conj().numpy()]
        case plugrad.Tensor():
            return [value.numpy()]
        case _ if hasattr(value, "realize"):
            # tinygrad keeps constants on no device until they are copied
            return [value.clone().numpy()]
        case _ if hasattr(value, "get_last_lr"):
            value.step()
            return value.get_last_lr()
        case np.ndarray() | np.generic() | bool() | int() | float():
            return [np.asarray(value)]
        case _:
            # a dtype
            return [str(value).rpartition(".")[2]]


def same(ours: Any, theirs: Any) -> None:
    """Raise AssertionError where two examples give different values."""
    for got, want in zip(leaves(ours), leaves(theirs), strict=True):
        if isinstance(got, str) or isinstance(want, str):
            assert got == want
        else:
            got, want = np.asarray(got), np.asarray(want)
            assert got.shape == want.shape
            complex_got, complex_want = (array.astype(np.complex128) for array in (got, want))
            np.testing.assert_allclose(complex_got, complex_want, rtol=5e-4, atol=5e-5)


def named(path: str) -> Any:
    """Return what a name stands for; of an attribute of tensors, the function that reads it."""
    parts = path.split(".")
    parts[0] = MODULES[parts[0]]
    # a function may have the name of the module that it is in
    depth = next(i for i in range(max(len(parts) - 1, 1), 0, -1) if ".".join(parts[:i]) in sys.modules)
    found: Any = functools.reduce(getattr, parts[depth:], sys.modules[".".join(parts[:depth])])
    return operator.attrgetter(parts[-1]) if inspect.isdatadescriptor(found) else found


def value_of(code: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression, or what a statement leaves in its target."""
    (statement,) = ast.parse(code).body
    if isinstance(statement, ast.Expr):
        return eval(code, names)
    exec(code, names)
    match statement:
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return eval(
                code[: code.index("[")] if isinstance(target, ast.Subscript) else ast.unparse(target), names
            )
        case _:
            return None


def loaded(*modules: str) -> list[Any]:
    """Import modules of the generator, which lie in no package."""
    sys.path.insert(0, str(GENERATOR))
    try:
        return [importlib.import_module(name) for name in modules]
    finally:
        sys.path.remove(str(GENERATOR))
        for name in [name for name in sys.modules if name.split(".")[0] in modules]:
            del sys.modules[name]


NAMES, OTHERWISE, HABITS = loaded("names", "otherwise", "habits")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Library]]:
    """The libraries that are installed, by the name that examples have for them."""
    folder = tmp_path_factory.mktemp("migrating")
    write_files(folder)
    kinds = {"np": Library, "torch": Torch, "tinygrad": Framework}
    others = {name: kind(name, folder) for name, kind in kinds.items() if find_spec(MODULES[name])}
    with interpreted_by_tinygrad(), context(DEVICE="PYTHON", SPEC=0):
        yield {"plugrad": Plugrad("plugrad", folder), **others}


def interpreted_by_tinygrad() -> AbstractContextManager[object]:
    """Choose tinygrad's interpreter, which needs no compiler; it reads DEV only once, at its import."""
    if not find_spec("tinygrad"):
        return nullcontext()
    return importlib.import_module("tinygrad").Context(DEV="PYTHON")


def write_files(folder: Path) -> None:
    """Write the files that examples read."""
    x = plugrad.Tensor(ARRAYS["x"], device="PYTHON")
    (folder / "memory").write_bytes(MEMORY.tobytes())
    np.save(folder / "array.npy", ARRAYS["x"])
    nn.state.safe_save({"x": x}, folder / "x.safetensors")
    nn.state.save({"x": x}, folder / "x.pt")
    with tarfile.open(folder / "x.tar", "w") as archive:
        archive.add(folder / "memory", "memory")
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        archive.write(folder / "memory", "memory")


def example_in(example: str, library: str) -> str:
    """Return the example as a library writes it: "f(x); np: f(x, axis=1)" has another in NumPy."""
    first, *others = re.split(r"; (?=(?:np|torch|tinygrad): )", example)
    return dict(other.split(": ", 1) for other in others).get(library, first)


@pytest.mark.parametrize("name", NAMES.ROWS)
def test_names_of_other_libraries_mean_the_same(libraries: dict[str, Library], name: str) -> None:
    *others, example = NAMES.ROWS[name]
    found = {
        path: libraries[library].run(example_in(example, library), f=named(path))
        for path in (f"plugrad.{name}", *others)
        if (library := path.split(".")[0]) in libraries
    }
    ours = found.pop(f"plugrad.{name}")
    for path, theirs in found.items():
        # `f` alone is a name that has no value to compare
        if theirs is not named(path):
            same(ours, theirs)


def parts(*texts: str) -> list[str]:
    return [code for text in texts for code in CODE.findall(text)]


def shown(libraries: dict[str, Library], row: Any, written: list[str], paths: list[str]) -> None:
    """Run each part of a row here, and what has its value in another library there."""
    assert len(written) == len(row.theirs), f"each of {written} needs what has its value in another library"
    for code, other in zip(written, row.theirs, strict=True):
        ours = libraries["plugrad"].run(code, row.given)
        for path in paths if re.search(r"\bf\b", other) else [other]:
            library = re.search(r"\b(np|torch|tinygrad)\b", path)
            there = libraries.get(library[1] if library else "tinygrad")
            # a bare name has no value to compare with
            if re.fullmatch(r"(np|torch|tinygrad)[\w.]*", other):
                assert there is None or named(other) is not None
            elif there is not None:
                value = there.run(other, row.given, **({"f": named(path)} if path != other else {}))
                same(*(of_image(*each) for each in ((ours, libraries["plugrad"]), (value, there))))


def of_image(value: Any, library: Library) -> Any:
    """Return what a layer makes of an image, and what is none as it is."""
    return value(library.tensor(ARRAYS["image"])) if callable(value) else value


@pytest.mark.parametrize("row", OTHERWISE.OTHERWISE, ids=lambda row: row.names)
def test_what_the_page_says_to_write_computes_the_same(libraries: dict[str, Library], row: Any) -> None:
    shown(libraries, row, parts(row.write), row.names.split())


@pytest.mark.parametrize("row", HABITS.NUMPY_MEANS, ids=lambda row: row.names)
def test_names_mean_what_the_page_says_where_numpy_differs(libraries: dict[str, Library], row: Any) -> None:
    shown(libraries, row, parts(row.names, row.write), [])


@pytest.mark.parametrize("row", HABITS.FROM_TINYGRAD, ids=lambda row: row.names)
def test_what_tinygrad_takes_has_its_form_here(libraries: dict[str, Library], row: Any) -> None:
    if "tinygrad" in libraries:
        for code in parts(row.names):
            libraries["tinygrad"].run(code, row.given)
    shown(libraries, row, parts(row.write), [])


def test_a_name_is_in_one_table() -> None:
    mapped = {path for row in NAMES.ROWS.values() for path in row[:3]}
    assert not mapped & {path for row in OTHERWISE.OTHERWISE for path in row.names.split()}
