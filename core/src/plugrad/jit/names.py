"""What the names in the code of a jitted function stand for: tensors outside, plain values, other objects.

A replay does not run the function. That a name stands for something else by now is found by going the way
again that led there from the function: variables that its code names, attributes, items.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from plugrad._frozen import frozen
from plugrad.tensor import Tensor

__all__ = ["PLAIN", "Call", "Names", "Path", "Read"]

#: A function with its arguments and keyword arguments.
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
#: Gets one object from another and a key. Most are functions of C: the way is gone at each replay.
Read = Callable[[Any, Any], Any]
#: The names, positions and keys that lead to an object.
Path = tuple[Any, ...]

#: The types of values that are equal or not, whichever object they are.
PLAIN = frozenset({bool, int, float, complex, str, type(None)})


@frozen
class Names:
    """Ways from a call to what names stand for, as a tree. Objects have numbers; that of the call is 0.

    Attributes:
        steps: for each object from number 1 on, the number of the one that it is got from, and how.
        tensors: for each tensor, the same, and the tensor.
        values: for each plain value, the same, the value, and the path to it.
        objects: the same for objects that are no plain values: functions, layers, ...
    """

    steps: tuple[tuple[int, Read, Any], ...]
    tensors: "tuple[tuple[int, Read, Any, weakref.ref[Tensor]], ...]"
    values: tuple[tuple[int, Read, Any, Any, Path], ...]
    objects: "tuple[tuple[int, Read, Any, weakref.ref[Any], Path], ...]"

    def changed(self, call: Call) -> list[Path] | None:
        """Return the paths that lead from `call` to something else by now; None: to another tensor."""
        if not (self.tensors or self.values or self.objects):
            return []
        passed: list[Any] = [call]
        try:
            for number, read, key in self.steps:
                passed.append(read(passed[number], key))
            if not all([read(passed[number], key) is t() for number, read, key, t in self.tensors]):
                return None
            others = [
                path for number, read, key, o, path in self.objects if read(passed[number], key) is not o()
            ]
            return others + [
                path
                for number, read, key, value, path in self.values
                if (found := read(passed[number], key)) is not value and not _are_equal(found, value)
            ]
        except (LookupError, AttributeError, TypeError, ValueError):
            # something on the way has other attributes, items or none
            return None

    def without(self, paths: Iterable[Path]) -> "Names":
        """Return the names but for the values and objects that `paths` lead to."""
        left_out = set(paths)
        values = tuple([value for value in self.values if value[-1] not in left_out])
        objects = tuple([each for each in self.objects if each[-1] not in left_out])
        return Names(self.steps, self.tensors, values, objects) if left_out else self


def _are_equal(found: Any, value: Any) -> bool:
    return type(found) is type(value) and type(found) in PLAIN and found == value
