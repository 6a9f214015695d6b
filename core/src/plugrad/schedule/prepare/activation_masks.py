"""Let gradients of activations ask the result where they asked the argument.

`relu` is WHERE(x <= 0, 0, x), and its gradient chooses by `x <= 0` as well. Where sums make x, it would get
memory for these two users, and the activation be a kernel behind that of the sums. The result y is above 0
where x is: with `y <= 0` in the gradient the activation ends the kernel of the sums, and x is nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from plugrad.uop import ELEMENTWISE, Ops, UOp

# What a value goes through, besides elementwise operations, on its way from the sums that make it.
_OTHER_SHAPE = frozenset({Ops.RESHAPE, Ops.PERMUTE})


def read_masks_of_results(sink: UOp) -> UOp:
    """Replace conditions on the argument of an activation by the same on its result.

    before: WHERE(x <= 0, 0, g) beside y = WHERE(x <= 0, 0, x) of x = REDUCE_AXIS(...)
    after:  WHERE(y <= 0, 0, g)

    Arguments that anything else reads stay, since they get memory in any case; so do those that no sums make.
    """
    nodes = sink.toposort()
    activations = {u: found for u in nodes if u.op is Ops.WHERE and (found := _limits(u) or _leak(u))}
    if not activations:
        return sink
    users: defaultdict[UOp, set[UOp]] = defaultdict(set)
    for u in nodes:
        for source in u.src:
            users[source].add(u)
    results: dict[UOp, tuple[UOp, UOp]] = {}
    for y, (x, masks) in activations.items():
        inside = {u for u in y.toposort(lambda u, x=x: u is not x) if u is not x}
        outside = [mask for mask in masks if not users[mask] <= inside]
        if outside and users[x] <= inside and _is_of_sums(x, users):
            results.update(dict.fromkeys(outside, (x, y)))
    return _with_masks(nodes, results)[sink] if results else sink


def _limits(y: UOp) -> tuple[UOp, list[UOp]] | None:
    """Return the x that is kept above or below numbers, and the conditions for it."""
    x = y
    steps: list[UOp] = []
    while x.op is Ops.WHERE and x.src[0].op is Ops.OR and x.src[1].op is Ops.CONST:
        steps.append(x)
        x = x.src[2]
    bounds: dict[bool, UOp] = {}
    for step in steps:
        mask, limit, _ = step.src
        less, equal = mask.src
        asks_x = less.op is Ops.CMPLT and equal.op is Ops.CMPEQ and {*less.src} == {*equal.src} == {x, limit}
        if not asks_x:
            return None
        bounds[less.src[0] is x] = limit
    # two limits of one kind, or in the wrong order, hide values from each other
    if len(bounds) < len(steps) or (len(bounds) == 2 and not bounds[True].arg < bounds[False].arg):
        return None
    return (x, [step.src[0] for step in steps]) if steps else None


def _leak(y: UOp) -> tuple[UOp, list[UOp]] | None:
    """Return x and the condition of WHERE(0 < x, x, x * slope)."""
    mask, x, other = y.src
    if mask.op is not Ops.CMPLT or mask.src[1] is not x or mask.src[0].arg != 0:
        return None
    if other.op is not Ops.MUL or other.src[0] is not x or other.src[1].op is not Ops.CONST:
        return None
    return (x, [mask]) if other.src[1].arg >= 0 else None


def _is_of_sums(x: UOp, users: Mapping[UOp, set[UOp]]) -> bool:
    """Say whether elementwise operations that nothing else reads lead from a reduction to x."""
    waiting = [x]
    while waiting:
        u = waiting.pop()
        if u.op is Ops.REDUCE_AXIS:
            return True
        if u.op in _OTHER_SHAPE or u.op in ELEMENTWISE:
            sources = u.src[:1] if u.op in _OTHER_SHAPE else u.src
            waiting += [source for source in sources if len(users[source]) == 1]
    return False


def _with_masks(nodes: Iterable[UOp], results: Mapping[UOp, tuple[UOp, UOp]]) -> Mapping[UOp, UOp]:
    """Return all nodes with the conditions exchanged, except in the activations.

    Args:
        nodes: sources first.
        results: from a condition to the argument and the result of its activation.
    """
    arguments = {y: x for x, y in results.values()}
    new: dict[UOp, UOp] = {}
    for u in nodes:
        if u in results:
            x, y = results[u]
            new[u] = u.substitute({x: y.substitute({x: new[x]})})
        elif u in arguments:
            new[u] = u.substitute({arguments[u]: new[arguments[u]]})
        else:
            src = tuple([new[source] for source in u.src])
            new[u] = u if src == u.src else u.replace(src=src)
    return new
