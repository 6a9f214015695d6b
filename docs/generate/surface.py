"""What users see of plugrad: every public name, by the page that describes it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import plugrad
from plugrad import Tensor, array_api, dtype, helpers, jit, nn, settings, transforms
from plugrad.nn import data, datasets, functional, init, optim, schedulers, state

#: Pages on `Tensor`: file, title, and the modules of plugrad.tensor whose methods they describe, in order.
TENSOR_PAGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "tensor",
        "Tensors, their data and their dtypes",
        (
            "tensor",
            "base",
            "queries",
            "realization",
            "custom_kernel",
            "assign",
            "devices",
            "reading",
            "conversion",
            "interop",
            "external",
        ),
    ),
    (
        "creation",
        "Creation and random numbers",
        ("creation", "likeness", "diagonals", "draws", "sampling", "dropout"),
    ),
    (
        "elementwise",
        "Arithmetic and functions of elements",
        (
            *(
                "arithmetic",
                "comparing",
                "complex_numbers",
                "choices",
                "bits",
                "operators",
            ),
            *("elementwise", "special", "formulas"),
        ),
    ),
    ("activations", "Activations", ("activations", "gates")),
    (
        "reductions",
        "Reductions, scans, sorting",
        ("reduce", "softmaxes", "norms", "scan", "order", "selection", "statistics"),
    ),
    ("movement", "Shapes", ("movement", "reorder", "padding", "joins", "stacks")),
    (
        "indexing",
        "Indexing and searching",
        ("indexing", "advanced", "gather", "scatter_views", "search", "distinct"),
    ),
    (
        "linalg",
        "Products and linear algebra",
        (
            *("matmul", "einsum", "matrices", "inverses", "factors", "spectra", "matrix_norms"),
            *("fourier", "fourier_axes"),
        ),
    ),
    (
        "images",
        "Convolutions, pooling, sampling",
        (
            *("convolution", "transposed_convolution", "pooling", "adaptive"),
            *("interpolation", "grid_sample"),
        ),
    ),
    ("layers", "Normalization and attention", ("normalization", "attention", "sequential")),
    ("losses", "Losses", ("losses", "classification", "ctc")),
    ("gradients", "Gradients", ("gradient", "custom_gradient")),
)


@dataclass(frozen=True, slots=True)
class Name:
    """A public name.

    Attributes:
        path: how it is written, such as "Tensor.sum" or "nn.Linear".
        value: the class, function or property.
        owner: the class of a method.
    """

    path: str
    value: Any
    owner: type | None = None

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function whose signature and docstring it has; None for a class or a plain value."""
        value = self.value
        if isinstance(value, (classmethod, staticmethod)):
            return value.__func__
        if isinstance(value, property):
            return value.fget
        return value if inspect.isroutine(value) else None

    @property
    def first_name(self) -> str:
        """The name that a method was defined by, where this is its second one; else empty."""
        own = getattr(self.function, "__name__", "")
        is_second = self.owner is not None and own[:1].isalpha() and own != self.path.rpartition(".")[2]
        return own if is_second else ""

    @property
    def doc(self) -> str:
        """The docstring; of a second name, the first one."""
        if self.first_name:
            return f"Another name of `{self.first_name}`."
        holder = self.function or self.value
        return inspect.cleandoc(holder.__doc__ or "")

    @property
    def module(self) -> str:
        """The last part of the name of the module that defines it."""
        holder: Any = self.function or self.owner or self.value
        return holder.__module__.rpartition(".")[2]


def methods_of(cls: type, path: str) -> list[Name]:
    """Return the public methods and properties of a class, in the order of their definitions."""
    found: dict[str, Name] = {}
    for base in cls.__mro__[:-1]:
        for name, value in vars(base).items():
            # the docstring of a layer says what its `forward` does
            is_public = (
                not name.startswith("_")
                and name != "forward"
                and (inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod, property)))
            )
            if is_public and name not in found:
                found[name] = Name(f"{path}.{name}", value, base)
    return list(found.values())


def of_tensor() -> dict[str, list[Name]]:
    """Return the methods of `Tensor` by page.

    Raises:
        LookupError: a module of plugrad.tensor has methods and no page.
    """
    pages: dict[str, list[Name]] = {file: [] for file, _, _ in TENSOR_PAGES}
    places = {module: file for file, _, modules in TENSOR_PAGES for module in modules}
    methods = methods_of(Tensor, "Tensor")
    homeless = {name.module for name in methods} - set(places)
    if homeless:
        raise LookupError(f"add {sorted(homeless)} to TENSOR_PAGES in {__file__}: their methods have no page")
    order = list(places)
    for name in sorted(methods, key=lambda name: order.index(name.module)):
        pages[places[name.module]].append(name)
    return pages


def of_module(module: ModuleType, path: str) -> list[Name]:
    """Return what a module names in `__all__`, or defines: classes with their methods, and functions."""
    own = [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    found: list[Name] = []
    # those of a package come from several modules
    listed = sorted(getattr(module, "__all__", own), key=_constants_first if module is nn else lambda _: 0)
    values = {name: getattr(module, name) for name in listed}
    for name, value in values.items():
        if name.startswith("_") or not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        found.append(Name(f"{path}{name}", value))
        if inspect.isclass(value):
            # what is inherited is described once, with the class that it comes from
            listed_bases = [v for v in values.values() if v in value.__mro__[1:]]
            found += [
                method
                for method in methods_of(value, f"{path}{name}")
                if method.owner is value
                or not any(hasattr(base, method.path.rpartition(".")[2]) for base in listed_bases)
            ]
    return found


def _own(module: ModuleType, path: str) -> list[Name]:
    """Return the functions that a module defines, without those that it only names."""
    return [name for name in of_module(module, path) if name.value.__module__ == module.__name__]


def _constants_first(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name


def elsewhere() -> dict[str, tuple[str, list[Name]]]:
    """Return the names beside `Tensor` by page: its title and its names."""
    device = type(plugrad.Device)
    top = [Name("Device", device), *methods_of(device, "Device")]
    top += [
        Name("Variable", plugrad.Variable),
        Name("context", plugrad.context),
        Name("memory", plugrad.memory),
        Name("Tensor", Tensor),
    ]
    return {
        "plugrad": ("Devices, variables, settings", top),
        "dtypes": ("Dtypes", of_module(dtype, "")),
        "transforms": ("Functions made into others", of_module(transforms, "transforms.")),
        "jit": ("The JIT", of_module(jit, "jit.")),
        "nn": ("Layers", of_module(nn, "nn.")),
        "functional": ("Functions of layers", _own(functional, "nn.functional.")),
        "init": ("Initial values", of_module(init, "nn.init.")),
        "data": ("Batches of data", of_module(data, "nn.data.")),
        "optim": ("Optimizers", of_module(optim, "nn.optim.")),
        "schedulers": ("Learning rates", of_module(schedulers, "nn.schedulers.")),
        "state": ("Files and the state of models", of_module(state, "nn.state.")),
        "datasets": ("Data sets", of_module(datasets, "nn.datasets.")),
        "array_api": ("The Python array API standard", of_module(array_api, "array_api.")),
        "helpers": ("Helpers of programs", of_module(helpers, "helpers.")),
        "settings": ("Settings", of_module(settings, "settings.")),
    }


def everything() -> list[Name]:
    """Return every public name."""
    return [name for names in of_tensor().values() for name in names] + [
        name for _, names in elsewhere().values() for name in names
    ]
