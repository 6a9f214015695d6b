"""Arithmetic of shapes and axes, and errors for those that do not fit.

A dimension is an int, or an index node where it is symbolic. Symbolic dimensions are equal when they are the
same node; undecidable cases are accepted.
"""

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from plugrad.dtype import ConstType, Number, dtypes, is_int
from plugrad.errors import ArgumentError, AxisError, DtypeError, ShapeError
from plugrad.uop import Ops, UOp, add_sizes, greatest, least
from plugrad.uop.node.sizes import shape_of_sizes

# No size, count or place has more
_MOST_BITS = 128
Dim = int | UOp
Shape = tuple[Dim, ...]
Axes = int | Sequence[int] | None


def is_static(dims: Iterable[Dim]) -> bool:
    """Say whether all of `dims` are numbers."""
    return all([isinstance(dim, int) for dim in dims])


def int_shape(u: UOp) -> tuple[int, ...]:
    """Return the shape of a node that has no symbolic size."""
    shape: Any = u.shape
    return shape


def size_today(size: Dim) -> int:
    """Return the present size of an axis, with variables at their bound values."""
    return size if isinstance(size, int) else int(size.vmax)


def greater(a: Dim, b: Dim) -> Dim:
    """Return the greater of two sizes, simplified where their bounds decide."""
    difference = add_sizes(a, -b)
    if least(difference) >= 0:
        return a
    node: Any
    node, other = (b, a) if isinstance(a, int) else (a, b)
    return b if greatest(difference) <= 0 else node.maximum(other)


def lesser(a: Dim, b: Dim) -> Dim:
    """Return the lesser of two sizes, simplified where their bounds decide."""
    difference = add_sizes(a, -b)
    if greatest(difference) <= 0:
        return a
    node: Any
    node, other = (b, a) if isinstance(a, int) else (a, b)
    return b if least(difference) >= 0 else node.minimum(other)


def product(dims: Iterable[Dim]) -> Any:
    """Return the number of elements of a shape."""
    given = tuple(dims)
    total: Any = math.prod(given)  # pyright: ignore[reportArgumentType, reportCallIssue] - nodes multiply as well
    if isinstance(total, int):
        return total
    # 1 * n would be another size than n
    known = math.prod([size for size in given if isinstance(size, int)])
    nodes = functools.reduce(operator.mul, [size for size in given if not isinstance(size, int)])
    return nodes if known == 1 else nodes * known if known else 0


def as_shape(args: "Sequence[Dim | Sequence[Dim]]") -> Shape:
    """Return the shape that was passed as `f(2, 3)` or `f((2, 3))`."""
    return tuple([as_dim(dim) for dim in unpacked(args)])


def unpacked(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments of `f(2, 3)` or `f((2, 3))` as one tuple.

    Example:
        >>> unpacked((2, 3)), unpacked(([2, 3],)), unpacked((2,))
        ((2, 3), (2, 3), (2,))
    """
    return several(args[0]) if len(args) == 1 else tuple(args)


def several(given: Any) -> tuple[Any, ...]:
    """Return the items of a sequence or array; a single value as the only item.

    Example:
        >>> several(range(2)), several(5)
        ((0, 1), (5,))
    """
    if not is_sequence(given):
        return (given,)
    return tuple(given.tolist() if hasattr(given, "tolist") else given)


def is_sequence(given: Any) -> bool:
    """Say whether an argument is a list, tuple, range or array with axes."""
    if isinstance(given, (tuple, list, range)):
        return True
    # the class of an array's elements, such as np.float32, has an `ndim` that is no number
    return not isinstance(given, type) and bool(getattr(given, "ndim", 0))


def as_number(value: Any, what: str = "operation") -> ConstType:
    """Return a real number of Python or NumPy as one of Python."""
    number = as_element(value, what)
    if isinstance(number, complex):
        raise DtypeError(f"{what}: {number} is complex. Pass a bool, int or float.")
    return number


def as_element(value: Any, what: str = "operation") -> Number:
    """Return a real or complex number of Python or NumPy as one of Python."""
    if isinstance(value, (bool, int, float, complex)):
        return value
    if getattr(value, "requires_grad", False):
        raise DtypeError(
            f"{what}: {value!r:.200} requires a gradient, which what takes a number does not give. Detach it."
        )
    number: Any = None
    if hasattr(value, "item") and not isinstance(value, type) and not is_sequence(value):  # pyright: ignore
        number = value.item()
    if isinstance(number, (bool, int, float, complex)):
        return number
    raise DtypeError(
        f"{what}: {value!r:.200} ({type(value).__name__}) is no number. Pass a bool, int or float."
    )


def as_int(number: Any, name: str) -> int:
    """Return an integer of Python or another library as one of Python."""
    if isinstance(number, UOp):
        raise ArgumentError(f"{name}={show((number,))[1:-2]} is symbolic. Pass a number.")
    try:
        found = int(number.__index__())
    except (AttributeError, TypeError) as error:
        raise ArgumentError(
            f"{name}={number!r:.60} ({type(number).__name__}) is no integer. Pass one."
        ) from error
    if found.bit_length() > _MOST_BITS:
        raise ArgumentError(f"{name} has {found.bit_length()} bits. Pass an integer of at most 64.")
    return found


def as_dim(dim: Any, what: str = "operation") -> Dim:
    """Return the size of an axis, or a bound on one."""
    if isinstance(dim, UOp) and dim.shape == () and (dim.dtype is dtypes.index or is_int(dim.dtype)):
        return dim.arg if dim.op is Ops.CONST and isinstance(dim.arg, int) else dim
    size = dim if type(dim) is int else _as_number_of_dim(dim, what)
    if size.bit_length() > _MOST_BITS:
        raise ShapeError(
            f"{what}: an axis cannot have a size of {size.bit_length()} bits. Pass an integer of at most 64."
        )
    return size


def _as_number_of_dim(dim: Any, what: str) -> int:
    if isinstance(dim, int):
        return int(dim)
    given: Any = dim
    try:
        return int(given.__index__())
    except (AttributeError, TypeError) as error:
        raise ShapeError(
            f"{what}: {dim!r:.200} ({type(dim).__name__}) is no size of an axis. Pass integers or bound "
            "Variables."
        ) from error


def check_sizes(shape: Shape) -> Shape:
    """Return `shape` after checking that its sizes are in 0..2**63-1."""
    if any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise ShapeError(f"{show(shape)} has a negative size. Sizes are 0 or more.")
    if any(isinstance(dim, int) and dim >= 1 << 63 for dim in shape):
        raise ShapeError(f"{show(shape)} has a size of 2**63 or more, which no memory has.")
    return shape


def fixed_shape(shape: Shape, what: str = "operation") -> tuple[int, ...]:
    """Return `shape` for `what`, which takes no symbolic sizes."""
    fixed: Any = shape
    if not is_static(shape):
        raise ShapeError(
            f"{what}: the shape {show(shape)} is symbolic. Take a slice of fixed size, or use the variable's "
            "value."
        )
    return fixed


def shape_today(shape: Shape, what: str = "operation") -> tuple[int, ...]:
    """Return `shape` with present sizes for `what`, which needs numbers."""
    if any(not isinstance(size, int) and size.vmin != size.vmax for size in shape):
        raise ShapeError(
            f"{what}: the shape {show(shape)} has a variable without a value. Bind one: n.bind(3)."
        )
    return tuple(map(size_today, shape))


def show(shape: Iterable[Dim]) -> str:
    """Return a shape as text; symbolic sizes as expressions of their variables."""
    return repr(shape_of_sizes(tuple(shape)))


def as_flag(value: object, name: str) -> bool:
    """Return the truth value given for the parameter `name`."""
    if value is True or value is False:
        return value
    is_of_numpy = getattr(getattr(value, "dtype", None), "kind", "") == "b" and not getattr(
        value, "shape", ()
    )
    if is_of_numpy or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise ArgumentError(
        f"{name}={value!r:.60} ({type(value).__name__}) is neither True nor False. Pass other things by name."
    )


def check_choice(value: object, choices: Sequence[str], name: str) -> None:
    """Raise ArgumentError unless `value` is one of `choices`."""
    if not is_one_of(value, choices):
        raise ArgumentError(f"{name}={value!r:.60} is none of {', '.join(map(repr, choices))}.")


def is_one_of(value: object, names: Iterable[str]) -> bool:
    """Say whether an argument is one of `names`, without comparing arrays.

    Example:
        >>> is_one_of("mean", ("mean", "sum")), is_one_of(0, ("mean", "sum"))
        (True, False)
    """
    return isinstance(value, str) and value in names


def one_axis(axis: int, ndim: int, name: str = "axis") -> int:
    """Return `axis` counted from the front; errors call it `name`."""
    try:
        # a flag in the place of an axis is another parameter of another library
        number = None if isinstance(axis, bool) else axis.__index__()
    except (AttributeError, TypeError) as error:
        raise AxisError(f"{name}={axis!r:.200} is no axis. Pass an integer.") from error
    if number is None:
        raise AxisError(f"{name}={axis!r} is no axis. Pass an integer, and flags by name.")
    if -ndim <= number < ndim:
        return number % ndim
    have = f"run from {-ndim} to {ndim - 1}" if ndim else "do not exist: it has shape ()"
    raise AxisError(f"{name} {number} is out of range. The axes of this tensor {have}.")


def some_axes(axes: Axes, ndim: int) -> tuple[int, ...]:
    """Return `axes` counted from the front, sorted; None means all."""
    if axes is None:
        return tuple(range(ndim))
    return tuple(sorted(axes_in_order(several(axes), ndim)))


def axes_in_order(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return `axes` counted from the front, each named once."""
    found = tuple([one_axis(axis, ndim) for axis in axes])
    if len(set(found)) != len(found):
        raise AxisError(f"axes {axes} name one axis twice. Name each axis once.")
    return found


def axes_along(axes: Axes, ndim: int) -> tuple[int, ...]:
    """Return `axes` as `some_axes`; a tensor without axes has axes 0 and -1.

    Example:
        >>> axes_along(-1, 2), axes_along(-1, 0)
        ((1,), ())
    """
    found = some_axes(axes, ndim or 1)
    return found if ndim else ()


def nonempty_axes(shape: Shape, axis: Axes) -> tuple[int, ...]:
    """Return `axes_along` after checking that the axes have elements."""
    axes = axes_along(axis, len(shape))
    if any(isinstance(shape[a], int) and shape[a] == 0 for a in axes):
        raise ShapeError(f"operation over axis {axis} of shape {show(shape)}: there are no elements.")
    return axes


def broadcast_shapes(*shapes: Shape, what: str = "broadcast") -> Shape:
    """Return the common shape that all of `shapes` expand to, aligned at the last axis."""
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        return shapes[0]
    ndim = max(map(len, shapes), default=0)
    out: list[Dim] = []
    for place in range(ndim):
        size: Dim = 1
        for shape in shapes:
            axis = place - ndim + len(shape)
            dim = shape[axis] if axis >= 0 else 1
            # a node equals nothing but itself
            if dim is size or dim == size or dim == 1:
                continue
            if size != 1:
                texts = " and ".join(show(s) for s in shapes)
                raise ShapeError(
                    f"{what}: shapes {texts} do not broadcast: axis {place - ndim} has sizes "
                    f"{show((size,))[1:-2]} and {show((dim,))[1:-2]}. Sizes must be equal, or one of them 1; "
                    "reshape or unsqueeze first."
                )
            size = dim
        out.append(size)
    return tuple(out)


def expanded(u: UOp, shape: Shape) -> UOp:
    """Return `u` broadcast to `shape`, which must fit."""
    own = u.shape
    return u if own == shape else u.reshape((1,) * (len(shape) - len(own)) + own).expand(shape)


def filled(u: UOp) -> UOp:
    """Pad the symbolic axes of `u` with zeros to their greatest sizes."""
    if is_static(u.shape):
        return u
    return u.pad([(0, 0) if isinstance(size, int) else (0, greatest(size) - size) for size in u.shape])


def cut_to(u: UOp, shape: Shape) -> UOp:
    """Return the first elements along each axis, cutting `u` to `shape`."""
    return u if u.shape == shape else u.shrink([(0, size) for size in shape])
