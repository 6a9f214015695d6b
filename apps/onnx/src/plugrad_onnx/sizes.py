"""Calculate with sizes of axes, which are numbers or depend on Variables."""

from typing import Any

import numpy as np

from plugrad import Ops, UOp
from plugrad.tensor.shapes import greater, lesser
from plugrad.uop import greatest, least
from plugrad_onnx.errors import OnnxError

Size = Any  # an int, or an index node with Variables


def is_symbolic(sizes: Any) -> bool:
    """Say whether any of several sizes depends on a Variable."""
    return any(isinstance(size, UOp) for size in np.ravel(np.asarray(sizes, object)))


def simplified(size: Size) -> Size:
    """Return a size in its shortest form; a number where its Variables cancel.

    Bound Variables are taken out first: their bounds are their values of this call, and the next has others.

    Example:
        >>> n = UOp.variable("n", 1, 8).bind(3)
        >>> simplified(n * 12 // 4) is simplified(n * 3), simplified(n - n + 2)
        (True, 2)
    """
    if not isinstance(size, UOp):
        return int(size)
    bindings = {u.src[0]: u for u in size.toposort() if u.op is Ops.BIND}
    out = size.substitute({bind: variable for variable, bind in bindings.items()}).simplify()
    return int(out.arg) if out.op is Ops.CONST else out.substitute(bindings)


def equal(a: Size, b: Size) -> bool:
    """Say whether two sizes are equal for all values of their Variables.

    Raises:
        OnnxError: they are for some values only.
    """
    difference = simplified(a - b)
    if isinstance(difference, int) or least(difference) > 0 or greatest(difference) < 0:
        return bool(isinstance(difference, int) and difference == 0)
    raise OnnxError(f"whether {shown(a)} equals {shown(b)} depends on the size")


def less(a: Size, b: Size) -> bool:
    """Say whether a size is less than another for all values of their Variables.

    Raises:
        OnnxError: it is for some values only.
    """
    difference = simplified(a - b)
    if greatest(difference) < 0 or least(difference) >= 0:
        return greatest(difference) < 0
    raise OnnxError(f"whether {shown(a)} is less than {shown(b)} depends on the size")


def larger(a: Size, b: Size) -> Size:
    """Return the larger of two sizes."""
    return simplified(greater(a, b))


def smaller(a: Size, b: Size) -> Size:
    """Return the smaller of two sizes."""
    return simplified(lesser(a, b))


def shown(size: Size) -> str:
    """Return a size as text."""
    if not isinstance(size, UOp):
        return str(size)
    return size.substitute({u: u.src[0] for u in size.toposort() if u.op is Ops.BIND}).render()


def as_number(size: Size) -> int:
    """Return a size that has to be a number.

    Raises:
        OnnxError: it depends on a Variable.
    """
    if isinstance(size, UOp):
        raise OnnxError(f"the size {shown(size)} has to be a number, and depends on Variables")
    return int(size)
