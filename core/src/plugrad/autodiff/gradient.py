"""The reverse walk: from gradients of roots to gradients of nodes below them."""

from collections.abc import Iterable, Iterator, Mapping

from plugrad.autodiff.vjp import VJP, sum_over
from plugrad.dtype import is_inexact
from plugrad.errors import GradientError
from plugrad.uop import Ops, UOp


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
    wanted = tuple(dict.fromkeys(targets))
    for node in (root, *wanted):
        if not is_inexact(node.dtype):
            role = "the root" if node is root else "the target"
            raise GradientError(
                f"{role} {describe(node)} holds no floats: only floats and complex numbers have gradients. "
                "Cast it to a float dtype first."
            )
    found = pull_back({root: seed}, wanted)
    for target in wanted:
        if target not in found:
            raise GradientError(
                f"{describe(root)} does not depend on the target {describe(target)}, or only through "
                "detach(), integers or comparisons. Leave this target out, or use it in the computation."
            )
    return found


def pull_back(seeds: Mapping[UOp, UOp], targets: Iterable[UOp]) -> dict[UOp, UOp]:
    """Return the gradient of the sum over `root * seed` for each target below.

    The sum is over all of `seeds`.

    Args:
        seeds: from float nodes to the gradient that flows into each: its dtype, and its shape or ().
        targets: float nodes.

    Raises:
        GradientError: an op on the way has no derivative.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> one = UOp.const(dtypes.float32, 1.0)
        >>> len(pull_back({x * 2.0: one, x + 1.0: one}, [x]))
        1
    """
    wanted = dict.fromkeys(targets)
    between = _between(tuple(seeds), wanted)
    gradients = {root: _fit_to_node(seed, root) for root, seed in seeds.items() if root in between}
    # of a FUNCTION, the gradient of each output
    collected: dict[UOp, dict[int, UOp]] = {}
    for node in reversed(between):
        gradient = gradients.get(node) if node in wanted else gradients.pop(node, None)
        if node.op is Ops.FUNCTION and node in collected:
            parts = _through_function(node, collected.pop(node))
        elif gradient is None:
            # the rule of a function above passes none
            continue
        elif node.op is Ops.OUTPUT:
            collected.setdefault(node.src[0], {})[node.arg] = gradient
            continue
        else:
            rules = zip(node.src, VJP[node.op], strict=False)
            parts = [(s, rule(gradient, node)) for s, rule in rules if rule and is_inexact(s.dtype)]
        for source, part in parts:
            if source in between:
                part = _fit_to_node(part, source)
                known = gradients.get(source)
                gradients[source] = part if known is None else known + part
    return {target: gradients[target] for target in wanted if target in gradients}


def receivers(node: UOp) -> tuple[UOp, ...] | None:
    """Return the sources of `node` that get a gradient, None without a derivative."""
    if node.op is Ops.FUNCTION:
        return tuple([s for s in node.src[node.arg.outputs :] if is_inexact(s.dtype)])
    if node.op is Ops.OUTPUT:
        return node.src
    rules = VJP.get(node.op)
    if rules is None:
        return None
    pairs = zip(node.src, rules, strict=False)
    return tuple([s for s, rule in pairs if rule is not None and is_inexact(s.dtype)])


def describe(node: UOp) -> str:
    """Return a short text to find `node` by: its op, shape, dtype, device."""
    number = f" {node.arg.ident}" if node.op.name == "BUFFER" else ""
    shape = str(tuple(node.shape)) if all(isinstance(d, int) for d in node.shape) else "of a symbolic shape"
    return f"{node.op.name}{number} {shape} {node.dtype.name} on {node.device or 'any device'}"


def _receivers(node: UOp) -> tuple[UOp, ...]:
    found = receivers(node)
    if found is None:
        raise GradientError(
            f"{node.op.name} has no derivative: {describe(node)}. "
            "Detach its sources, or realize them, if their gradient is not needed."
        )
    return found


def _through_function(node: UOp, known: Mapping[int, UOp]) -> Iterator[tuple[UOp, UOp]]:
    outputs: int = node.arg.outputs
    found = node.arg.rule(tuple([known.get(i) for i in range(outputs)]), node)
    for source, part in zip(node.src[outputs:], found, strict=True):
        if part is not None and is_inexact(source.dtype):
            yield source, part


def _between(roots: Iterable[UOp], targets: dict[UOp, None]) -> dict[UOp, None]:
    """Return the nodes on a way from a target to one of `roots`, targets first."""
    reaching: dict[UOp, None] = {}
    for node in UOp.sink(*roots).toposort():
        if node in targets or _passes(node, reaching):
            reaching[node] = None
    # what reaches a target may still hang below a root by an edge that passes nothing
    live = {root for root in roots if root in reaching}
    for node in reversed(reaching):
        if node in live:
            live.update(source for source in _receivers(node) if source in reaching)
    return {node: None for node in reaching if node in live}


def _passes(node: UOp, reaching: dict[UOp, None]) -> bool:
    has_gradient = is_inexact(node.dtype) or node.op is Ops.FUNCTION
    if not has_gradient or not any(source in reaching for source in node.src):
        return False
    return any(source in reaching for source in _receivers(node))


def _fit_to_node(gradient: UOp, node: UOp) -> UOp:
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
        return gradient.spread(need)
    assert any(isinstance(size, UOp) for size in (*have, *need)), f"gradient of {have} for {describe(node)}"
    # the same sizes in other words, such as n + (8 - n) for 8
    return gradient.reshape(need)
