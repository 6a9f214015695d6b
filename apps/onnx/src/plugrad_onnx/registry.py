"""Hold the one table of operators, from domain, name and opset to a function.

The signature of a function is its declaration. Parameters by position are inputs, and those by keyword are
attributes; an attribute of an old opset that is an input today goes to the parameter of that name.
Annotations say what a function wants: `Tensor` what is on a device, `tuple[int, ...]`, `int` or `float`
numbers on the host, `Array` a NumPy array, `Value` anything. A `Literal` is checked when the model is loaded.
"""

import inspect
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import numpy as np

from plugrad import Tensor
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import Array, Narrow, Value, from_array, to_array, to_ints, type_name

ML = "ai.onnx.ml"
PREVIEW = "ai.onnx.preview"
TRAINING = "ai.onnx.preview.training"

# what the first opset said about memory, and nothing reads
IGNORED = frozenset({"consumed_inputs"})

Convert = Callable[[Any], Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operator:
    """One function, and the opsets for which it is right.

    Attributes:
        domain: of the operator; empty for the standard's own.
        name: type of the nodes.
        since: first opset.
        until: last opset, or None where it is the current one.
        function: called with inputs by position and attributes by keyword.
        keeps_type: moves elements without looking at them, so that types plugrad has no dtype for pass.
        inputs: conversion of each input.
        rest: conversion of further inputs, or None where there are none.
        choices: legal values of attributes that have few.
        attributes: names of all attributes that the function takes.
        takes_call: whether it wants to know about its node.
    """

    domain: str
    name: str
    since: int
    until: int | None
    function: Callable[..., Any]
    keeps_type: bool
    inputs: tuple[Convert, ...]
    rest: Convert | None
    choices: dict[str, tuple[Any, ...]]
    attributes: frozenset[str]
    takes_call: bool

    def check(self, attributes: dict[str, Any], input_count: int) -> Iterable[str]:
        """Yield what the function cannot do with the node's attributes and inputs."""
        for name, value in attributes.items():
            if name not in self.attributes and _holds_strings(value):
                yield f"attribute {name!r} holds strings, which tensors do not"
            elif name not in self.attributes:
                yield f"attribute {name!r} is not supported"
            elif name in self.choices and value not in self.choices[name]:
                legal = ", ".join(map(repr, self.choices[name]))
                yield f"attribute {name!r} is {value!r}, and only {legal} are supported"
        if self.rest is None and input_count > len(self.inputs):
            yield f"{input_count} inputs, of which {len(self.inputs)} are supported"

    def __call__(self, inputs: list[Value], attributes: dict[str, Any], **call: Any) -> Any:
        """Compute the outputs of a node."""
        if self.keeps_type and inputs and isinstance(inputs[0], Narrow):
            kind = inputs[0].element_type
            out = self([inputs[0].data, *inputs[1:]], attributes, **call)
            if isinstance(out, tuple):
                return tuple(Narrow(part, kind) for part in cast(tuple[Tensor, ...], out))
            return Narrow(out, kind)
        given = [
            convert(value) for convert, value in zip(self._conversions(len(inputs)), inputs, strict=True)
        ]
        return self.function(*given, **attributes, **(call if self.takes_call else {}))

    def _conversions(self, count: int) -> list[Convert]:
        more = count - len(self.inputs)
        return [*self.inputs[:count], *([self.rest] * more if self.rest else ())]


_TABLE: dict[tuple[str, str], list[Operator]] = {}


def operator(
    *names: str, domain: str = "", since: int = 1, until: int | None = None, keeps_type: bool = False
) -> Callable[[F], F]:
    """Enter a function into the table.

    Args:
        names: operators that it computes; several where they differ in nothing.
        domain: of the operators.
        since: first opset for which the function is right.
        until: last such opset; None for the current one.
        keeps_type: whether it moves elements without looking at them.

    Example:
        >>> @operator("Example", domain="example")
        ... def example(x: Tensor, *, alpha: float = 1.0) -> Tensor:
        ...     return x * alpha
        >>> find("example", "Example", 1).name
        'Example'
    """

    def enter(function: F) -> F:
        hints = typing.get_type_hints(function)
        parameters = inspect.signature(function).parameters.values()
        by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        rest = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
        by_name = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
        choices = {p.name: _choices(hints[p.name]) for p in by_name}
        for name in names:
            entry = Operator(
                domain,
                name,
                since,
                until,
                function,
                keeps_type,
                inputs=tuple(_conversion(hints[p.name]) for p in by_position),
                rest=_conversion(hints[rest[0].name]) if rest else None,
                choices={key: legal for key, legal in choices.items() if legal},
                attributes=frozenset(p.name for p in by_name) - {"call"} | IGNORED,
                takes_call="call" in hints,
            )
            _TABLE.setdefault((domain, name), []).append(entry)
        return function

    return enter


def find(domain: str, name: str, opset: int) -> Operator | None:
    """Return the entry of the table for an operator in an opset, or None."""
    domain = "" if domain == "ai.onnx" else domain
    for entry in _TABLE.get((domain, name), ()):
        if entry.since <= opset and (entry.until is None or opset <= entry.until):
            return entry
    return None


def all_operators() -> list[Operator]:
    """Return the whole table, sorted by domain, name and opset."""
    entries = [entry for several in _TABLE.values() for entry in several]
    return sorted(entries, key=lambda entry: (entry.domain, entry.name, entry.since))


def _holds_strings(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(part, str) for part in cast(tuple[Any, ...], value))


def _choices(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def _conversion(hint: Any) -> Convert:
    """Return the function that makes an input what an annotation says."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kinds = [kind for kind in options if kind is not type(None)]
    if len(kinds) > 1 or kinds[0] not in _CONVERSIONS:
        return lambda value: value
    convert, is_optional = _CONVERSIONS[kinds[0]], type(None) in options

    def convert_given(value: Any) -> Any:
        if value is None and not is_optional:
            raise OnnxError("an input that the operator needs is left out")
        return None if value is None else convert(value)

    return convert_given


def _to_tensor(value: Any) -> Tensor:
    if isinstance(value, np.ndarray):
        value = from_array(cast(Array, value))
    if isinstance(value, Narrow):
        raise OnnxError(f"elements of {type_name(value.element_type)} cannot be computed with. Cast them.")
    if not isinstance(value, Tensor):
        raise OnnxError("a sequence stands where a tensor is needed")
    return value


def _to_one(convert: Callable[[Any], Any]) -> Convert:
    def to_one(value: Any) -> Any:
        array = to_array(_number(value))
        if array.size != 1:
            raise OnnxError(f"one number is needed, and the input has shape {array.shape}")
        (number,) = array.reshape(-1)
        return convert(as_number(number) if array.dtype.kind == "O" else number)

    return to_one


def _number(value: Any) -> Tensor | Array:
    if isinstance(value, Tensor | np.ndarray):
        return cast(Tensor | Array, value)
    raise OnnxError("a tensor of numbers is needed")


_CONVERSIONS: dict[Any, Convert] = {
    Tensor: _to_tensor,
    Array: lambda value: to_array(_number(value)),
    tuple[int, ...]: lambda value: to_ints(_number(value)),
    tuple[float, ...]: lambda value: tuple(map(float, to_array(_number(value)).reshape(-1))),
    int: _to_one(int),
    float: _to_one(float),
    bool: _to_one(bool),
}
