"""The reverse walk: from the gradient of a root to the gradients of chosen nodes below it."""

from collections.abc import Iterable, Iterator

from plugrad.autodiff.vjp import VJP, Rule, sum_over
from plugrad.dtype import is_float
from plugrad.errors import GradientError
from plugrad.uop.uop import UOp

__all__ = ["compute_gradient"]


def compute_gradient(root: UOp, seed: UOp, targets: Iterable[UOp]) -> dict[UOp, UOp]:
    """Return the gradient of `sum(root * seed)` for each of `targets`, as a graph.

    Only nodes that lie between `root` and a target are looked at. A target may lie below another one; the
    gradient of each counts all ways from it to the root.

    Args:
        root: a float node of any shape.
        seed: the gradient that flows into `root`: its dtype, and its shape or ().
        targets: float nodes that `root` depends on.

    Raises:
        GradientError: a target holds no floats or does not reach `root`, or an op on the way has no
            derivative.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> compute_gradient(x * 2.0, UOp.const(dtypes.float32, 1.0), [x])[x].shape
        (3,)
    """
    wanted = dict.fromkeys(targets)
    for node in (root, *wanted):
        if not is_float(node.dtype):
            role = "the root" if node is root else "the target"
            raise GradientError(
                f"{role} {describe(node)} holds no floats: only floats have gradients. "
                "Cast it to a float dtype first."
            )
    between = _between(root, wanted)
    for target in wanted:
        if target not in between:
            raise GradientError(
                f"{describe(root)} does not depend on the target {describe(target)}, or only through "
                "detach(), integers or comparisons. Leave this target out, or use it in the computation."
            )
    gradients = {root: _fit(seed, root)}
    for node in reversed(between):
        gradient = gradients[node] if node in wanted else gradients.pop(node)
        for source, rule in _edges(node):
            if source not in between:
                continue
            part = _fit(rule(gradient, node), source)
            known = gradients.get(source)
            gradients[source] = part if known is None else known + part
    return {target: gradients[target] for target in wanted}


def describe(node: UOp) -> str:
    """Return a short text that lets a reader find `node`: its op, shape, dtype and device."""
    number = f" {node.arg.ident}" if node.op.name == "BUFFER" else ""
    shape = str(tuple(node.shape)) if all(isinstance(d, int) for d in node.shape) else "of a symbolic shape"
    return f"{node.op.name}{number} {shape} {node.dtype.name} on {node.device or 'any device'}"


def _edges(node: UOp) -> Iterator[tuple[UOp, Rule]]:
    """Yield the sources that `node` passes a gradient to, with the rule."""
    rules = VJP.get(node.op)
    if rules is None:
        raise GradientError(
            f"{node.op.name} has no derivative: {describe(node)}. "
            "Detach its sources, or realize them, if their gradient is not needed."
        )
    for source, rule in zip(node.src, rules, strict=False):
        if rule is not None and is_float(source.dtype):
            yield source, rule


def _between(root: UOp, targets: dict[UOp, None]) -> dict[UOp, None]:
    """Return the nodes on a way from a target to `root`, targets first."""
    reaching: dict[UOp, None] = {}
    for node in root.toposort():
        if node in targets or _passes(node, reaching):
            reaching[node] = None
    # what reaches a target may still hang below `root` by an edge that passes nothing
    if root not in reaching:
        return {}
    live = {root}
    for node in reversed(reaching):
        if node in live:
            live.update(source for source, _ in _edges(node) if source in reaching)
    return {node: None for node in reaching if node in live}


def _passes(node: UOp, reaching: dict[UOp, None]) -> bool:
    if not is_float(node.dtype) or not any(source in reaching for source in node.src):
        return False
    return any(source in reaching for source, _ in _edges(node))


def _fit(gradient: UOp, node: UOp) -> UOp:
    """Return `gradient` in the shape of `node`.

    A source of shape () takes part in every element of an elementwise node, so it gets their sum. A gradient
    of shape () is the same for every element.
    """
    have, need = gradient.shape, node.shape
    if have == need:
        return gradient
    if need == ():
        return sum_over(gradient, tuple(range(len(have)))).reshape(())
    if have == ():
        return gradient.reshape((1,) * len(need)).expand(need)
    assert any(isinstance(size, UOp) for size in (*have, *need)), f"gradient of {have} for {describe(node)}"
    # the same sizes in other words, such as n + (8 - n) for 8
    return gradient.reshape(need)
