"""Make the sizes of dynamic axes Variables, so that one set of kernels serves all."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import numpy as np
import onnx.helper

from plugrad import Tensor, UOp
from plugrad.tensor.shapes import product
from plugrad.uop import greatest
from plugrad_onnx.errors import InputError
from plugrad_onnx.ports import Port
from plugrad_onnx.values import NARROW, Array, Narrow, Value, from_array

Bounds = tuple[int, int]
#: what a caller says about dynamic axes: bounds by name, all of them, or none
Dynamic = Mapping[str, Bounds] | Literal[True] | None

SMALLEST_LIMIT = 16  # largest size that memory is made for, where nobody says one, and sizes are small


@dataclass(frozen=True)
class Axis:
    """Describe a dynamic axis.

    Attributes:
        name: as the model calls its size.
        variable: the Variable's name, which goes into kernels.
        bounds: smallest and largest size; None for the next power of two of each size.
    """

    name: str
    variable: str
    bounds: Bounds | None

    def bind(self, size: int) -> UOp:
        """Return the Variable with a size.

        Raises:
            InputError: the size lies outside of the bounds.
        """
        low, high = self.bounds or (1, max(SMALLEST_LIMIT, 1 << (size - 1).bit_length()))
        if not low <= size <= high:
            raise InputError(
                f"{self.name!r} is {size}, and lies in {low}..{high}. Load the model with other bounds."
            )
        return UOp.variable(self.variable, low, high).bind(size)

    def example(self) -> int:
        """Return a size to try an axis with."""
        low, high = self.bounds or (1, SMALLEST_LIMIT)
        return min(max(low, 2), high)


def find_axes(ports: Sequence[Port], dynamic: Dynamic) -> dict[str, Axis]:
    """Return the dynamic axes of inputs by name, those that a caller wants.

    Raises:
        InputError: bounds are given for what is no dynamic axis, or are none.
    """
    if dynamic is None:
        return {}
    names = list(dict.fromkeys(size for port in ports for size in port.shape or () if isinstance(size, str)))
    bounds: Mapping[str, Bounds | None] = dict.fromkeys(names) if dynamic is True else dynamic
    for name, limits in bounds.items():
        if name not in names:
            raise InputError(
                f"no dynamic size of the inputs is called {name!r}. There are: {', '.join(names) or 'none'}"
            )
        if limits is not None and not 0 < limits[0] <= limits[1]:
            raise InputError(f"the bounds {limits} of {name!r} are no smallest and largest size above 0")
    taken: set[str] = set()
    out: dict[str, Axis] = {}
    for name, limits in bounds.items():
        variable = "size_" + re.sub(r"\W", "_", name, flags=re.ASCII)
        while variable in taken:
            variable += "_"
        taken.add(variable)
        out[name] = Axis(name, variable, limits)
    return out


def example_of(port: Port, axes: Mapping[str, Axis]) -> Array:
    """Return zeros for an input, in sizes to try the model with."""
    named = [(axes.get(str(size)), size) for size in port.shape or ()]
    sizes = [axis.example() if axis else size if isinstance(size, int) else 2 for axis, size in named]
    if port.element_type in NARROW:
        return np.zeros(sizes, NARROW[port.element_type][1])
    return np.zeros(sizes, onnx.helper.tensor_dtype_to_np_dtype(port.element_type))


def with_variables(
    ports: Iterable[Port], given: Mapping[str, Value], axes: Mapping[str, Axis]
) -> dict[str, Value]:
    """Return inputs on the device; sizes of dynamic axes of arrays become Variables.

    Raises:
        InputError: two axes of one name have different sizes, or a size lies outside of its bounds.
    """
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    named = {port.name: tuple(axes.get(str(size)) for size in port.shape or ()) for port in ports}
    bound: dict[str, UOp] = {}
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        for axis, size in zip(named[name], array.shape, strict=False):
            if axis is not None and sizes.setdefault(axis.name, size) != size:
                raise InputError(f"{axis.name!r} is {sizes[axis.name]} in one input, and {size} in {name!r}")
            if axis is not None:
                bound[axis.name] = axis.bind(size)
    out = dict(given)
    for name, array in arrays.items():
        places = zip_longest(named[name], array.shape)
        out[name] = _placed(array, [size if axis is None else bound[axis.name] for axis, size in places])
    return out


def _placed(array: Array, sizes: Sequence[int | UOp]) -> Value:
    """Return an array in memory for the largest sizes."""
    if all(isinstance(size, int) for size in sizes):
        return from_array(array, is_constant=False)
    whole = np.zeros(math.prod(greatest(size) for size in sizes), array.dtype)
    whole[: array.size] = array.reshape(-1)
    memory = from_array(whole, is_constant=False)
    if isinstance(memory, Narrow):
        return Narrow(_leading_elements(memory.data, sizes), memory.element_type)
    return _leading_elements(memory, sizes)


def _leading_elements(memory: Tensor, sizes: Sequence[int | UOp]) -> Tensor:
    """Return the first elements of memory in a shape."""
    return memory[: product(sizes)].reshape(*sizes)
