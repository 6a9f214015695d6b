"""The spec of a stage, and the error for a node against it."""

from collections.abc import Callable, Mapping

from plugrad._frozen import frozen
from plugrad.errors import ShapeError, VerifyError
from plugrad.uop.node.pretty import pretty
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

Check = Callable[[UOp], bool]


@frozen
class Spec:
    """A stage's name, and a condition for each op that it allows."""

    name: str
    checks: Mapping[Ops, Check]


def verify(root: UOp, spec: Spec, passed: set[UOp] | None = None) -> None:
    """Check every node of `root` against `spec`.

    Args:
        root: the graph.
        spec: what must hold of its nodes.
        passed: nodes that have passed with all below them: they are not looked at again, and those that pass
            now are added.
    """
    nodes = root.toposort((lambda u: u not in passed) if passed else None)
    for node in nodes:
        verify_node(node, spec)
    if passed is not None:
        passed.update(nodes)


def verify_node(node: UOp, spec: Spec) -> None:
    """Check one node against `spec`."""
    check = spec.checks.get(node.op)
    try:
        if check is not None and check(node):
            return
        why = "this stage has no such op" if check is None else "its dtype, sources or arg are wrong"
    except (ShapeError, TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        # a check that stumbles over a malformed arg has found what it looks for
        why = str(error)
    sources = "\n".join(f"  {s.op.name} {s.dtype} arg={s.arg!r}" for s in node.src)
    raise VerifyError(
        f"{spec.name} forbids {node.op.name} {node.dtype} arg={node.arg!r}: {why}. Its sources:\n"
        f"{sources or '  none'}\nThe node: {pretty(node, most=30)}"
    )
