"""Values that are computed once more for their gradients, rather than kept until then.

The copy for the gradient reads the same inputs through LATER nodes: other nodes, so that none of it is taken
for what the first computation left, and nodes that wait for the gradient to arrive, so that none of it is
done while the rest of the forward pass still needs the memory. The copy is the same graph otherwise, with
the same random bits.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from plugrad.autodiff.function import inputs_of, outputs_of, with_rule
from plugrad.autodiff.gradient import describe, pull_back
from plugrad.errors import TransformError
from plugrad.uop import Ops, UOp

# What a computation reads from memory, and what else is not done twice.
_READ = frozenset({Ops.BUFFER, Ops.COPY, Ops.ASSIGN, Ops.AFTER, Ops.KERNEL})
_WRITES = frozenset({Ops.ASSIGN, Ops.AFTER, Ops.KERNEL})


def recomputed(outputs: Sequence[UOp], known: AbstractSet[UOp]) -> tuple[UOp, ...]:
    """Return `outputs` as nodes whose gradients compute again all that lies between them and `known`.

    Args:
        outputs: values of any dtype and shape.
        known: nodes that are kept for the gradients.

    Raises:
        TransformError: memory is assigned to on the way.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> (y,) = recomputed([x.exp2().sin()], {x})
        >>> y.shape
        (3,)
    """
    inner = UOp.sink(*outputs).toposort(lambda u: u not in known)
    inputs = dict.fromkeys(s for u in inner for s in u.src if s in known)
    inputs.update((u, None) for u in outputs if u in known)
    changes = _depending(inner, inputs)
    for u in inner:
        if u.op in _WRITES and u in changes:
            raise TransformError(
                f"what is computed again may not assign: {describe(u)}. Use where() or a new tensor, or "
                "assign outside of the function."
            )
    return with_rule(outputs, tuple(inputs), _recompute)


def repeated(values: Sequence[UOp], inputs: Sequence[UOp], before: Sequence[UOp]) -> tuple[UOp, ...]:
    """Return `values` once more, computed when those `before` are in memory, from `inputs` read then.

    Returns:
        The values again, and behind them the nodes that stand for the inputs in what computes them.

    Example:
        >>> x = UOp.new_buffer("PYTHON", (3,), dtypes.float32)
        >>> again, later = repeated([x * 2.0], [x], [x.sin().contiguous()])
        >>> again is later * 2.0
        True
    """
    later = {u: u.later(*before) for u in (*inputs, *_leaves(values, inputs))}
    return (*UOp.sink(*values).substitute(later).src, *[later[u] for u in inputs])


def _recompute(gradients: tuple[UOp | None, ...], function: UOp) -> Sequence[UOp | None]:
    outputs, inputs = outputs_of(function), inputs_of(function)
    arrived = [None if g is None else g.contiguous() for g in gradients]
    before = tuple(dict.fromkeys(g for g in arrived if g is not None))
    nodes = repeated(outputs, inputs, before)
    again, later = nodes[: len(outputs)], nodes[len(outputs) :]
    seeds: dict[UOp, UOp] = {}
    for output, gradient in zip(again, arrived, strict=True):
        if gradient is not None:
            seeds[output] = seeds[output] + gradient if output in seeds else gradient
    found = pull_back(seeds, later)
    return [found.get(u) for u in later]


def _leaves(outputs: Sequence[UOp], inputs: Iterable[UOp]) -> list[UOp]:
    """Return the memory that the outputs read beside their inputs, random state included."""
    known = set(inputs)
    inner = UOp.sink(*outputs).toposort(lambda u: u not in known)
    changes = _depending(inner, known)

    def is_leaf(u: UOp) -> bool:
        return u in known or (u.op in _READ and u not in changes)

    within = UOp.sink(*outputs).toposort(lambda u: not is_leaf(u))
    found = dict.fromkeys(s for u in within for s in u.src if is_leaf(s) and s not in known)
    return [*found, *(u for u in outputs if is_leaf(u) and u not in known and u not in found)]


def _depending(nodes: Iterable[UOp], inputs: Iterable[UOp]) -> set[UOp]:
    """Return the nodes that depend on `inputs`, and these; `nodes` come sources first."""
    out = set(inputs)
    for u in nodes:
        if any(s in out for s in u.src):
            out.add(u)
    return out
