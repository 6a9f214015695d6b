"""The derivative of each op: the gradients of its sources from its own.

One table, `VJP`, with an entry for every op that a tensor graph may hold between a loss and a float or
complex source. An entry has one rule a source: a function of the node's gradient and the node, or None where
no gradient passes. Sources behind the last rule (dimensions, widths) get none. Rules build nodes of the same
language, so that gradients have gradients.

Conventions, where the derivative has several answers or none: MAX of equal values splits evenly, as does the
maximum over an axis among all its ties, or all that are NaN; TRUNC and IOTA are flat; SQRT at 0 is infinite;
POW(0, 0) is flat.

The gradient for a complex node x + iy is that for x plus i times that for y, as in PyTorch: a step against it
makes a real loss smaller. Through an analytic function it is multiplied by the conjugate of the derivative.
"""

import math
from collections.abc import Callable, Mapping

from plugrad.dtype import dtypes, sum_acc_dtype
from plugrad.uop import MOVEMENT, Ops, UOp
from plugrad.uop.shape import pairs_of

Rule = Callable[[UOp, UOp], UOp]


def sum_over(x: UOp, axes: tuple[int, ...]) -> UOp:
    """Sum `x` over `axes`, which keep size 1, accumulating narrow floats in float32."""
    if not axes:
        return x
    return x.cast(sum_acc_dtype(x.dtype)).reduce_axis(Ops.ADD, axes).cast(x.dtype)


# --- elementwise rules that do not fit a line ---


def _max_share(g: UOp, mine: UOp, other: UOp) -> UOp:
    # comparisons with NaN are false: both sources of a NaN maximum get the whole gradient
    return (mine < other).where(g.const_like(0.0), mine.eq(other).where(g * 0.5, g))


def _pow_base(g: UOp, n: UOp) -> UOp:
    """Return `g * y * x**(y-1)`, flat at 0**0.

    The exponent is changed before POW sees it, not the result after: a WHERE around an infinite value
    would turn second derivatives into NaN.
    """
    x, y = n.src
    exponent = (x.eq(0.0) & y.eq(0.0)).where(y.const_like(1.0), y)
    return g * (y * x.alu(Ops.POW, exponent - 1.0))


def _pow_exponent(g: UOp, n: UOp) -> UOp:
    """Return `g * x**y * log(x)`, flat at 0**y for y >= 0."""
    x, y = n.src
    base = (x.eq(0.0) & (y >= 0.0)).where(x.const_like(1.0), x)
    return g * (n * (base.log2() * math.log(2)))


# --- movement ---


def _expand(g: UOp, n: UOp) -> UOp:
    pairs = zip(n.src[0].shape, n.shape, strict=True)
    return sum_over(g, tuple(axis for axis, (small, large) in enumerate(pairs) if small != large))


def _pad(g: UOp, n: UOp) -> UOp:
    sizes = n.src[0].shape
    return g.shrink([(before, before + size) for size, (before, _) in zip(sizes, pairs_of(n), strict=True)])


def _shrink(g: UOp, n: UOp) -> UOp:
    sizes = n.src[0].shape
    return g.pad([(begin, size - end) for size, (begin, end) in zip(sizes, pairs_of(n), strict=True)])


# --- reductions ---


def _reduce_max(g: UOp, n: UOp) -> UOp:
    x = n.src[0]
    # where any is NaN, so is the maximum, and each of them equals it
    is_highest = x.eq(n.expand(x.shape)) | x.ne(x)
    wide = sum_acc_dtype(x.dtype)
    ties = is_highest.cast(wide).reduce_axis(Ops.ADD, n.arg[1])
    share = (g.cast(wide) / ties).cast(g.dtype)
    return is_highest.where(share.expand(x.shape), g.const_like(0.0))


def _reduce_mul(g: UOp, n: UOp) -> UOp:
    """Return `g` times the product of all other elements, for each element.

    Not `g * n / x`: that is NaN beside a zero. The n products of n-1 elements are one reduction over a square
    whose diagonal is 1; it takes n**2 multiplications and no memory, and its derivatives are right beside
    zeros too.
    """
    x, axes = n.src[0], n.arg[1]
    kept = tuple(axis for axis in range(len(x.shape)) if axis not in axes)
    order = kept + axes
    moved = x.permute(order)
    outer, inner = moved.shape[: len(kept)], moved.shape[len(kept) :]
    count = math.prod(inner)
    ones = (1,) * len(outer)
    square = (*outer, count, count)
    row = UOp.iota(count).reshape((*ones, count, 1)).expand(square)
    column = UOp.iota(count).reshape((*ones, 1, count)).expand(square)
    elements = moved.reshape((*outer, 1, count)).expand(square)
    others = row.eq(column).where(x.const_like(1.0), elements).reduce_axis(Ops.MUL, (len(square) - 1,))
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return g.expand(x.shape) * others.reshape((*outer, *inner)).permute(back).conj()


_REDUCE_RULES: Mapping[Ops, Rule] = {
    Ops.ADD: lambda g, n: g.expand(n.src[0].shape),
    Ops.MAX: _reduce_max,
    Ops.MUL: _reduce_mul,
}


def _copy(g: UOp, n: UOp) -> UOp:
    device = n.src[0].device
    return g if device is None else g.copy_to_device(device)


# --- memory ---


def _views(after: UOp) -> list[UOp] | None:
    """Return the movement ops between an AFTER's memory and its ASSIGN's target. None for others."""
    memory, effect = after.src[0], after.src[1]
    if effect.op is not Ops.ASSIGN:
        return None
    views: list[UOp] = []
    view = effect.src[0]
    while view is not memory and view.op in MOVEMENT:
        views.append(view)
        view = view.src[0]
    return views[::-1] if view is memory else None


def _after_memory(g: UOp, n: UOp) -> UOp:
    """Return the gradient of memory before a write, zero where that wrote."""
    views = _views(n)
    if views is None:
        return g
    shape = n.src[1].shape
    is_written = UOp.const(dtypes.bool, True).spread(shape)
    for view in reversed(views):
        (rule, *_) = VJP[view.op]
        assert rule is not None, f"{view.op.name} moves elements"
        is_written = rule(is_written, view)
    return is_written.where(g.const_like(0.0), g)


def _after_effect(g: UOp, n: UOp) -> UOp:
    """Return the gradient of what was written to a part of memory."""
    views = _views(n)
    if views is None:
        return n.src[1].const_like(0.0)
    for view in views:
        g = UOp(view.op, g.dtype, (g, *view.src[1:]), view.arg)
    return g


VJP: Mapping[Ops, tuple[Rule | None, ...]] = {
    # unary
    Ops.NEG: (lambda g, n: -g,),
    Ops.RECIP: (lambda g, n: -(g * n * n),),
    Ops.EXP: (lambda g, n: g * n,),
    Ops.EXP2: (lambda g, n: g * (n * math.log(2)),),
    Ops.LOG2: (lambda g, n: g / (n.src[0] * math.log(2)),),
    Ops.SIN: (lambda g, n: g * n.src[0].cos(),),
    Ops.COS: (lambda g, n: -(g * n.src[0].sin()),),
    Ops.SQRT: (lambda g, n: g / (n * 2.0),),
    Ops.TRUNC: (lambda g, n: g.const_like(0.0),),
    Ops.CAST: (lambda g, n: g.cast(n.src[0].dtype),),
    # the bits of a float have no derivative
    Ops.BITCAST: (None,),
    # binary
    Ops.ADD: (lambda g, n: g, lambda g, n: g),
    Ops.SUB: (lambda g, n: g, lambda g, n: -g),
    Ops.MUL: (lambda g, n: g * n.src[1].conj(), lambda g, n: g * n.src[0].conj()),
    Ops.FDIV: (lambda g, n: g / n.src[1], lambda g, n: -(g * (n / n.src[1]))),
    # the quotient is flat in both
    Ops.FMOD: (lambda g, n: g, lambda g, n: -(g * ((n.src[0] - n) / n.src[1]).detach())),
    Ops.MAX: (lambda g, n: _max_share(g, *n.src), lambda g, n: _max_share(g, *n.src[::-1])),
    Ops.POW: (_pow_base, _pow_exponent),
    # complex numbers
    Ops.COMPLEX: (lambda g, n: g.real(), lambda g, n: g.imag()),
    Ops.REAL: (lambda g, n: g.with_imag(g.const_like(0.0)),),
    Ops.IMAG: (lambda g, n: g.const_like(0.0).with_imag(g),),
    # ternary
    Ops.WHERE: (
        None,
        lambda g, n: n.src[0].where(g, g.const_like(0.0)),
        lambda g, n: n.src[0].where(g.const_like(0.0), g),
    ),
    Ops.MULACC: (lambda g, n: g * n.src[1], lambda g, n: g * n.src[0], lambda g, n: g),
    # movement
    Ops.RESHAPE: (lambda g, n: g.reshape(n.src[0].shape),),
    Ops.EXPAND: (_expand,),
    Ops.PERMUTE: (lambda g, n: g.permute(tuple(sorted(range(len(n.arg)), key=n.arg.__getitem__))),),
    Ops.PAD: (_pad,),
    Ops.SHRINK: (_shrink,),
    Ops.FLIP: (lambda g, n: g.flip(n.arg),),
    # the rest of a tensor graph
    Ops.REDUCE_AXIS: (lambda g, n: _REDUCE_RULES[n.arg[0]](g, n),),
    Ops.CONTIGUOUS: (lambda g, n: g,),
    Ops.COPY: (_copy,),
    # the target's memory holds the value afterwards, whatever it held before
    Ops.ASSIGN: (None, lambda g, n: g),
    Ops.AFTER: (_after_memory, _after_effect),
    Ops.DETACH: (None,),
    Ops.LATER: (lambda g, n: g,),
    Ops.DISPATCH: (lambda g, n: g,),
    # values that depend on no float
    Ops.CONST: (),
    Ops.BUFFER: (),
    Ops.IOTA: (),
}
