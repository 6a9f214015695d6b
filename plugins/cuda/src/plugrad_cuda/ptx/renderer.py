"""Render linear programs as PTX, with loops and conditions as labels.

A vector in memory is one access where its address is a multiple of its size. That buffers begin so is checked
by the runner; for those that do not, a second module follows behind a line with UNALIGNED.

Source: PTX ISA, sections "Directives" and "Instruction Set".
"""

from collections.abc import Callable, Mapping, Sequence

from plugrad.dtype import dtypes
from plugrad.renderer.base import Renderer
from plugrad.renderer.facts import group_size
from plugrad.renderer.scope import buffer_of
from plugrad.target import Capabilities, Target
from plugrad.uop import ALU, Ops, UOp
from plugrad_cuda.capabilities import STATIC_SHARED_BYTES, capabilities, version_of, without_warp_copies
from plugrad_cuda.layout import ALIGNMENT, DYNAMIC_SHARED, UNALIGNED, shared_offsets
from plugrad_cuda.ptx import isa
from plugrad_cuda.ptx.arithmetic import write_alu
from plugrad_cuda.ptx.builder import Address, PtxBuilder
from plugrad_cuda.ptx.conversions import integer_of, write_bitcast, write_cast
from plugrad_cuda.ptx.matrix import version_of_matrices, write_matrix_instruction
from plugrad_cuda.ptx.memory import write_index, write_load, write_store
from plugrad_cuda.ptx.types import literal, number_type, plain_type

#: Stands between the module for aligned buffers and the one for all.
BEHIND_ALIGNED = f"// {UNALIGNED}\n"


class PtxRenderer(Renderer):
    """Writes PTX for compute capability 7.0 and newer.

    A kernel takes what one in CUDA C takes: its buffers by slot, then its variables in 64 bits.

    Args:
        target: its `arch` and the `driver` in its detail decide on the version of PTX.

    Example:
        >>> PtxRenderer(Target("CUDA", arch="sm_90")).isa.version
        (7, 8)
    """

    def __init__(self, target: Target, chosen: Capabilities | None = None) -> None:
        self.capabilities = without_warp_copies(chosen or capabilities(target))
        self.isa = isa.choose(version_of(target.arch), int(target.get("driver") or 0))

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the module of one kernel; a second one for odd buffers, where that differs."""
        aligned, anywhere = (self._module(uops, name, is_unaligned=odd) for odd in (False, True))
        return aligned if aligned == anywhere else f"{aligned}{BEHIND_ALIGNED}{anywhere}"

    def _module(self, uops: Sequence[UOp], name: str, *, is_unaligned: bool) -> str:
        body = PtxBuilder(self.isa, is_unaligned=is_unaligned)
        parameters = _write_parameters(body, uops)
        outside = _write_shared(body, uops)
        for u in uops:
            write(body, u)
        major, minor = max(self.isa.version, version_of_matrices(uops))
        target = "".join(map(str, self.isa.target))
        return "\n".join(
            (
                f".version {major}.{minor}",
                f".target sm_{target}",
                ".address_size 64",
                *outside,
                "",
                f".visible .entry {name}(",
                ",\n".join(parameters),
                ")",
                f".maxntid {group_size(uops)}, 1, 1",
                ".minnctapersm 1",
                "{",
                *body.declarations(),
                *body.lines,
                "  ret;",
                "}",
                "",
            )
        )


def _write_parameters(body: PtxBuilder, uops: Sequence[UOp]) -> list[str]:
    """Read the arguments into registers; return their declarations, buffers by slot and variables by name."""
    declared: list[str] = []
    written = {buffer_of(u) for u in uops if u.op is Ops.STORE}
    for u in sorted((u for u in uops if u.op is Ops.PARAM), key=lambda u: u.arg[0]):
        name = f"data{u.arg[0]}"
        declared.append(f"  .param .u64 .ptr .global .align {u.dtype.itemsize} {name}")
        generic = body.value(dtypes.uint64, "ld.param.u64", f"[{name}]")
        address = body.value(dtypes.uint64, "cvta.to.global.u64", generic)
        body.places[u] = Address("global" if u in written else "global.nc", address, 0)
    variables = sorted((u for u in uops if u.op is Ops.DEFINE_VAR), key=lambda u: str(u.arg[0]))
    for number, u in enumerate(variables):
        name = f"value{number}"
        declared.append(f"  .param .s64 {name}")
        given = body.value(dtypes.int64, "ld.param.s64", f"[{name}]")
        body.values[u] = (integer_of(body, dtypes.int64, u.dtype, given),)
    return declared


def _write_shared(body: PtxBuilder, uops: Sequence[UOp]) -> list[str]:
    """Declare shared memory; return the declaration outside of the kernel, where the launch sizes it."""
    offsets, total = shared_offsets(uops)
    is_dynamic = total > STATIC_SHARED_BYTES
    for u, offset in offsets.items():
        name = f"local{u.arg[0]}"
        if is_dynamic:
            base = body.value(dtypes.uint32, "mov.u32", "shared_memory")
            base = body.value(dtypes.uint32, "add.u32", base, str(offset))
        else:
            body.line(f".shared .align {ALIGNMENT} .b8 {name}[{u.arg[1] * u.dtype.itemsize}]")
            base = body.value(dtypes.uint32, "mov.u32", name)
        body.places[u] = Address("shared", base, 0)
    if not is_dynamic:
        return []
    return [f"// {DYNAMIC_SHARED}{total}", f".extern .shared .align {ALIGNMENT} .b8 shared_memory[];"]


def write(body: PtxBuilder, u: UOp) -> None:
    """Write one node of a linear program.

    Raises:
        NotImplementedError: there is no rule for it.
    """
    if (rule := _VALUES.get(u.op)) is not None:
        body.values[u] = (rule(body, u),)
        return
    statement = _STATEMENTS.get(u.op)
    if statement is None:
        raise NotImplementedError(f"PtxRenderer has no rule for {u.op!r}: no such op in a linear program")
    statement(body, u)


# --- values ---


def _special(body: PtxBuilder, u: UOp) -> str:
    register = f"{'%ctaid' if u.arg[0] == 'g' else '%tid'}.{'xyz'[int(u.arg[-1])]}"
    return integer_of(body, dtypes.uint32, u.dtype, body.value(dtypes.uint32, "mov.u32", register))


def _constant(body: PtxBuilder, u: UOp) -> None:
    scalar = u.dtype.scalar()
    body.values[u] = (body.constant(scalar, literal(scalar, u.arg)),) * u.dtype.count


def _vector(body: PtxBuilder, u: UOp) -> None:
    body.values[u] = tuple(body.copied(s) for s in u.src)


def _lanes(body: PtxBuilder, u: UOp) -> None:
    picked: tuple[int, ...] = u.arg
    body.values[u] = tuple(body.values[u.src[0]][lane] for lane in picked)


# --- memory ---


def _barrier(body: PtxBuilder, u: UOp) -> None:
    body.line("bar.sync 0")


# --- registers that change, loops, conditions ---


def _registers(body: PtxBuilder, u: UOp) -> None:
    body.values[u] = tuple(body.moved(u.dtype.scalar(), lane) for lane in body.values[u.src[0]])


def _accumulate(body: PtxBuilder, u: UOp) -> None:
    register, value = u.src
    body.values[u] = body.values[register]
    for old, new in zip(body.values[register], body.values[value], strict=True):
        if old != new:
            body.line(f"mov.{plain_type(register.dtype.scalar())} {old}, {new}")


def _loop(body: PtxBuilder, u: UOp) -> None:
    """Open a loop, with a test before its label unless its size is positive."""
    size, number = body.read(u.src[0]), number_type(u.dtype)
    counter, label = body.moved(u.dtype, "0"), body.fresh("loop")
    body.values[u] = (counter,)
    if u.src[0].op is not Ops.CONST or u.src[0].arg < 1:
        body.line(f"@{body.test(f'ge.{number}', counter, size)} bra {label}_end")
    body.label(label)
    body.labels[u] = label
    body.open_block()


def _end_loop(body: PtxBuilder, u: UOp) -> None:
    loop = u.src[0]
    counter, label, number = body.read(loop), body.labels[loop], number_type(loop.dtype)
    body.close_block()
    body.line(f"add.{number} {counter}, {counter}, 1")
    body.line(f"@{body.test(f'lt.{number}', counter, body.read(loop.src[0]))} bra {label}")
    body.label(f"{label}_end")


def _condition(body: PtxBuilder, u: UOp) -> None:
    body.labels[u] = body.fresh("if")
    body.line(f"@!{body.read(u.src[0])} bra {body.labels[u]}_end")
    body.open_block()


def _end_condition(body: PtxBuilder, u: UOp) -> None:
    body.close_block()
    body.label(f"{body.labels[u.src[0]]}_end")


def _nothing(body: PtxBuilder, u: UOp) -> None:
    """Nodes that are written before all others, or only hold others together."""


_VALUES: Mapping[Ops, Callable[[PtxBuilder, UOp], str]] = {
    **dict.fromkeys(ALU, write_alu),
    Ops.CAST: write_cast,
    Ops.BITCAST: write_bitcast,
    Ops.SPECIAL: _special,
}
_STATEMENTS: Mapping[Ops, Callable[[PtxBuilder, UOp], None]] = {
    Ops.PARAM: _nothing,
    Ops.DEFINE_VAR: _nothing,
    Ops.DEFINE_LOCAL: _nothing,
    Ops.SINK: _nothing,
    Ops.CONST: _constant,
    Ops.VECTORIZE: _vector,
    Ops.GEP: _lanes,
    Ops.AFTER: _nothing,
    Ops.INDEX: write_index,
    Ops.LOAD: write_load,
    Ops.STORE: write_store,
    Ops.BARRIER: _barrier,
    Ops.COMMIT: _nothing,
    Ops.WMMA: write_matrix_instruction,
    Ops.DEFINE_ACC: _registers,
    Ops.ACCUMULATE: _accumulate,
    Ops.RANGE: _loop,
    Ops.END: _end_loop,
    Ops.IF: _condition,
    Ops.ENDIF: _end_condition,
}
