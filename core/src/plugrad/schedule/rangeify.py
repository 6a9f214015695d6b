"""Give every value its loops, and decide which values get memory.

The walk goes from results to inputs. A value that gets memory starts a kernel with fresh ranges, one for
each axis of its shape; each use of a value below it is an `Access`: index expressions in those ranges and
the condition under which the element exists. Movement ops only change the access; a reduction opens ranges
of its own. When a value is reached, all of its uses are known, and the cost model decides: compute it
inside its users, or store it.

A second walk, from inputs to results, builds the expression of each value at each access.
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from plugrad.dtype import dtypes
from plugrad.errors import DeviceError, ScheduleError
from plugrad.schedule import fusion
from plugrad.schedule.fused_kernel import Access, FusedKernel, Use, loops_in, steps_of
from plugrad.schedule.fusion import COST_CAP, SMALL_VALUE, Boundary, CostModel
from plugrad.schedule.movement import (
    ALWAYS,
    Indices,
    below_order,
    flatten,
    lies_along,
    loop_over,
    max_shape,
    numel_of,
    padded,
    source_indices,
)
from plugrad.schedule.selection import Selection, selection_of
from plugrad.schedule.versions import IN_PLACE, Descent, device_of
from plugrad.uop import ELEMENTWISE, MOVEMENT, AxisType, Ops, UOp, simplify
from plugrad.uop.op_cost import op_cost
from plugrad.uop.range_elimination import eliminate_ranges

# Values that need no kernel: they exist, or any kernel can write them down.
_LEAVES = frozenset({Ops.BUFFER, Ops.AFTER, Ops.CONST, Ops.DEFINE_VAR, Ops.BIND, Ops.IOTA})
_NUMBERS = _LEAVES - {Ops.BUFFER, Ops.AFTER}
_COMPUTED = MOVEMENT | ELEMENTWISE
_STORED = frozenset(fusion.REASONS)


@dataclass
class Rangeify:
    """One run of the pass over the graph below `sink`."""

    sink: UOp
    cost: Mapping[str, CostModel]
    default_device: str
    stored: set[UOp]
    """Nodes that get memory whatever the cost model says; grows when a hazard asks for it."""
    reasons: Mapping[UOp, Boundary] = field(default_factory=dict[UOp, Boundary])
    """Why nodes of `stored` are there, where it is not the user who asked."""
    kernels: dict[UOp, FusedKernel] = field(default_factory=dict[UOp, FusedKernel])
    boundaries: dict[UOp, Boundary] = field(default_factory=dict[UOp, Boundary])
    """Why each of `kernels` is one."""
    uses: dict[UOp, dict[Access, Use]] = field(default_factory=dict[UOp, dict[Access, Use]])
    sources: dict[tuple[UOp, Access], tuple[tuple[UOp, Access], ...]] = field(
        default_factory=dict[tuple[UOp, Access], tuple[tuple[UOp, Access], ...]]
    )
    reduce_ranges: dict[tuple[UOp, Access], Indices] = field(
        default_factory=dict[tuple[UOp, Access], Indices]
    )
    exprs: dict[tuple[UOp, Access], UOp] = field(default_factory=dict[tuple[UOp, Access], UOp])
    operations: dict[UOp, int] = field(default_factory=dict[UOp, int])
    selections: dict[UOp, Selection] = field(default_factory=dict[UOp, Selection])
    """What reductions select by comparisons."""
    memories: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    """The PARAM that stands for each node with memory; its slot is the node's place in this dict."""
    _around: set[UOp] = field(default_factory=set[UOp])
    storage_of: Descent = field(init=False)
    """The node that owns the memory of another, below assignments and views, once kernels are known."""
    _below_versions: Descent = field(init=False)
    _versions: list[UOp] = field(default_factory=list[UOp])
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        # of the kernels alone: a run that holds what holds the run waits for the cycle collector, with all it
        # has made
        self.storage_of = Descent(partial(_has_no_memory, self.kernels))
        self._below_versions = Descent(lambda u: u.op in IN_PLACE)

    def run(self) -> list[FusedKernel]:
        """Return the kernels, sources first."""
        order = list(self.sink.toposort(lambda u: u.dtype is not dtypes.index or u.op is Ops.SINK))
        self._estimate(order)
        for u in reversed(order):
            if u.op is not Ops.SINK:
                self._decide(u)
        for u in order:
            self._build_all(u)
        return [self.kernels[u] for u in order if u in self.kernels]

    # --- first walk: from results to inputs ---

    def _estimate(self, order: Iterable[UOp]) -> None:
        """Estimate the operations that inlining each value would repeat, loads counted as one each."""
        for u in order:
            if u.op is Ops.REDUCE_AXIS and (selection := selection_of(u)) is not None:
                self.selections[u] = selection
                self._around |= selection.around
            elif u.op is Ops.REDUCE_AXIS:
                model = self.cost.get(u.device or self.default_device)
                self._around.update(model.narrow_factors(u) if model is not None else ())
        for u in order:
            if u.op in _LEAVES:
                self.operations[u] = u.op is Ops.BUFFER
            elif u in self.stored or u.op in _STORED or (u.op is Ops.REDUCE_AXIS and self._looped_axes(u)):
                self.operations[u] = 1
            else:
                below = sum(self.operations.get(s, 0) for s in u.src)
                self.operations[u] = min(below + op_cost(u.op), COST_CAP)

    def _decide(self, u: UOp) -> None:
        uses = self.uses.get(u, {})
        if u in self.stored or u.op in _STORED:
            boundary = self.reasons.get(u) or fusion.REASONS.get(u.op, fusion.REQUESTED)
        elif not uses or u.op in _LEAVES:
            return
        else:
            boundary = self._boundary(u, uses)
        if boundary is None:
            for access, use in uses.items():
                self._inline(u, access, use)
        else:
            self.boundaries[u] = boundary
            self._start_kernel(u, uses)

    def _boundary(self, u: UOp, uses: dict[Access, Use]) -> Boundary | None:
        """Return the reason to store `u`, None where its users compute it."""
        kernels = (k for use in uses.values() for k in (use.kernel, *use.others))
        if u.device is None and len({kernel.device for kernel in kernels}) > 1:
            # numbers, needed on several devices: memory would be on one of them
            return None
        if u in self._around:
            return None
        if u.op is Ops.PAD:
            return self._pad_boundary(u, uses)
        if u.op is Ops.REDUCE_AXIS and self._looped_axes(u):
            return self._reduce_boundary(u, uses)
        is_computed = u.op in ELEMENTWISE or u.op is Ops.REDUCE_AXIS
        return self._elementwise_boundary(u, uses) if is_computed else None

    def _elementwise_boundary(self, u: UOp, uses: dict[Access, Use]) -> Boundary | None:
        model = self._model(uses)
        if u.op is Ops.CAST and model.inline_cast(u.src[0].dtype, u.dtype):
            return None
        if self.operations[u] >= SMALL_VALUE:
            operations = max(use.kernel.operations for use in uses.values())
            if (full := model.full_boundary(operations)) is not None:
                return full
        size, dear = (numel_of(u), u.dtype.itemsize), self.operations[u]
        if dear <= 1 and (not model.runs_loops or u.device is None):
            return None  # to load it would be an operation too; loops over vectors convert what they load
        evaluations = {
            access: self._evaluations(u, access, use) * (1 if use.kernel.has_lanes else model.lanes(size[1]))
            for access, use in uses.items()
        }
        once = size[0] * dear
        if model.elementwise_boundary(sum(evaluations.values()) * dear - once, *size) is None:
            return None
        beside = {access: n for access in uses if (n := self._operations_beside(u, access)) is not None}
        operations = sum(count * beside.get(access, dear) for access, count in evaluations.items())
        return model.elementwise_boundary(operations - once, *size, len(beside))

    def _operations_beside(self, u: UOp, access: Access) -> int | None:
        """Return operations that make `u` of values that its reader loads anyway, or None."""

        def is_read(s: UOp) -> bool:
            return s.shape == () or access in self.uses.get(s, ())

        inner = u.toposort(lambda n: n is u or (n.op in ELEMENTWISE and not is_read(n)))
        if not all(is_read(s) for n in inner for s in n.src if s not in inner):
            return None
        return sum(op_cost(n.op) for n in inner)

    def _evaluations(self, u: UOp, access: Access, use: Use) -> int:
        """Return the number of evaluations of a value, after hoisting out of loops."""
        needed = frozenset[UOp]().union(access.gate.ranges, *(i.ranges for i in access.idxs))
        ranges = loops_in(use.kernel.ranges)
        if not needed.issubset(ranges) or not ranges or ranges[-1] in needed:
            return use.evaluations
        # asked last: it walks through all that the value is made of
        if not self.cost[use.kernel.device].runs_loops and not self._is_of_row(u, access, use):
            return use.evaluations
        while ranges and ranges[-1] not in needed:
            ranges.pop()
        return min(use.evaluations, math.prod(steps_of(r) for r in ranges))

    def _pad_boundary(self, u: UOp, uses: dict[Access, Use]) -> Boundary | None:
        if u.base.op is Ops.CONST:
            # nothing is loaded: whether an element is padding is asked of its indices
            return None
        evaluations = sum(use.evaluations for use in uses.values() if use.in_reduce)
        return self._model(uses).pad_boundary(evaluations, numel_of(u))

    def _reduce_boundary(self, u: UOp, uses: dict[Access, Use]) -> Boundary | None:
        access, use = next(iter(uses.items()))
        if use.kernel.root.op in fusion.WHOLE:
            return fusion.REDUCED_APART
        if len(uses) > 1 or use.others:
            return fusion.REDUCED_FOR_SEVERAL
        own = [i for i in access.idxs if i.op is not Ops.CONST]
        if access.gate is not ALWAYS or len(set(own)) != len(own):
            return fusion.REDUCED_FOR_GATE
        if use.kernel.has_contraction and self._is_contraction(u, use):
            return fusion.CONTRACTED
        kernel_ranges = loops_in(use.kernel.ranges)
        if not use.in_reduce and set(own) == set(kernel_ranges):
            return None
        # hoisting needs the reduction's ranges outside of those that it does not depend on
        if own != kernel_ranges[: len(own)]:
            return fusion.REDUCED_APART
        return self._row_boundary(u, own, use.kernel)

    def _row_boundary(self, reduced: UOp, rows: list[UOp], kernel: FusedKernel) -> Boundary | None:
        """Return the reason not to reduce `rows` within the loops of a kernel, or None."""
        x, axes, model = reduced.src[0], self._looped_axes(reduced), self.cost[kernel.device]
        steps = math.prod(max_shape(x.shape[a] for a in axes))
        is_fixed = all(isinstance(x.shape[a], int) for a in axes)
        along_rows = model.shares_rows and is_fixed and kernel.goes_along(rows, steps) and lies_along(x, axes)
        row_bytes = steps * x.dtype.itemsize
        return model.row_reduce_boundary(math.prod(map(steps_of, rows)), row_bytes, along_rows)

    def _is_of_row(self, u: UOp, access: Access, use: Use) -> bool:
        """Say whether `u` is made of reductions of rows that a grid's kernel has."""
        rows = [i for i in access.idxs if i.op is Ops.RANGE]
        made = u.toposort(lambda n: n.op in _COMPUTED and n not in self.stored)
        reduced = [s for n in made for s in n.src if s.op is Ops.REDUCE_AXIS and self._looped_axes(s)]
        return bool(reduced) and all(self._row_boundary(s, rows, use.kernel) is None for s in reduced)

    def _counter_of(self, reduced: UOp, access: Access, use: Use) -> int | None:
        """Return the result's axis along which the sum `reduced` needs no loop."""
        kernel, selection = use.kernel, self.selections.get(reduced)
        if selection is None:
            return None
        if selection.is_running:
            follows = [i for i in access.idxs if i.op is not Ops.CONST] == loops_in(kernel.ranges)
            return selection.counter if follows and self.cost[kernel.device].runs_loops else None
        root = kernel.root
        is_updated = root.op is Ops.ASSIGN and root.arg is not None
        if not is_updated and not self.cost[kernel.device].runs_loops:
            return None
        value = below_order(root.src[-1] if root.op is Ops.CONTIGUOUS or is_updated else root)
        # a sum may start at what it is added to
        parts = (value, *value.src) if value.op is reduced.arg[0] else (value,)
        is_root = any(below_order(part) is reduced for part in parts)
        return selection.counter if is_root or selection.overwrites else None

    def _is_contraction(self, reduced: UOp, use: Use) -> bool:
        """Say whether a reduction repeats enough loads to want a tile in registers."""
        looped = self._looped_axes(reduced)
        steps = numel_of(reduced) * math.prod(max_shape(reduced.src[0].shape[a] for a in looped))
        sizes = [numel_of(u) for u in self._loaded_by(reduced.src[0])]
        # what one factor has an element for at every step, no tile loads less often
        saved = len(sizes) * (steps - max(sizes, default=steps))
        return not self.cost[use.kernel.device].shares_nest(saved, numel_of(reduced), reduced.dtype.itemsize)

    def _loaded_by(self, value: UOp) -> list[UOp]:
        """Return the values in memory, or of other reductions, that `value` is computed from."""
        inner = value.toposort(lambda u: u.op in _COMPUTED and u not in self.stored)
        sources = dict.fromkeys(s for u in inner for s in u.src if s not in inner) or {value: None}
        return [u for u in sources if u.op not in _NUMBERS and u.dtype is not dtypes.index]

    def _looped_axes(self, reduced: UOp) -> list[int]:
        """Return the axes that a reduction runs loops along."""
        selection = self.selections.get(reduced)
        return [a for a in reduced.arg[1] if selection is None or a not in selection.axes]

    def _model(self, uses: dict[Access, Use]) -> CostModel:
        return self.cost[next(iter(uses.values())).kernel.device]

    def _start_kernel(self, u: UOp, uses: dict[Access, Use]) -> None:
        device = device_of(u) or next((use.kernel.device for use in uses.values()), self.default_device)
        if u.op is not Ops.COPY and device not in self.cost:
            raise DeviceError(
                f"{device} stores data and runs no kernels, so it cannot compute {u.op.name} of shape "
                f"{u.shape}. Move what it is computed from first: .to(...).",
                device=device,
            )
        kernel = self.kernels[u] = FusedKernel(u, self._fresh_ranges(u.shape, AxisType.LOOP), device)
        if u.op is Ops.COPY:
            return
        access = Access(kernel.ranges, ALWAYS)
        use = Use(kernel, numel_of(u), in_reduce=False)
        if u.op in _STORED:
            self.sources[u, access] = tuple([(s, access) for s in u.src[0 if u.op in fusion.WHOLE else -1 :]])
            for s, _ in self.sources[u, access]:
                self._reach(s, access, use)
        else:
            self._inline(u, access, use)

    def _inline(self, u: UOp, access: Access, use: Use) -> None:
        if u.op in MOVEMENT:
            idxs, inside = source_indices(u, access.idxs)
            below = Access(idxs, access.gate if inside is ALWAYS else simplify(access.gate & inside))
            sources = ((u.src[0], below),)
        elif u.op is Ops.REDUCE_AXIS:
            ranges = self._fresh_ranges(
                tuple(s if a in u.arg[1] else 1 for a, s in enumerate(u.src[0].shape)), AxisType.REDUCE
            )
            self.reduce_ranges[u, access] = tuple(r for r in ranges if r.op is Ops.RANGE)
            idxs = tuple(ranges[a] if a in u.arg[1] else idx for a, idx in enumerate(access.idxs))
            sources = ((u.src[0], Access(idxs, access.gate)),)
            # a reduction runs once for each value of the ranges it is read with; other loops have it hoisted
            kept = frozenset[UOp]().union(*(i.ranges for i in access.idxs))
            if (counter := self._counter_of(u, access, use)) is not None:
                # each step belongs to one element along the counter
                kept -= access.idxs[counter].ranges
                use.kernel.has_lanes = bool(kept) or not self.cost[use.kernel.device].runs_loops
            results = min(use.evaluations, math.prod(steps_of(r) for r in kept))
            loops = math.prod(steps_of(ranges[a]) for a in self._looped_axes(u))
            use.kernel.has_contraction |= self._is_contraction(u, use)
            if loops > 1:
                use.kernel.reductions.append((kept, loops))
            use = Use(use.kernel, results * loops, in_reduce=True)
        elif u.op is Ops.LATER:
            for kernel in (use.kernel, *use.others):
                kernel.after.update(u.src[1:])
            sources = ((u.src[0], access),)
        else:
            use.kernel.operations += op_cost(u.op)
            scalar = Access((), access.gate)
            sources = tuple((s, access if s.shape != () else scalar) for s in u.src)
        self.sources[u, access] = sources
        for source, below in sources:
            self._reach(source, below, use)

    def _reach(self, u: UOp, access: Access, use: Use) -> None:
        if u.dtype is dtypes.index:
            # a symbolic number is the same everywhere
            self.exprs[u, access] = u
            return
        known = self.uses.setdefault(u, {})
        before = known.get(access)
        if before is None:
            known[access] = use
        else:
            kernel = before.kernel
            evaluations = max(before.evaluations, use.evaluations)
            if kernel is not use.kernel:
                evaluations = before.evaluations + use.evaluations
            others = (before.others | use.others | {use.kernel}) - {kernel}
            known[access] = Use(kernel, evaluations, before.in_reduce or use.in_reduce, others)

    def _fresh_ranges(self, shape: Iterable[Any], kind: AxisType) -> Indices:
        return tuple(loop_over(size, next(self._numbers), kind) for size in shape)

    # --- second walk: from inputs to results ---

    def _build_all(self, u: UOp) -> None:
        kernel = self.kernels.get(u)
        for access in self.uses.get(u, {}):
            self.exprs[u, access] = (
                self._build(u, access) if kernel is None else self._index_of_element(u, access).load()
            )
        if kernel is not None and u.op is not Ops.COPY:
            access = Access(kernel.ranges, ALWAYS)
            value, place = self._build(u, access), self._index_of_element(u, access)
            ranges = (r for r in kernel.ranges if r.op is Ops.RANGE)
            kernel.ast = place.store(value, *ranges, op=u.arg if u.op is Ops.ASSIGN else None)

    def _index_of_element(self, u: UOp, access: Access) -> UOp:
        """Return the INDEX of element `access` in the memory of `u`."""
        idxs, view = access.idxs, u
        while _has_no_memory(self.kernels, view):
            if view.op in MOVEMENT:
                idxs, inside = source_indices(view, idxs)
                if inside is not ALWAYS:
                    raise ScheduleError("cannot assign to a padded view: parts of it have no memory.")
                view = view.src[0]
            else:
                view = self._below_versions(view)
        gate = None if access.gate is ALWAYS else access.gate
        return self._memory(u, view).index(flatten(idxs, view.shape), gate)

    def memory_of(self, param: UOp) -> UOp:
        """Return the version of memory that the PARAM `param` stands for."""
        slot: int = param.arg[0]
        return self._versions[slot]

    def _memory(self, version: UOp, storage: UOp) -> UOp:
        if version not in self.memories:
            numel = math.prod(max_shape(storage.shape))
            self.memories[version] = UOp(Ops.PARAM, version.dtype, (), (len(self.memories), numel))
            self._versions.append(version)
        return self.memories[version]

    def _build(self, u: UOp, access: Access) -> UOp:
        if u.op is Ops.CONST:
            return u
        if u.op is Ops.BUFFER or u.op is Ops.AFTER:
            return self._index_of_element(u, access).load()
        if u.op is Ops.IOTA:
            return access.idxs[0].cast(u.dtype)
        if u.op in (Ops.DEFINE_VAR, Ops.BIND):
            return u
        src = tuple([self.exprs[s] for s in self.sources[u, access]])
        if u.op in fusion.WHOLE:
            return UOp(u.op, u.dtype, (*src, *[access.idxs[int(axis)] for axis in u.arg.axes]), u.arg)
        if u.op is Ops.REDUCE_AXIS:
            return eliminate_ranges(src[0].reduce(u.arg[0], *self.reduce_ranges[u, access]))
        if u.op is Ops.PAD:
            return padded(src[0], self.sources[u, access][0][1].gate)
        if u.op in MOVEMENT or u.op in _STORED or u.op is Ops.LATER:
            return src[0]
        if u.op in ELEMENTWISE:
            return UOp(u.op, u.dtype, src, u.arg)
        raise ScheduleError(f"cannot schedule {u.op.name}: it is no tensor operation.")


def _has_no_memory(kernels: Mapping[UOp, FusedKernel], u: UOp) -> bool:
    return u.op in IN_PLACE or (u.op in MOVEMENT and u not in kernels)
