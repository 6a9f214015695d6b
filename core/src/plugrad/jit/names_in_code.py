"""Names in the code of functions, and whose code is looked into for them."""

import sys
from types import CodeType
from typing import Any

# Whose functions and classes name nothing of users.
_LIBRARIES = frozenset({"plugrad", "numpy", "torch"})


def words_in(code: CodeType) -> set[str]:
    """Return the names in a function's code, and its texts that may be keys."""
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            words |= words_in(constant)
        elif isinstance(constant, str):
            words.add(constant)
    return words


def is_layer(cls: type[Any]) -> bool:
    """Say whether a class is a plugrad layer or optimizer, which read all attributes."""
    return str(cls.__module__).startswith("plugrad.nn.")


def host_records(cls: type[Any]) -> frozenset[str]:
    """Return the attributes of a plugrad layer or optimizer that its own computing never reads.

    Such as the number behind a learning rate, which computing reads from memory.
    """
    return getattr(cls, "HOST_RECORDS", frozenset[str]()) if is_layer(cls) else frozenset[str]()


def is_library(module: object, *, of_python: bool = True) -> bool:
    """Say whether a module belongs to plugrad, a library or Python's own."""
    if not isinstance(module, str):
        return False
    root = module.partition(".")[0]
    return (
        root in _LIBRARIES or root.startswith("plugrad_") or (of_python and root in sys.stdlib_module_names)
    )


def is_iterator(cls: type[Any]) -> bool:
    """Say whether objects of a class yield values once, differing each time."""
    return cls.__module__ in ("builtins", "itertools") and hasattr(cls, "__next__")
