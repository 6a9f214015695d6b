"""The pipeline from one kernel's graph to its linear program."""

from collections.abc import Iterable, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.codegen.async_copies import copy_asynchronously
from plugrad.codegen.coalesce import coalesce, store_apart
from plugrad.codegen.decompositions import decompose
from plugrad.codegen.devectorizer import devectorize
from plugrad.codegen.estimates import estimate
from plugrad.codegen.expander import expand
from plugrad.codegen.gpudims import add_launch_dims
from plugrad.codegen.group_copies import spread_copies
from plugrad.codegen.index_dtype import lower_index_dtype
from plugrad.codegen.lanes import shuffle_pairs, vectorize
from plugrad.codegen.linearizer import linearize, remove_unused
from plugrad.codegen.loops import separate_loops
from plugrad.codegen.opt.heuristic import optimise
from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import Opt
from plugrad.codegen.pairwise_sum import split_long_sums
from plugrad.codegen.predication import UNGATED, lower_gates, simplify_gates
from plugrad.codegen.prepare.guard_empty_loops import guard_empty_loops
from plugrad.codegen.prepare.lower_factor import lower_factor
from plugrad.codegen.prepare.lower_fourier import lower_fourier
from plugrad.codegen.prepare.lower_running_sum import keep_totals
from plugrad.codegen.prepare.lower_scatter import scatter
from plugrad.codegen.prepare.ranges import simplify_ranges
from plugrad.codegen.prepare.split_at_divisors import split_at_divisors
from plugrad.codegen.reduces import share_reduces
from plugrad.settings import settings
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, PatternMatcher, UOp, graph_rewrite, simplify
from plugrad.uop.op_cost import Estimates
from plugrad.uop.passes import Pipeline, Stage
from plugrad.uop.spec import codegen_spec, kernel_spec, verify, verify_linear


def simplify_values(sink: UOp, _: Any = None) -> UOp:
    """Fold what the other passes left to fold."""
    return simplify(sink)


PREPARE = Pipeline(
    "codegen.prepare",
    (
        Stage(simplify_gates, kernel_spec, "first: axes can merge when their addresses are simple"),
        Stage(simplify_ranges, kernel_spec, "optimisations should see the fewest, longest axes"),
        Stage(split_at_divisors, kernel_spec, "axes have merged: what addresses divide yet, they need apart"),
        Stage(scatter, kernel_spec, "by now the axes are those of memory"),
        Stage(lower_fourier, kernel_spec, "for the same reason; its loops are chosen with its steps"),
        Stage(lower_factor, kernel_spec, "for the same reason; its loops are chosen one by one"),
        Stage(keep_totals, kernel_spec, "for the same reason; a sum by position has no order to keep"),
        Stage(guard_empty_loops, kernel_spec, "by now an axis of one step at most is no part of addresses"),
    ),
)

LOWERING = Pipeline(
    "codegen.lower",
    (
        Stage(
            share_reduces,
            codegen_spec,
            "work-items of a group are still ranges, so their parts can be addressed",
        ),
        Stage(
            spread_copies, codegen_spec, "the group is known, and lanes of copies are chosen with all others"
        ),
        Stage(coalesce, codegen_spec, "an axis can only become lanes while it is one range"),
        Stage(store_apart, codegen_spec, "lanes are known, and what they store is still one node"),
        Stage(split_long_sums, codegen_spec, "what is added in one step is known, and still one value"),
        Stage(add_launch_dims, codegen_spec, "axes are final, and not yet copied with what uses them"),
        Stage(expand, codegen_spec, "copies are made before vectors, so that each vector is one node"),
        Stage(vectorize, codegen_spec, "after unrolling, one axis of lanes is left for each value"),
        Stage(
            devectorize, codegen_spec, "all vectors exist, and decompositions need not know which are allowed"
        ),
        Stage(decompose, codegen_spec, "what the target lacks is written with what it has"),
        Stage(lower_gates, codegen_spec, "decompositions may have moved gates"),
        Stage(simplify_values, codegen_spec, "folds what decompositions of constants made"),
        Stage(lower_index_dtype, codegen_spec, "bounds of addresses are no longer needed"),
        Stage(separate_loops, codegen_spec, "unrolling and folding decide which reductions share loops"),
        Stage(shuffle_pairs, codegen_spec, "last: folding takes shuffles of shuffles apart"),
    ),
)


@frozen
class Lowered:
    """A kernel as a linear program, with what a launch needs to know of it."""

    name: str
    program: tuple[UOp, ...]
    global_size: "tuple[int | UOp, ...]"
    local_size: "tuple[int | UOp, ...]"
    threads: int
    variables: tuple[str, ...]
    outs: tuple[int, ...]
    ins: tuple[int, ...]
    estimates: Estimates
    opts: tuple[Opt, ...]
    axes: tuple[tuple[str, str], ...]
    """(size, kind) of each axis, outermost first."""


def lower(
    ast: UOp,
    capabilities: Capabilities,
    opts: Sequence[Opt] | None = None,
    extra_rules: PatternMatcher | None = None,
) -> Lowered:
    """Return the linear program of the kernel `ast` for a target.

    Args:
        ast: SINK of STOREs, as the scheduler makes it.
        capabilities: of the target.
        opts: optimisations to apply; None leaves the choice to the heuristic, () gives the plain loops.
        extra_rules: the renderer's own, applied last, to what is about to be written down.
    """
    ast = PREPARE.run(ast, capabilities)
    kernel = KernelOpt(ast, capabilities)
    return lower_optimised(optimise(kernel) if opts is None else kernel.apply_all(opts), ast, extra_rules)


def lower_optimised(kernel: KernelOpt, ast: UOp, extra_rules: PatternMatcher | None = None) -> Lowered:
    """Return the linear program of a kernel whose optimisations are applied.

    Args:
        kernel: of the graph `ast`.
        ast: the result of PREPARE, which names the program and has its cost.
        extra_rules: the renderer's own.
    """
    capabilities = kernel.capabilities
    optimised = kernel.finished()
    lowered = LOWERING.run(optimised, capabilities)
    if extra_rules is not None:
        lowered = graph_rewrite(lowered, extra_rules, name="extra_rules")
        verify(lowered, codegen_spec)
    program = remove_unused(copy_asynchronously(linearize(lowered, capabilities), capabilities))
    if settings.SPEC:
        verify_linear(program)
    by_op: dict[Ops, list[UOp]] = {}
    for u in program:
        by_op.setdefault(u.op, []).append(u)
    specials = {u.arg: u.src[0] for u in by_op.get(Ops.SPECIAL, ())}
    loads, stores = by_op.get(Ops.LOAD, []), by_op.get(Ops.STORE, [])
    updated = (store.src[0] for store in stores if store.arg is not None)
    # launches add gates, and these write all; behind one of the kernel's own, memory stays as it is
    kept = (u.src[0] for u in ast.src if u.op is Ops.STORE and len(u.src[0].src) > UNGATED)
    copied = (copy.src[1] for copy in by_op.get(Ops.COPY_ASYNC, ()))
    return Lowered(
        name=f"{ast.arg.name}_{ast.key.hex()[:8]}",
        program=tuple(program),
        global_size=_dims("gidx", specials),
        local_size=_dims("lidx", specials),
        threads=int(specials["thread"].vmax) if "thread" in specials else 1,
        variables=tuple(sorted(u.arg[0] for u in by_op.get(Ops.DEFINE_VAR, ()))),
        outs=_slots(store.src[0] for store in stores),
        ins=_slots((*(load.src[0] for load in loads), *updated, *kept, *copied)),
        estimates=estimate(ast),
        opts=tuple(kernel.applied),
        axes=_axes(optimised),
    )


def _dims(prefix: str, specials: dict[str, UOp]) -> "tuple[int | UOp, ...]":
    sizes = {int(name[len(prefix) :]): size for name, size in specials.items() if name.startswith(prefix)}
    dims = (sizes.get(i) for i in range(max(sizes, default=-1) + 1))
    return tuple(1 if size is None else size.arg if size.op is Ops.CONST else size for size in dims)


def _slots(places: Iterable[UOp]) -> tuple[int, ...]:
    memories = {u.src[0] if (u := place.src[0]).op is Ops.AFTER else u for place in places}
    return tuple(sorted(memory.arg[0] for memory in memories if memory.op is Ops.PARAM))


_KINDS_IN_ORDER = tuple(AxisType)


def _axes(sink: UOp) -> tuple[tuple[str, str], ...]:
    ranges = [u for u in sink.toposort() if u.op is Ops.RANGE]
    ranges.sort(key=lambda r: (_KINDS_IN_ORDER.index(r.arg.kind), r.arg.ident))
    return tuple((str(r.src[0].vmax), r.arg.kind.name) for r in ranges)
