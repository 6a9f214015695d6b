"""Enumerate the neighbours of a list of optimisations: one added, removed or resized.

A search that walks from the heuristic's choice to better neighbours measures far fewer kernels than one that
builds each list from nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import AxisId, GroupTile, Opt, OptOps
from plugrad.errors import KernelOptError
from plugrad.target import Capabilities
from plugrad.uop import AxisType, UOp

Opts = tuple[Opt, ...]

# Sizes of register tiles, vectors and groups.
_SIZES = (2, 3, 4, 6, 8, 12, 16, 32)
_GROUP_SIZES = (8, 16, 32, 64, 128, 256)
_PIECES_PER_CORE = (1, 2, 4, 8)
# These come last, in this order: they move, share and copy for the loops that the others leave.
_COPYING = (OptOps.STAGE, OptOps.KEEP, OptOps.HOIST)
_LAST = (OptOps.SWAP, OptOps.THREAD, *_COPYING)
_RESIZED = frozenset({OptOps.UPCAST, OptOps.UNROLL, OptOps.LOCAL, OptOps.GROUP, OptOps.THREAD})
# A part of the axis that these split off is what the next optimisation takes, with the same size.
_SPLITTING = {OptOps.SHIFTIN: 1, OptOps.SPLIT_REMAINDER: 0}


def neighbours(ast: UOp, capabilities: Capabilities, opts: Opts) -> Iterator[KernelOpt]:
    """Yield the kernels that differ from `opts` by one decision, with their optimisations applied.

    Args:
        ast: the kernel after the passes before optimisation.
        capabilities: of the target.
        opts: the list to start from, which must apply to `ast`.
    """
    seen = {opts}
    for changed in (*_without(opts), *_resized(opts), *_extended(ast, capabilities, opts)):
        if changed in seen:
            continue
        seen.add(changed)
        kernel = KernelOpt(ast, capabilities)
        try:
            yield kernel.apply_all(changed)
        except KernelOptError:
            continue


def _without(opts: Opts) -> Iterator[Opts]:
    """Yield the list without each optimisation, and without those of the parts that it makes."""
    for i, dropped in enumerate(opts):
        yield (*opts[:i], *(opt for opt in opts[i + 1 :] if not _is_part(opt, dropped.axis)))


def _is_part(opt: Opt, axis: AxisId) -> bool:
    named = (opt.axis, opt.arg) if isinstance(opt.arg, tuple) else (opt.axis,)
    return any(len(ident) > len(axis) and ident[: len(axis)] == axis for ident in named)


def _resized(opts: Opts) -> Iterator[Opts]:
    """Yield the list with the next smaller and larger size of each optimisation."""
    for i, opt in enumerate(opts):
        if isinstance(opt.arg, GroupTile):
            for steps in {opt.arg.steps * 2, opt.arg.steps // 2} - {0}:
                yield _with_steps(opts, i, opt.arg, steps)
            for ahead in {max(opt.arg.ahead - 1, 0), opt.arg.ahead + 1} - {opt.arg.ahead}:
                yield (*opts[:i], replace(opt, arg=replace(opt.arg, ahead=ahead)), *opts[i + 1 :])
        if not isinstance(opt.arg, int):
            continue
        split = _SPLITTING.get(opt.op)
        for size in _sizes_beside(opt.arg):
            changed = [*opts]
            if opt.op in _RESIZED and not _is_whole_part(opts, i):
                changed[i] = replace(opt, arg=size)
            elif split is not None:
                changed[i] = replace(opt, arg=size)
                for j, other in enumerate(opts):
                    if other.axis == (*opt.axis, split) and other.arg == opt.arg:
                        changed[j] = replace(other, arg=size)
            yield tuple(changed)


def _with_steps(opts: Opts, i: int, tile: GroupTile, steps: int) -> Opts:
    """Return the list with other steps between barriers, written out as before."""
    inner = opts[i].axis
    changed = [*opts]
    changed[i] = replace(opts[i], arg=replace(tile, steps=steps))
    for j, other in enumerate(opts):
        is_inside = other.op is OptOps.UNROLL and other.axis[: len(inner) + 1] == (*inner, 1)
        if isinstance(other.arg, int) and (is_inside or (other.op is OptOps.PADTO and other.axis == inner)):
            changed[j] = replace(other, arg=other.arg * steps // tile.steps)
    return tuple(changed)


def _is_whole_part(opts: Opts, i: int) -> bool:
    """Say whether an optimisation takes the part that another one split off for it."""
    *ident, last = opts[i].axis or (-1,)
    return any(
        _SPLITTING.get(opt.op) == last and opt.axis == tuple(ident) and opt.arg == opts[i].arg for opt in opts
    )


def _sizes_beside(size: int) -> list[int]:
    smaller = [n for n in _SIZES if n < size][-1:]
    larger = [n for n in _SIZES if n > size][:1]
    return sorted({*smaller, *larger, size * 2, *([size // 2] if size > 2 and size % 2 == 0 else [])})


def _extended(ast: UOp, capabilities: Capabilities, opts: Opts) -> Iterator[Opts]:
    """Yield the list with one optimisation more, where it belongs in the order."""
    first, last = _parted(opts)
    kernel = KernelOpt(ast, capabilities).apply_all(first)
    for added in _on_axes(kernel.axes(), capabilities):
        yield (*first, *added, *last)
    loops = KernelOpt(ast, capabilities).apply_all(opts).axes(AxisType.LOOP, AxisType.GLOBAL)
    kinds = {opt.op for opt in opts}
    before = tuple(opt for opt in opts if opt.op not in _COPYING)
    copies = opts[len(before) :]
    for one, other in pairwise(loops):
        yield (*before, Opt(OptOps.SWAP, one.arg.ident, other.arg.ident), *copies)
    for r in loops:
        if OptOps.THREAD not in kinds and capabilities.threads > 1:
            for pieces in _PIECES_PER_CORE:
                thread = Opt(OptOps.THREAD, r.arg.ident, pieces * capabilities.threads)
                yield (*before, thread, *copies)
        if not copies:
            yield (*opts, Opt(OptOps.STAGE, r.arg.ident))
            for reduced in kernel.axes(AxisType.REDUCE):
                yield (*opts, Opt(OptOps.HOIST, reduced.arg.ident, r.arg.ident))
    if not copies:
        yield (*opts, Opt(OptOps.KEEP))


def _parted(opts: Opts) -> tuple[Opts, Opts]:
    """Split a list before the first of the optimisations that come last."""
    at = next((i for i, opt in enumerate(opts) if opt.op in _LAST), len(opts))
    # a split that shares an axis among threads belongs to them
    while at and at < len(opts) and opts[at].axis == (*opts[at - 1].axis, 0):
        at -= 1
    return opts[:at], opts[at:]


def _on_axes(axes: Sequence[UOp], capabilities: Capabilities) -> Iterator[Opts]:
    for r in axes:
        ident, kind = r.arg.ident, r.arg.kind
        if kind in (AxisType.LOOP, AxisType.GLOBAL):
            for size in _SIZES:
                yield (Opt(OptOps.UPCAST, ident, size),)
                yield Opt(OptOps.SHIFTIN, ident, size), Opt(OptOps.UPCAST, (*ident, 1), size)
        if kind is AxisType.GLOBAL and capabilities.max_workgroup > 1:
            for size in _GROUP_SIZES:
                yield (Opt(OptOps.LOCAL, ident, size),)
        if kind is AxisType.REDUCE:
            for size in _SIZES:
                for op in (OptOps.UPCAST, OptOps.UNROLL):
                    yield (Opt(op, ident, size),)
                    yield Opt(OptOps.SPLIT_REMAINDER, ident, size), Opt(op, (*ident, 0), size)
            for size in _GROUP_SIZES if capabilities.local_memory_bytes and capabilities.grid_dims else ():
                yield (Opt(OptOps.GROUP, ident, size),)
