"""Check the fields of records against their annotations, for authors without a type checker."""

from types import UnionType
from typing import Any, cast, get_args, get_origin

from plugrad._util import dataclasses
from plugrad.dtype import DType


def type_mismatch(value: object, kind: Any, path: str) -> str | None:
    """Describe the first part of `value` of a type other than `kind`, or return None.

    `path` is the name of `value` in the message.

    Goes into tuples, frozen sets, and the fields of records other than dtypes, which authors do not make.

    Example:
        >>> type_mismatch((1, "2"), tuple[int, ...], "sizes")
        "sizes[1] is str '2', not int"
    """
    outer = kind if isinstance(kind, UnionType) else get_origin(kind) or kind
    if not isinstance(value, outer):
        return f"{path} is {show(value)}, not {getattr(outer, '__name__', outer)}"
    kinds = get_args(kind)
    if outer in (tuple, frozenset):
        items = cast("tuple[object, ...] | frozenset[object]", value)
        if outer is frozenset or kinds[-1] is ...:
            kinds = kinds[:1] * len(items)
        if len(items) != len(kinds):
            return f"{path} is {show(value)}, not a tuple of {len(kinds)}"
        names = (f"{path}[{i}]" for i in range(len(items)))
        parts = list(zip(items, kinds, names, strict=True))
    elif dataclasses.is_dataclass(value) and not isinstance(value, DType):
        parts = [
            (getattr(value, f.name), f.type, f"{path}.{f.name}".lstrip("."))
            for f in dataclasses.fields(value)
        ]
    else:
        return None
    return next(filter(None, (type_mismatch(*part) for part in parts)), None)


def show(value: object) -> str:
    """Return a value with its type, shortened."""
    return f"{type(value).__name__} {value!r:.80}" if value is not None else "None"
