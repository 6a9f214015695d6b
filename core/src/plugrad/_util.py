"""Small helpers that modules of several packages share."""

import gc
import importlib
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

VERSION = "0.1.0"


class LazyModule:
    """A module that is imported when its first attribute is read.

    For what is slow to import and not always needed. The type checker sees the module itself where it is
    imported under `TYPE_CHECKING`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        with collector_paused():
            value = getattr(importlib.import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import ctypes as ctypes
    import dataclasses as dataclasses
    import difflib as difflib
    import fractions as fractions
    import gzip as gzip
    import hashlib as hashlib
    import html as html
    import inspect as inspect
    import json as json
    import multiprocessing as multiprocessing
    import pathlib as pathlib
    import pickle as pickle
    import random as random
    import shlex as shlex
    import shutil as shutil
    import traceback as traceback
    from concurrent import futures as futures
    from importlib import metadata as metadata

    import numpy as numpy
    import platformdirs as platformdirs
else:
    # NumPy takes longer to import than all of plugrad, and the others a tenth of that together, which many
    # programs never need: modules that `import plugrad` loads take them from here
    # (`from plugrad._util import numpy as np`) and use them in functions only.
    ctypes, dataclasses, difflib, fractions, gzip, hashlib, html, inspect = map(
        LazyModule, ("ctypes", "dataclasses", "difflib", "fractions", "gzip", "hashlib", "html", "inspect")
    )
    json, numpy, pickle, platformdirs, random, shlex, shutil, traceback = map(
        LazyModule, ("json", "numpy", "pickle", "platformdirs", "random", "shlex", "shutil", "traceback")
    )
    futures, metadata, multiprocessing, pathlib = map(
        LazyModule, ("concurrent.futures", "importlib.metadata", "multiprocessing", "pathlib")
    )


def make_callable(module: str, function: Callable[..., Any]) -> None:
    """Let an imported module be called as `function` is.

    For packages whose name is also a function's elsewhere: `plugrad.tensor(data)`, `plugrad.jit(function)`.
    """
    members = {"__call__": staticmethod(function)}
    sys.modules[module].__class__ = type("CallableModule", (ModuleType,), members)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` was most likely meant to be, or None.

    Case does not count: `closest("debgu", ["DEBUG", "DEVICE"]) == "DEBUG"`.
    """
    by_upper = {candidate.upper(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.upper(), by_upper, n=1, cutoff=0.7)
    return by_upper[found[0]] if found else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return ` Did you mean 'X'?` for the closest candidate, or an empty string."""
    found = closest(name, candidates)
    return f" Did you mean {found!r}?" if found is not None else ""


def slots_in(cls: type) -> list[str]:
    """Return the names under which the slots that a class itself declares are its attributes.

    Python puts the name of the class before one that begins with two underscores.

    Example:
        >>> class Point:
        ...     __slots__ = ("__weakref__", "__y", "x")
        >>> slots_in(Point)
        ['_Point__y', 'x']
    """
    given: Any = vars(cls).get("__slots__", ())
    slots: list[str] = [given] if isinstance(given, str) else list(given)
    private = f"_{cls.__name__.lstrip('_')}"
    names = [f"{private}{s}" if s.startswith("__") and not s.endswith("__") else s for s in slots]
    return [name for name in names if name not in ("__dict__", "__weakref__") and name in vars(cls)]


@contextmanager
def collector_paused() -> Generator[None]:
    """Keep the cycle collector out of the block.

    Graph nodes hold no cycles and go with their last user, but making very many of them sets the collector
    off again and again: lowering a kernel takes half the time without it. What imports make stays.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
