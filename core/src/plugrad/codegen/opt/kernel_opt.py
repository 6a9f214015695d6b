"""Apply optimisations to a kernel's graph, by changing and splitting its ranges.

An axis is one RANGE. Splitting replaces it everywhere by `outer * size + inner`; what kind of axis the parts
are says what later passes make of them. The loop order is the order of the ranges in the STORE.
"""

from collections.abc import Iterable

from plugrad.codegen.opt.analysis import Facts, LoopBody, steps_of
from plugrad.codegen.opt.group_staging import refuse_in_copies, shared
from plugrad.codegen.opt.groups import check_groups, check_joined
from plugrad.codegen.opt.hoisting import hoisted
from plugrad.codegen.opt.keeping import kept
from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, MatrixTile, Opt, OptOps
from plugrad.codegen.opt.staging import staged
from plugrad.codegen.opt.tensor_core import tiled
from plugrad.codegen.rebuild import at, exchange_range, ranges_of_reduce, reads_versions, rebuild, stores_of
from plugrad.errors import KernelOptError
from plugrad.target import REPEATED, Capabilities
from plugrad.uop import Axis, AxisType, KernelInfo, Ops, UOp, identity_of, simplify
from plugrad.uop.strides import coefficient, constant_size

_OUTPUT = frozenset({AxisType.LOOP, AxisType.GLOBAL})
# kind of the new part, and whether it is the inner one
_SPLIT = {
    OptOps.UNROLL: (AxisType.UNROLL, True),
    OptOps.BLOCK: (AxisType.REDUCE, True),
    OptOps.LOCAL: (AxisType.LOCAL, True),
    OptOps.GROUP: (AxisType.GROUP_REDUCE, True),
    OptOps.THREAD: (AxisType.THREAD, False),
}
_COPYING = frozenset({OptOps.STAGE, OptOps.KEEP, OptOps.HOIST})
_AFTER_STAGE = frozenset({OptOps.BLOCK, OptOps.HOIST})
_OF_REDUCED = frozenset({OptOps.UNROLL, OptOps.BLOCK, OptOps.GROUP})
# where a kind stands in the loop order, outermost first
_PLACE = {
    AxisType.THREAD: 0,
    AxisType.GLOBAL: 1,
    AxisType.LOCAL: 2,
    AxisType.WARP: 2,
    AxisType.GROUP_REDUCE: 2,
    AxisType.LOOP: 3,
    AxisType.UPCAST: 4,
}
_IN_GROUP = (AxisType.LOCAL, AxisType.GROUP_REDUCE, AxisType.WARP)


class KernelOpt:
    """A kernel on its way through optimisations.

    Example:
        >>> k = KernelOpt(ast, capabilities)  # doctest: +SKIP
        >>> k.apply(Opt(OptOps.UPCAST, (0,), 4))  # doctest: +SKIP
    """

    def __init__(self, ast: UOp, capabilities: Capabilities) -> None:
        self.ast = ast
        self.capabilities = capabilities
        self.applied: list[Opt] = []
        self._found = Facts(ast)
        if capabilities.grid_dims:
            # what no reduction moves with is a loop behind them, of whoever has their results
            around = [u.ranges for u in self._reduces()]
            spread = [r for r in self.ended_by_all_stores() if not around or any(r in a for a in around)]
            self.ast = ast.substitute({r: r.replace(arg=Axis(r.arg.ident, AxisType.GLOBAL)) for r in spread})

    def axes(self, *kinds: AxisType) -> list[UOp]:
        """Return the ranges of the given kinds (all when none is given), by identity."""
        return [r for r in self._facts.ranges if not kinds or r.arg.kind in kinds]

    @property
    def bodies(self) -> list[LoopBody]:
        """The bodies of the kernel as it is: of its stores, then of each REDUCE."""
        return self._facts.bodies

    @property
    def _facts(self) -> Facts:
        if self._found.ast is not self.ast:
            self._found = Facts(self.ast)
        return self._found

    def axis(self, ident: AxisId) -> UOp:
        """Return the range with that identity.

        Raises:
            KernelOptError: there is none.
        """
        found = next((r for r in self.axes() if r.arg.ident == ident), None)
        if found is None:
            known = ", ".join(str(r.arg.ident) for r in self.axes())
            raise KernelOptError(f"no axis {ident} in this kernel: it has {known or 'none'}.")
        return found

    def ended_by_all_stores(self) -> list[UOp]:
        """Return the output axes that may be spread: those that all stores stand in."""
        return [r for r in self.axes(*_OUTPUT) if all(r in s.src[2:] for s in stores_of(self.ast))]

    def apply_all(self, opts: Iterable[Opt]) -> "KernelOpt":
        """Apply `opts` in order and return this kernel."""
        for opt in opts:
            self.apply(opt)
        return self

    def apply(self, opt: Opt) -> None:
        """Apply one optimisation.

        Raises:
            KernelOptError: the axis does not exist, is of the wrong kind, does not divide, or the target
            cannot.
        """
        before = self.ast
        try:
            self._apply(opt)
        except KernelOptError as error:
            self.ast = before
            error.args = (f"{opt}: {error}",)
            raise
        self.applied.append(opt)

    def _apply(self, opt: Opt) -> None:
        last = next((o.op for o in reversed(self.applied) if o.op in _COPYING), None)
        # steps of a reduction that are written out move no copy
        moves = opt.op is not OptOps.UNROLL and (last is not OptOps.STAGE or opt.op not in _AFTER_STAGE)
        if last is not None and moves:
            raise KernelOptError(
                f"{opt.op.name} after {last.name}: copies are laid out for the loops as they are."
            )
        refuse_in_copies(self.ast, opt)
        if opt.op is OptOps.SWAP:
            self._swap(opt)
        elif opt.op is OptOps.PADTO:
            self._pad_axis(opt)
        elif opt.op is OptOps.SHIFTIN:
            self._shift_in(opt)
        elif opt.op is OptOps.SPLIT_REMAINDER:
            self._split_remainder(opt)
        elif opt.op is OptOps.SPLIT:
            self._split_at(opt)
        elif opt.op is OptOps.TC:
            self._use_tensor_core(opt)
        elif opt.op is OptOps.SHARE:
            self._share(opt)
        elif opt.op in _COPYING:
            self._copy(opt)
        else:
            self._split(opt)
            if self.axes(AxisType.GROUP_REDUCE):
                check_groups(self.ast, self.capabilities)

    def finished(self) -> UOp:
        """Return the kernel, with the applied optimisations noted on it."""
        info: KernelInfo = self.ast.arg
        return self.ast.replace(arg=KernelInfo(info.name, tuple(self.applied)))

    def _split(self, opt: Opt) -> None:
        r, size = self.axis(opt.axis), constant_size(self.axis(opt.axis))
        kind, inner_is_new = self._kind_of_part(opt, r)
        items = self._other_axis(opt) if opt.op is OptOps.JOIN else None
        if items is not None:
            check_joined(self.ast, r, items)
        count = _count(opt) if items is None else constant_size(items) or 1
        if size is None or count < 1 or size % count:
            has = f"{r.src[0].vmax} steps at most, symbolic" if size is None else f"{size} steps"
            raise KernelOptError(
                f"the axis has {has}, which {count} does not divide. Use SHIFTIN, SPLIT_REMAINDER or "
                "PADTO first, or a divisor."
            )
        self._check_target(opt, count)
        if count == size:
            part = r.replace(arg=Axis(opt.axis, kind)) if items is None else items
            self._replace(r, part, (part,))
            return
        sizes = (size // count, count) if inner_is_new else (count, size // count)
        kinds = (r.arg.kind, kind) if inner_is_new else (kind, r.arg.kind)
        outer, inner = (UOp.range(sizes[i], (*opt.axis, i), kinds[i]) for i in range(2))
        inner = inner if items is None else items
        self._replace(r, outer * sizes[1] + inner, (outer, inner))

    def _kind_of_part(self, opt: Opt, r: UOp) -> tuple[AxisType, bool]:
        kind = r.arg.kind
        if opt.op is OptOps.JOIN:
            if kind is AxisType.REDUCE or (kind is AxisType.LOOP and r in self.ended_by_all_stores()):
                return AxisType.GROUP_REDUCE, True
        elif opt.op is OptOps.UPCAST:
            if kind is AxisType.REDUCE:
                return AxisType.PARTIAL, True
            if kind in _OUTPUT:
                if not self.can_write_out(r):
                    why = "steps of the axis may update one element, each for itself"
                    raise KernelOptError(f"{why}. Written out, equal ones would be one.")
                return AxisType.UPCAST, True
        elif opt.op in _OF_REDUCED:
            if kind is AxisType.REDUCE:
                return _SPLIT[opt.op]
        elif kind in _OUTPUT:
            if r not in self.ended_by_all_stores():
                raise KernelOptError(
                    f"the kernel has a store outside of axis {opt.axis}, which would be repeated."
                )
            return _SPLIT[opt.op]
        raise KernelOptError(f"axis {opt.axis} is {kind.name}, which {opt.op.name} does not take.")

    def _check_target(self, opt: Opt, count: int) -> None:
        can = self.capabilities
        if opt.op in (OptOps.LOCAL, OptOps.GROUP, OptOps.TC):
            if opt.op is OptOps.GROUP and self.axes(AxisType.WARP):
                raise KernelOptError("GROUP after TC: the work-items of a group already share a product.")
            items = steps_of(self.axes(*_IN_GROUP)) * count
            if items > can.max_workgroup:
                raise KernelOptError(f"{items} work-items, and a group has at most {can.max_workgroup}.")
        if opt.op is OptOps.THREAD and can.threads <= 1 and count > 1:
            raise KernelOptError("the target has no threads.")

    def _replace(self, r: UOp, value: UOp, parts: tuple[UOp, ...]) -> None:
        """Replace the range `r` by `value`, and by `parts` where loops end."""
        ast = exchange_range(self.ast, r, value, parts)
        self.ast = ast.replace(src=tuple(map(_in_loop_order, ast.src)))

    def can_write_out(self, r: UOp) -> bool:
        """Say whether steps of `r` may be unrolled: not if several may update one element."""
        updates = [s for s in stores_of(self.ast) if _is_shared(s) and r in s.src[2:]]
        return all(coefficient(s.src[0].src[1], r) for s in updates)

    def can_repeat(self) -> bool:
        """Say whether elements may be computed twice: not if the kernel reads its output."""
        return self._facts.can_repeat

    def _updates_in_place(self, r: UOp) -> bool:
        """Say whether written memory is read at the same steps of `r` only."""
        stores = stores_of(self.ast)
        written = {s.src[0].src[0] for s in stores}
        reads = [(s.src[0], u) for s in stores for u in s.src[1].toposort() if u.op is Ops.INDEX]
        return not any(map(_is_shared, stores)) and all(
            u.src[0] is place.src[0] and coefficient(u.src[1], r) == coefficient(place.src[1], r)
            for place, u in reads
            if u.src[0] in written
        )

    def fits_axis(self, size: int, count: int) -> bool:
        """Say whether tiles of `count` cover an axis of `size` steps with little repeated work."""
        if size % count == 0:
            return True
        return count < size and -(-size // count) * count <= REPEATED * size and self.can_repeat()

    def _shift_in(self, opt: Opt) -> None:
        r, count, size = self._part_of_axis(opt, _OUTPUT)
        if not self.can_repeat():
            why = "the kernel reads memory that it writes"
            raise KernelOptError(f"{why}, so no element may be computed twice.")
        steps = -(-size // count)
        tiles, inner = (UOp.range(n, (*opt.axis, i), r.arg.kind) for i, n in enumerate((steps, count)))
        self._replace(r, (tiles * count).minimum(size - count) + inner, (tiles, inner))

    def _split_remainder(self, opt: Opt) -> None:
        r, count, size = self._part_of_axis(opt, frozenset({AxisType.REDUCE}))
        rest = size % count
        if not rest:
            raise KernelOptError(f"the axis has {size} steps, which {count} divides: nothing is left.")
        first = UOp.range(size - rest, (*opt.axis, 0), AxisType.REDUCE)
        last = UOp.range(rest, (*opt.axis, 1), AxisType.REDUCE)

        def change(u: UOp) -> UOp | None:
            if u.op is not Ops.REDUCE or r not in ranges_of_reduce(u):
                return None
            values = [v.substitute({r: last + (size - rest)}) for v in u.src[: u.arg[1]]]
            ended = [last if s is r else s for s in ranges_of_reduce(u)]
            return u.substitute({r: first}).alu(u.arg[0], u.replace(src=(*values, *ended)))

        self.ast = simplify(rebuild(self.ast, change))

    def _split_at(self, opt: Opt) -> None:
        r, place, size = self._part_of_axis(opt, frozenset({AxisType.LOOP}))
        if not (self.can_repeat() or self._updates_in_place(r) or reads_versions(self.ast.toposort())):
            raise KernelOptError("the kernel reads memory that it writes, in the order of one loop.")
        first = UOp.range(place, (*opt.axis, 0), AxisType.LOOP)
        last = UOp.range(size - place, (*opt.axis, 1), AxisType.LOOP)
        stores: list[UOp] = []
        for store in self.ast.src:
            if r not in store.src[2:]:
                stores.append(store)
                continue
            for part, value in ((first, first), (last, last + place)):
                own = (
                    *(at(s, r, value) for s in store.src[:2]),
                    *(part if s is r else s for s in store.src[2:]),
                )
                stores.append(store.replace(src=own))
        self.ast = simplify(self.ast.replace(src=tuple(stores)))

    def _part_of_axis(self, opt: Opt, kinds: frozenset[AxisType]) -> tuple[UOp, int, int]:
        r, count = self.axis(opt.axis), _count(opt)
        size = constant_size(r)
        if r.arg.kind not in kinds:
            raise KernelOptError(f"axis {opt.axis} is {r.arg.kind.name}, which {opt.op.name} does not take.")
        if size is None or not 0 < count < size:
            steps = f"{r.src[0].vmax} steps{'' if size else ' at most, symbolic'}"
            raise KernelOptError(f"the axis has {steps}; a part has some of a constant number, not all.")
        return r, count, size

    def _use_tensor_core(self, opt: Opt) -> None:
        if not isinstance(opt.arg, MatrixTile):
            raise KernelOptError("takes a MatrixTile.")
        tile, columns, rows = opt.arg, self.axis(opt.axis), self.axis(opt.arg.rows)
        core = next((c for c in self.capabilities.tensor_cores if c.name == tile.core), None)
        if core is None:
            known = ", ".join(c.name for c in self.capabilities.tensor_cores)
            raise KernelOptError(f"the target has no {tile.core}; it has {known or 'none'}.")
        if self.axes(AxisType.WARP, AxisType.GROUP_REDUCE):
            raise KernelOptError("the work-items of a group already share something else.")
        kind = AxisType.GLOBAL if self.capabilities.grid_dims else AxisType.LOOP
        for r in (columns, rows):
            if r.arg.kind is not kind:
                raise KernelOptError(f"axis {r.arg.ident} is {r.arg.kind.name}; TC takes {kind.name} axes.")
        if core.threads > 1:
            self._check_target(opt, core.threads)
        out = tiled(self.ast, tile, columns, core)
        self.ast = out.ast
        warp = (out.warp,) if out.warp.op is Ops.RANGE else ()
        self._replace(columns, out.columns.value, (*out.columns.parts, *warp))
        self._replace(rows, out.rows.value, out.rows.parts)

    def _copy(self, opt: Opt) -> None:
        if self.capabilities.grid_dims or len(stores_of(self.ast)) != 1:
            who = "a group's work-items" if self.capabilities.grid_dims else "several stores"
            raise KernelOptError(f"{who} would have to share a copy; it takes one loop nest.")
        if not self.can_repeat():
            raise KernelOptError("the kernel reads memory that it writes, which a copy would miss.")
        most = self.capabilities.local_memory_bytes
        if opt.op is OptOps.KEEP:
            self.ast = kept(self.ast, self.capabilities)
        elif opt.op is OptOps.HOIST:
            self.ast = hoisted(self.ast, self.axis(opt.axis), self._other_axis(opt), most)
        elif (loop := self.axis(opt.axis)).arg.kind is AxisType.LOOP:
            self.ast = staged(self.ast, loop, most)
        else:
            raise KernelOptError(f"axis {opt.axis} is {loop.arg.kind.name}; STAGE takes a loop.")

    def _share(self, opt: Opt) -> None:
        if not isinstance(opt.arg, GroupTile):
            raise KernelOptError("takes a GroupTile.")
        if not self.capabilities.max_workgroup or self.axes(AxisType.GROUP_REDUCE) or not self.can_repeat():
            raise KernelOptError("takes workgroups that share nothing yet, and no memory that changes.")
        most = self.capabilities.local_memory_bytes
        self.ast = shared(self.ast, self.axis(opt.axis), opt.arg, most)

    def _other_axis(self, opt: Opt) -> UOp:
        if isinstance(opt.arg, MatrixTile | GroupTile):
            raise KernelOptError("takes an axis.")
        return self.axis(opt.arg if isinstance(opt.arg, tuple) else (opt.arg,))

    def _reduces(self) -> list[UOp]:
        return [u for u in self.ast.toposort() if u.op is Ops.REDUCE]

    def _swap(self, opt: Opt) -> None:
        one, other = self.axis(opt.axis), self._other_axis(opt)
        for r in (one, other):
            if r.arg.kind not in _OUTPUT:
                raise KernelOptError(f"axis {r.arg.ident} is {r.arg.kind.name}; SWAP takes output axes.")
        swapped = {one: other, other: one}
        if any((one in s.src[2:]) is not (other in s.src[2:]) for s in stores_of(self.ast)):
            raise KernelOptError("the kernel has a store inside of one of the axes and outside of the other.")
        stores = (s.replace(src=(*s.src[:2], *(swapped.get(r, r) for r in s.src[2:]))) for s in self.ast.src)
        self.ast = self.ast.replace(src=tuple(stores))

    def _pad_axis(self, opt: Opt) -> None:
        r, multiple = self.axis(opt.axis), _count(opt)
        if r.arg.kind not in _OUTPUT and r.arg.kind is not AxisType.REDUCE:
            raise KernelOptError(f"axis {opt.axis} is {r.arg.kind.name}; pad an axis before it is split.")
        size = constant_size(r)
        if size is None or multiple < 1:
            raise KernelOptError("needs an axis of constant size and a positive multiple.")
        if any(r in s.src[2:] and r not in s.src[0].ranges for s in stores_of(self.ast)):
            raise KernelOptError("a store's place does not move along the axis: nothing gates more steps.")
        if any(u.dtype.count > 1 and r in ranges_of_reduce(u) for u in self._reduces()):
            raise KernelOptError(f"a matrix instruction sums over axis {opt.axis}; pad it before TC.")
        padded = -(-size // multiple) * multiple
        if padded == size:
            return
        wide = UOp.range(padded, r.arg.ident, r.arg.kind)
        inside = wide < size

        def change(u: UOp) -> UOp | None:
            if u.op is Ops.INDEX and wide in u.ranges:
                gate = inside if len(u.src) == 2 else u.src[2] & inside
                return u.replace(src=(*u.src[:2], gate))
            if u.op is Ops.REDUCE and wide in u.src[u.arg[1] :]:
                nothing = identity_of(u.arg[0], u.dtype)
                values = (inside.where(v, v.const_like(nothing)) for v in u.src[: u.arg[1]])
                return u.replace(src=(*values, *u.src[u.arg[1] :]))
            return None

        self.ast = simplify(rebuild(self.ast.substitute({r: wide}), change))


def _is_shared(store: UOp) -> bool:
    """Say whether steps of any loop around a STORE may change what another step wrote."""
    return store.arg is not None or store.src[0].src[0].op is Ops.DEFINE_LOCAL


def _in_loop_order(store: UOp) -> UOp:
    """Return a STORE with its loops in the order of their kinds."""
    loops = sorted(store.src[2:], key=lambda r: _PLACE.get(r.arg.kind, 3) if r.op is Ops.RANGE else 3)
    return store.replace(src=(*store.src[:2], *loops))


def _count(opt: Opt) -> int:
    if not isinstance(opt.arg, int):
        raise KernelOptError("takes a number of steps.")
    return opt.arg
