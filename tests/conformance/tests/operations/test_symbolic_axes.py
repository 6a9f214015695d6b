"""One case of each method with an axis of symbolic size: one set of kernels, the values of a known size.

What has no meaning for sizes that vary is refused, by an error that its docstring names.
"""

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor, Variable, context
from plugrad.dtype import is_float
from plugrad.errors import PlugradError
from plugrad.uop.ops import Ops
from plugrad_conformance.operations import OPERATIONS, Operation
from plugrad_conformance.operations.check import references

#: An axis of an input: their numbers.
Place = tuple[int, int]
#: What operators in place do.
WRITTEN_BY = Tensor.assign


def axes_of(case: Operation) -> Iterator[tuple[Place, ...]]:
    """Yield each axis of the first input, together with those of others at the same place from the end."""
    first = case.inputs[0]
    for axis, size in enumerate(first.shape):
        if size > 1:
            from_end = axis - first.ndim
            yield tuple(
                (number, x.ndim + from_end)
                for number, x in enumerate(case.inputs)
                if x.ndim + from_end >= 0 and x.shape[x.ndim + from_end] == size
            )


def tried() -> list[tuple[Operation, tuple[Place, ...]]]:
    """Return one case of each method, and its first axis that is no single element."""
    seen: set[str] = set()
    out: list[tuple[Operation, tuple[Place, ...]]] = []
    for case in OPERATIONS:
        axes = next(axes_of(case), None) if case.inputs else None
        if axes is not None and case.name not in seen:
            seen.add(case.name)
            out.append((case, axes))
    return out


def operands(case: Operation, axes: Sequence[Place], size: Any, room: int) -> list[Tensor]:
    """Return the inputs of a case with `size` elements along `axes`, in memory with `room` for more."""
    out: list[Tensor] = []
    for number, x in enumerate(case.inputs):
        own = [axis for i, axis in axes if i == number]
        for axis in own:
            x = np.take(x, np.arange(room), axis, mode="wrap")
        cut = tuple(slice(size) if axis in own else slice(None) for axis in range(x.ndim))
        out.append(Tensor(x)[cut] if own else Tensor(x))
    return out


def results(case: Operation, inputs: list[Tensor]) -> list[Tensor]:
    """Return what a case gives, and the gradient of its squares by its differentiated inputs."""
    call: Any = case.call
    returned = call(*inputs)
    found = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if case.differentiated:
        targets = [inputs[i] for i in case.differentiated]
        start = sum(0 * t.sum() for t in targets)
        total = sum([(y * y).sum() for y in found if is_float(y.dtype)], start)
        assert isinstance(total, Tensor)
        found += total.gradient(*targets)
    return [filled(y) for y in found]


def filled(y: Tensor) -> Tensor:
    """Return `y` with zeros behind it, in a shape that is the same for all values."""

    def missing(size: Any) -> Any:
        if isinstance(size, int):
            return 0
        bound = {u: u.src[0] for u in size.toposort() if u.op is Ops.BIND}
        return int(size.substitute(bound).vmax) - size

    return y.pad(tuple((0, missing(size)) for size in y.shape))


def documented(name: str, seen: tuple[str, ...] = ()) -> str:
    """Return what is said of a method, and of those that its docstring names."""
    method = WRITTEN_BY if re.fullmatch("__i[a-z]+__", name) else getattr(Tensor, name, None)
    doc = inspect.getdoc(method) or ""
    named = [n for n in re.findall(r"`(\w+)[`(]", doc) if n not in seen and n != name]
    return doc + "".join([documented(n, (*seen, name, *named)) for n in named])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("case", "axes"), tried(), ids=lambda x: x.id if isinstance(x, Operation) else "")
def test_one_set_of_kernels_serves_all_sizes(case: Operation, axes: tuple[Place, ...]) -> None:
    number, axis = axes[0]
    most = case.inputs[number].shape[axis]
    # by shapes: where the elements say how many there are, they differ
    programs: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    # graphs are verified after each pass in the tests of the single operations
    with context(DEVICE="PYTHON", SPEC=0), np.errstate(all="ignore"):
        for size in (most, most - 1):
            try:
                found = results(case, operands(case, axes, Variable("n", 1, most).bind(size), most))
                kernels = tuple(item.ast for item in found[0].schedule(*found[1:]))
                programs.setdefault(tuple(y.shape for y in found), set()).add(kernels)
                found[0].realize(*found[1:])
                values = [y.numpy() for y in found]
            except PlugradError as error:
                refused = error
                break
            if size == most:
                # the case itself, whose derivatives are beside those of a known size in the table
                wanted = zip(values, references(case), strict=False)
                expected = [want.astype(got.dtype) for got, want in wanted]
            else:
                known = results(case, operands(case, axes, size, most))
                known[0].realize(*known[1:])
                expected = [y.numpy() for y in known]
                assert [got.dtype for got in values] == [want.dtype for want in expected]
            for got, want in zip(values, expected, strict=False):
                inside = tuple(slice(size) for size in want.shape)
                np.testing.assert_allclose(got[inside], want, rtol=1e-4, atol=1e-5)
                got = got.copy()
                got[inside] = 0
                assert not got.any(), "more elements than there are"
        else:
            assert all(len(sets) == 1 for sets in programs.values()), "two sets of kernels for two sizes"
            return
    assert type(refused).__name__ in documented(case.name), f"{case.name} does not document {refused!r}"
