"""Batches: from a graph for one example to a graph along a new first axis.

Each op has one rule. What does not depend on the examples stays as it is and is computed once. Functions with
a gradient rule of their own keep it: the rule sees one example, and what it gives is put in a batch too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from plugrad._frozen import frozen
from plugrad.autodiff.function import inputs_of, outputs_of
from plugrad.autodiff.placeholder import placeholder
from plugrad.autodiff.vjp import sum_over
from plugrad.errors import TransformError
from plugrad.uop import ELEMENTWISE, Ops, UOp
from plugrad.uop.ops import DispatchRule, FunctionArg
from plugrad.uop.shape import pairs_of

Size = int | UOp


class Batch:
    """Graphs of one example, put in a batch.

    Args:
        size: the number of examples.
        values: from nodes of the graph for one example to their values for all, (size, *shape).
        fixed: from other nodes to what they become, and whether that is a value for all.

    Example:
        >>> one, many = (UOp.new_buffer("PYTHON", shape, dtypes.float32) for shape in ((3,), (2, 3)))
        >>> Batch(2, {one: many}).apply([one * 2.0])[0].shape
        (2, 3)
    """

    def __init__(
        self, size: Size, values: Mapping[UOp, UOp], fixed: Mapping[UOp, tuple[UOp, bool]] | None = None
    ) -> None:
        self.size = size
        #: what was given: for a node, what it becomes, and whether that has the new axis
        self.given: dict[UOp, tuple[UOp, bool]] = {u: (v, True) for u, v in values.items()}
        self.given.update(fixed or {})
        self._done = dict(self.given)

    def apply(self, roots: Sequence[UOp]) -> list[UOp]:
        """Return `roots` for all examples, (size, *shape), repeating those without examples.

        Raises:
            TransformError: memory is assigned what depends on the example.
        """
        self._visit(roots)
        return [self._expand_over_batch(root) for root in roots]

    def depends(self, root: UOp) -> bool:
        """Say whether `root` may differ from one example to another."""
        self._visit((root,))
        return self._done[root][1]

    def _visit(self, roots: Iterable[UOp]) -> None:
        for u in UOp.sink(*roots).toposort(lambda u: u not in self._done):
            if u.op is Ops.SINK:
                continue
            if all(self._done[s][0] is s for s in u.src):
                self._done[u] = u, False
            elif u.op is Ops.LATER:
                now, is_batched = self._done[u.src[0]]
                self._done[u] = now.later(*[self._done[s][0] for s in u.src[1:]]), is_batched
            elif any(self._done[s][1] for s in u.src):
                self._done[u] = self._batched(u), True
            else:
                self._done[u] = u.replace(src=tuple([self._done[s][0] for s in u.src])), False

    def _batched(self, u: UOp) -> UOp:
        if u.op in ELEMENTWISE:
            return u.replace(src=tuple([self._operand(s, u.shape) for s in u.src]))
        if u.op is Ops.FUNCTION:
            return self._function(u)
        if u.op is Ops.OUTPUT:
            return u.replace(src=(self._done[u.src[0]][0],))
        if u.op is Ops.DISPATCH:
            return self._dispatch(u)
        rule = _RULES.get(u.op)
        if rule is None:
            raise TransformError(
                f"vmap: {u.op.name} of shape {u.shape} depends on the example, and memory cannot hold all of "
                "them. Do not assign inside of the function: use where(), or make a new tensor."
            )
        return rule(u, self._done[u.src[0]][0], self.size)

    def _operand(self, s: UOp, shape: tuple[Size, ...]) -> UOp:
        """Return an operand of a batched node of `shape`; scalars stay, unless batched themselves."""
        now, is_batched = self._done[s]
        if s.shape == shape:
            return self._expand_over_batch(s) if shape else now
        if not is_batched:
            return now
        return now.reshape((self.size, *(1,) * len(shape))).expand((self.size, *shape))

    def _expand_over_batch(self, u: UOp) -> UOp:
        now, is_batched = self._done[u]
        if is_batched:
            return now
        return now.reshape((1, *now.shape)).expand((self.size, *u.shape))

    def _dispatch(self, u: UOp) -> UOp:
        inputs = [self._done[s] for s in u.src[1:]]
        rule = _BatchedDispatch(u.arg.rule, tuple([is_batched for _, is_batched in inputs]))
        return self._expand_over_batch(u.src[0]).dispatch(rule, *[s for s, _ in inputs])

    def _function(self, u: UOp) -> UOp:
        count = u.arg.outputs
        outputs = tuple([self._expand_over_batch(s) for s in outputs_of(u)])
        inputs = [self._done[s] for s in inputs_of(u)]
        rule = _BatchedRule(self, u, tuple([is_batched for _, is_batched in inputs]))
        return UOp(Ops.FUNCTION, u.dtype, (*outputs, *[s for s, _ in inputs]), FunctionArg(count, rule))


@frozen
class _BatchedRule:
    """The rule of a FUNCTION in a batch: the rule of `one` example, for all."""

    batch: Batch
    one: UOp
    are_batched: tuple[bool, ...]

    def __call__(self, gradients: tuple[UOp | None, ...], function: UOp) -> Sequence[UOp | None]:
        of_one = [None if g is None else placeholder(g.shape[1:], g.dtype, g.device) for g in gradients]
        found = self.one.arg.rule(tuple(of_one), self.one)
        flags = (*[True] * function.arg.outputs, *self.are_batched)
        # the function may have been rebuilt since: its present inputs are the ones to differentiate by
        fixed = dict(self.batch.given)
        fixed.update({u: (v, flag) for u, v, flag in zip(self.one.src, function.src, flags, strict=True)})
        fixed[self.one] = function, True
        pairs = zip(of_one, gradients, strict=True)
        values = {u: g for u, g in pairs if u is not None and g is not None}
        batch = Batch(self.batch.size, values, fixed)
        shapes = [s.shape for s in inputs_of(self.one)]
        return [
            None if g is None else _for_input(batch, g, shape, flag)
            for g, shape, flag in zip(found, shapes, self.are_batched, strict=True)
        ]


@frozen
class _BatchedDispatch:
    """The rule of a DISPATCH in a batch: `rule` for one example, for all."""

    rule: DispatchRule
    are_batched: tuple[bool, ...]

    def __call__(self, device: str, runs_loops: bool, inputs: tuple[UOp, ...]) -> UOp | None:
        values: dict[UOp, UOp] = {}
        of_one: list[UOp] = []
        for u, is_batched in zip(inputs, self.are_batched, strict=True):
            of_one.append(placeholder(u.shape[1:], u.dtype, u.device) if is_batched else u)
            if is_batched:
                values[of_one[-1]] = u
        found = self.rule(device, runs_loops, tuple(of_one))
        if found is None or not values:
            return None
        size = next(iter(values.values())).shape[0]
        return Batch(size, values).apply((found,))[0]


def _for_input(batch: Batch, gradient: UOp, shape: tuple[Size, ...], is_batched: bool) -> UOp:
    (whole,) = batch.apply((gradient.spread(shape),))
    return whole if is_batched else sum_over(whole, (0,)).reshape(shape)


_Rule = Callable[[UOp, UOp, Size], UOp]

_RULES: Mapping[Ops, _Rule] = {
    Ops.RESHAPE: lambda u, x, n: x.reshape((n, *u.shape)),
    Ops.EXPAND: lambda u, x, n: x.expand((n, *u.shape)),
    Ops.PERMUTE: lambda u, x, n: x.permute((0, *[axis + 1 for axis in u.arg])),
    Ops.PAD: lambda u, x, n: x.pad(((0, 0), *pairs_of(u))),
    Ops.SHRINK: lambda u, x, n: x.shrink(((0, n), *pairs_of(u))),
    Ops.FLIP: lambda u, x, n: x.flip(tuple([axis + 1 for axis in u.arg])),
    Ops.REDUCE_AXIS: lambda u, x, n: x.reduce_axis(u.arg[0], tuple([axis + 1 for axis in u.arg[1]])),
    Ops.CONTIGUOUS: lambda u, x, n: x.contiguous(),
    Ops.FACTOR: lambda u, x, n: x.factor(u.arg.kind),
    Ops.FOURIER: lambda u, x, n: x.fourier(
        u.arg, *[roots.reshape((1, *roots.shape)).expand(x.shape) for roots in u.src[1:]]
    ),
    Ops.DETACH: lambda u, x, n: x.detach(),
    Ops.COPY: lambda u, x, n: x.copy_to_device(u.arg),
}
