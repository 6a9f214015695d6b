"""Forward mode: from tangents of inputs to tangents of outputs, by differentiating twice in reverse.

The gradient of `sum(output * u)` for an input is linear in `u`, so its own derivative by `u` does not
depend on `u`: it takes tangents of the inputs to the tangent of the output. Nothing of the first reverse walk
is left in it but that. So every op has one rule, and functions with a rule of their own need no second
one.

Source: Townsend 2017, "A new trick for calculating Jacobian vector products".
"""

from collections.abc import Mapping, Sequence

from plugrad.autodiff.gradient import describe, pull_back
from plugrad.autodiff.placeholder import placeholder
from plugrad.dtype import is_inexact
from plugrad.errors import GradientError
from plugrad.uop import Ops, UOp
from plugrad.uop.shape import output_of


def push_forward(outputs: Sequence[UOp], tangents: Mapping[UOp, UOp]) -> list[UOp | None]:
    """Return the tangent of each output; None for one that does not move.

    Raises:
        GradientError: an op on the way has no derivative, or a function's own rule is not linear in the
            gradients that it takes.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> push_forward([x * 2.0], {x: UOp.iota(3).cast(dtypes.float32)})[0].shape
        (3,)
    """
    # memory that nobody fills: it stands for any gradient of the output
    seeds = {
        y: placeholder(y.shape, y.dtype, y.device) for y in dict.fromkeys(outputs) if is_inexact(y.dtype)
    }
    back = pull_back(seeds, tangents)
    again: dict[UOp, UOp] = {}
    for x, gradient in back.items():
        again[gradient] = again[gradient] + tangents[x] if gradient in again else tangents[x]
    found = pull_back(again, seeds.values())
    # what waits for a gradient to arrive mentions it still; here none does
    nothing = {u: u.const_like(0.0).spread(u.shape) for u in seeds.values()}
    for tangent in found.values():
        _check_linear(tangent, nothing)
    out: list[UOp | None] = []
    for y in outputs:
        tangent = found.get(seeds[y]) if y in seeds else None
        out.append(None if tangent is None else tangent.substitute(nothing))
    return out


def _check_linear(tangent: UOp, seeds: Mapping[UOp, UOp]) -> None:
    seen = {tangent}
    stack = [tangent]
    while stack:
        u = stack.pop()
        if u in seeds:
            raise GradientError(
                f"the rule of a function is not linear in the gradient of {describe(u)}, so the function has "
                "no tangent. Use gradient() instead of jvp()."
            )
        for source in _read(u):
            if source not in seen:
                seen.add(source)
                stack.append(source)


def _read(u: UOp) -> tuple[UOp, ...]:
    """Return the sources whose values make that of `u`."""
    if u.op is Ops.OUTPUT:
        return (output_of(u),)
    return u.src[:1] if u.op in (Ops.LATER, Ops.DISPATCH) else u.src
