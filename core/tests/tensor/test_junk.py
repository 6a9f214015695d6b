"""Junk in the place of each argument of each method: an answer, or an error that names the method.

The table of operations has good calls of nearly all methods. Each argument of one is replaced, and nothing is
computed.
"""

import functools
import inspect
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor, Variable, dtypes
from plugrad.errors import PlugradError
from plugrad_conformance.operations import OPERATIONS

# one device is enough: arguments are checked before there is anything for it to do
pytestmark = pytest.mark.parametrize("device", ["PYTHON"], indirect=True)

Call = tuple[tuple[Any, ...], dict[str, Any]]

LOOP: list[Any] = []
LOOP.append(LOOP)

#: What is an argument of no method but of those that `MEANT` names.
NEVER: dict[str, Any] = {
    "an object": object(),
    "bytes": b"x",
    "a function": lambda: 1,
    "a type": int,
    "a dictionary": {},
    "a date": np.datetime64("2020-01-01"),
    "strings": np.array(["a"]),
    "objects": np.array([object()], dtype=object),
    "a list of itself": LOOP,
    "a list of None": [[None]],
}
#: What is an argument of some.
SOMETIMES: dict[str, Any] = {
    "None": None,
    "text": "a",
    "no text": "",
    "much text": "x" * 100_000,
    "a number": 1.5,
    "a complex number": 1j,
    "NaN": float("nan"),
    "a negative number": -1,
    "a huge number": 10**30,
    "a large number": 2**40,
    "True": True,
    "an empty list": [],
    "a pair": (1, "a"),
    "a slice": slice(1),
    "an array": np.array([1, 0]),
    "an array of records": np.zeros(2, [("a", "i4")]),
    "a number of NumPy": np.bool_(True),
    "a tensor of PyTorch": torch.ones(2),
    "a dtype": dtypes.int8,
    "a variable": Variable("junk", 1, 4),
}

#: Where what is said above is an argument all the same.
MEANT = {
    # what numbers are made of: `dtype=int`, and `x.view(int)`
    "(dtype): a type",
    "view(shape): a type",
    "sequential(layers): a dictionary",
    # Python compares with everything
    *(
        f"{name}(other): {what}"
        for name in ("__eq__", "__ne__")
        for what in ("an object", "bytes", "a function", "a type", "a dictionary")
    ),
}

#: What is said without the name of a method: of a device, a dtype, an element.
SAYS_NO_NAME = re.compile(r"device|dtype|cannot (make|compute|index)|lists at|lists are|depend")

#: Methods that the table has no cases of, since they draw numbers or leave them undefined.
OTHERS = [
    SimpleNamespace(name=name, call=call, inputs=(np.ones((2, 3), np.float32),))
    for name, call in {
        "empty": lambda t: Tensor.empty(2, 3),
        "empty_like": lambda t: t.empty_like(),
        "new_empty": lambda t: t.new_empty(2, 3),
        "rand": lambda t: Tensor.rand(2, 3),
        "rand_like": lambda t: t.rand_like(),
        "randint": lambda t: Tensor.randint(2, 3, low=0, high=4),
        "randint_like": lambda t: t.int().randint_like(low=0, high=4),
        "randn": lambda t: Tensor.randn(2, 3),
        "randn_like": lambda t: t.randn_like(),
        "randperm": lambda t: Tensor.randperm(4),
        "normal": lambda t: Tensor.normal(2, 3, mean=1.0, std=2.0),
        "uniform": lambda t: Tensor.uniform(2, 3, low=0.0, high=2.0),
        "scaled_uniform": lambda t: Tensor.scaled_uniform(2, 3),
        "glorot_uniform": lambda t: Tensor.glorot_uniform(2, 3),
        "kaiming_normal": lambda t: Tensor.kaiming_normal(2, 3, a=0.1),
        "kaiming_uniform": lambda t: Tensor.kaiming_uniform(2, 3, a=0.1),
        "bernoulli": lambda t: t.bernoulli(),
        "multinomial": lambda t: t.multinomial(2),
        "equal": lambda t: t.equal(t),
        "allclose": lambda t: t.allclose(t, 1e-5, 1e-8),
        "size": lambda t: t.size(0),
        "realize": lambda t: t.realize(t),
        "schedule": lambda t: t.schedule(t),
        "kernelize": lambda t: t.kernelize(t),
        "replace": lambda t: t.replace(t),
        "to": lambda t: t.to("PYTHON"),
        "to_": lambda t: t.to_("PYTHON"),
        "to_device": lambda t: t.to_device("PYTHON"),
        "cuda": lambda t: t.cuda("PYTHON"),
        "gradient": lambda t: t.sum().gradient(t),
        "backward": lambda t: (t.requires_grad_() * 2).sum().backward(),
        "requires_grad_": lambda t: t.requires_grad_(True),
        "from_dlpack": lambda t: Tensor.from_dlpack(np.ones(2)),
        "from_torch": lambda t: Tensor.from_torch(torch.ones(2)),
        "to_torch": lambda t: t.to_torch(),
        "__dlpack__": lambda t: t.__dlpack__(max_version=(1, 0)),
        "__array_namespace__": lambda t: t.__array_namespace__(),
        "manual_seed": lambda t: Tensor.manual_seed(1),
    }.items()
]


@functools.cache
def _tensors() -> dict[str, Any]:
    return {
        "a tensor of bools": Tensor([True, False]),
        "a tensor of one number": Tensor(1.5, dtype="float16"),
        "a tensor without elements": Tensor.zeros(0, 3),
        "a tensor of many axes": Tensor.ones(7, 5, 1, 2, 1),
        "a tensor elsewhere": Tensor([1.0, 2.0], device="PYTHON:1"),
        "a tensor in a list": [Tensor([1.0])],
    }


def _own(name: str) -> Any:
    return inspect.getattr_static(Tensor, name)


def _called_by(case: Any) -> Call | None:
    """Return what a case gives to its method."""
    found: list[Call] = []
    member = _own(case.name)
    function = getattr(member, "__func__", member)

    @functools.wraps(function)
    def noted(*args: Any, **keywords: Any) -> Any:
        found.append((args, keywords))
        return function(*args, **keywords)

    owner = next(cls for cls in Tensor.__mro__ if case.name in vars(cls))
    setattr(owner, case.name, noted if function is member else type(member)(noted))
    try:
        case.call(*map(Tensor, case.inputs))
    finally:
        setattr(owner, case.name, member)
    return found[0] if found else None


@functools.cache
def _cases() -> dict[str, list[Any]]:
    cases: dict[str, list[Any]] = {}
    for case in (*OPERATIONS, *OTHERS):
        function = getattr(_own(case.name), "__func__", _own(case.name))
        # by a second name, it is tested by the first
        if inspect.isfunction(function) and function.__name__ == case.name:
            cases.setdefault(case.name, []).append(case)
    return cases


def _signature(name: str) -> inspect.Signature:
    return inspect.signature(getattr(_own(name), "__func__", _own(name)))


def _good_calls(name: str) -> list[Call]:
    """Return calls of a method, of which each argument that some case gives is in one."""
    calls: list[Call] = []
    known: set[str] = set()
    # the first ones are written for the method, those behind them are the same in other dtypes
    for case in _cases()[name][:12]:
        given = _called_by(case)
        names = _signature(name).bind(*given[0], **given[1]).arguments.keys() if given else known
        if given and (not calls or names - known):
            calls.append(given)
            known |= names
    return calls


def _with(call: Call, name: str, parameter: inspect.Parameter, place: int, value: Any) -> Call:
    """Return a call with another argument."""
    args, keywords = call
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL:
            return (*args[:place], value), keywords
        case inspect.Parameter.VAR_KEYWORD:
            own = keywords.keys() - _signature(name).parameters
            return args, {**keywords, **dict.fromkeys(own or {"other"}, value)}
        case inspect.Parameter.KEYWORD_ONLY:
            return args, {**keywords, parameter.name: value}
        case _ if place < len(args):
            return (*args[:place], value, *args[place + 1 :]), keywords
        case _:
            return args, {**keywords, parameter.name: value}


def _gives(call: Call, name: str, parameter: inspect.Parameter) -> bool:
    return parameter.name in _signature(name).bind(*call[0], **call[1]).arguments


@pytest.mark.parametrize("name", sorted(_cases()))
def test_junk_is_refused_by_the_name_of_the_method(name: str) -> None:
    is_class = isinstance(_own(name), classmethod)
    calls = _good_calls(name)
    faults: list[str] = []
    for place, parameter in enumerate(_signature(name).parameters.values()):
        # for a flag anything is true or false, as everywhere in Python; unknown keywords are TypeErrors
        if not place or isinstance(parameter.default, bool) or parameter.name in ("names", "_names"):
            continue
        call = next((c for c in calls if _gives(c, name, parameter)), calls[0])
        for what, junk in (NEVER | SOMETIMES | _tensors()).items():
            args, keywords = _with(call, name, parameter, place, junk)
            try:
                getattr(Tensor, name)(*args[is_class:], **keywords)
            except PlugradError as error:
                fault = _fault(name, str(error))
            except Exception as error:
                fault = f"raises {type(error).__name__}: {error}"
            else:
                is_meant = what not in NEVER or f"{name}({parameter.name}): {what}" in MEANT
                fault = "" if is_meant or f"({parameter.name}): {what}" in MEANT else "is taken"
            if fault:
                faults.append(f"{name}({parameter.name}): {what} {fault:.200}")
    assert not faults, "\n".join(faults)


def _fault(name: str, message: str) -> str:
    """Return what is wrong with what an error says."""
    if len(message) > 2500:
        return f"is answered in {len(message)} letters"
    is_named = name in message or name.startswith("__") or SAYS_NO_NAME.search(message)
    return "" if is_named else f"is refused without the name: {message}"
