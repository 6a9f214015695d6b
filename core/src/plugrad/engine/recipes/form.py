"""Read the form of a graph: all but its buffers and offsets of slices.

One walk, without a node of a canonical graph: that is for graphs whose form is not known yet.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from plugrad.engine.slice_offsets import alignment, variable_offsets
from plugrad.engine.storage import is_view
from plugrad.schedule.versions import IN_PLACE
from plugrad.uop import Ops, UOp
from plugrad.uop.shape import pairs_of

# What takes more than kernels and copies: writes, values of variables.
_NOT_PLAIN = frozenset({*IN_PLACE, Ops.BIND, Ops.DEFINE_VAR})


# made at each realize: not frozen, which would double the time that takes
class Form:
    """A graph, and what it is computed from.

    Attributes:
        key: equal for graphs that differ in nothing else.
        nodes: the nodes, in the order in which the key tells of them.
        inputs: the BUFFERs among them.
        offsets: the BINDs of slices' offsets by axis, as in `variable_offsets`.
    """

    __slots__ = ("inputs", "key", "nodes", "offsets")

    def __init__(
        self,
        key: Hashable,
        nodes: Mapping[UOp, int],
        inputs: list[UOp],
        offsets: Mapping[UOp, Mapping[int, UOp]],
    ) -> None:
        self.key = key
        self.nodes = nodes
        self.inputs = inputs
        self.offsets = offsets

    @property
    def values(self) -> dict[str, int]:
        """The offsets by the names of their variables."""
        binds = [bind for by_axis in self.offsets.values() for bind in by_axis.values()]
        return {bind.src[0].arg[0]: bind.src[1].arg for bind in binds}


def form_of(roots: Sequence[UOp], scope: tuple[Hashable, ...] = ()) -> Form | None:
    """Return the form of the graph of `roots`.

    None: it takes more than kernels and copies of memory. All that it reads is memory, or computed from
    memory. `scope` is made part of the key.
    """
    numbers: dict[UOp, int] = {}
    key: list[Any] = [scope, len(roots)]
    inputs: list[UOp] = []
    slices: list[UOp] = []
    has_detached_memory = False
    for root in roots:
        if not root.src or root.device is None:
            return None
    stack = [*roots]
    while stack:
        u = stack.pop()
        if (number := numbers.get(u)) is not None:
            key.append(number)
            continue
        op, src = u.op, u.src
        if src:
            if op in _NOT_PLAIN or u.place is not None:
                return None
            if op is Ops.COPY and src[0].op is not Ops.BUFFER:
                return None
            if op is Ops.OUTPUT:
                # rules of gradients are no part of what is computed
                place: int = u.arg
                src = (src[0].src[place],)
            if (op is Ops.DETACH or op is Ops.OUTPUT) and is_view(src[0]):
                has_detached_memory = True
            numbers[u] = len(numbers)
            if op is Ops.SHRINK:
                slices.append(u)
                stack.append(src[0])
                key += (op, u.dtype)
                continue
            arg = u.arg
            # -0.0 == 0.0, and True == 1: as in `UOp`
            if arg is not None and (type(arg) is float or type(arg) is bool):
                arg = repr(arg)
            key += (op, u.dtype, arg, len(src))
            stack.extend(src)
        elif op is Ops.BUFFER:
            memory = u.place
            if memory is None or memory.known_name() is not u:
                return None
            numbers[u] = len(numbers)
            inputs.append(u)
            key += (op, u.dtype, u.arg.device, u.arg.shape)
        elif op in _NOT_PLAIN:
            return None
        else:
            numbers[u] = len(numbers)
            key.append(u)
    if not slices:
        return Form((*key,), numbers, inputs, {})
    if has_detached_memory:
        # without what gradients alone see, there are more slices of memory
        return None
    offsets = variable_offsets(numbers)
    for u in slices:
        sizes: list[Any] = [*u.src[1:]]
        for axis, bind in offsets.get(u, {}).items():
            begin, end = pairs_of(u)[axis]
            sizes[2 * axis : 2 * axis + 2] = bind.src[0], (alignment(u, axis), end - begin)
        if any([isinstance(size, UOp) and size.src for size in sizes]):
            return None
        key += sizes
    return Form((*key,), numbers, inputs, offsets)
