"""Render the constructs that C-like languages share; a backend overrides the others.

The words are class attributes, the constructions small methods: a new language starts from the attributes and
overrides a method only where its grammar differs.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import ConstType, DType, dtypes, is_bool, is_float, is_int, is_unsigned, truncate
from plugrad.renderer.base import Renderer
from plugrad.renderer.scope import Scope
from plugrad.target import Capabilities
from plugrad.uop import ALU, Axis, AxisType, Ops, UOp

OPERATORS: Mapping[Ops, str] = {
    Ops.ADD: "+",
    Ops.SUB: "-",
    Ops.MUL: "*",
    Ops.FDIV: "/",
    Ops.CDIV: "/",
    Ops.CMOD: "%",
    Ops.AND: "&",
    Ops.OR: "|",
    Ops.XOR: "^",
    Ops.SHL: "<<",
    Ops.SHR: ">>",
    Ops.CMPLT: "<",
    Ops.CMPNE: "!=",
    Ops.CMPEQ: "==",
}
#: The names of the ops that every renderer here writes.
NATIVE_OPS = frozenset(
    op.name for op in (*OPERATORS, Ops.NEG, Ops.RECIP, Ops.SQRT, Ops.TRUNC, Ops.MAX, Ops.WHERE, Ops.MULACC)
)
_ON_BOOLS: Mapping[Ops, str] = {Ops.ADD: "|", Ops.MAX: "|", Ops.MUL: "&"}
_EXPRESSIONS = ALU | {Ops.CAST, Ops.BITCAST, Ops.VECTORIZE, Ops.GEP}
_REDUCED = frozenset({AxisType.REDUCE, AxisType.UNROLL, AxisType.GROUP_REDUCE, AxisType.PARTIAL})


class CStyleRenderer(Renderer):
    """Renders C as GPUs speak it: one work-item's code, vectors only for loads and stores.

    Example:
        >>> class Dialect(CStyleRenderer):
        ...     kernel_prefix = "__kernel "
        ...     buffer_prefix = "__global "
    """

    kernel_prefix: ClassVar[str] = ""
    buffer_prefix: ClassVar[str] = ""
    local_prefix: ClassVar[str] = ""
    restrict: ClassVar[str] = "restrict"
    barrier: ClassVar[str] = ""
    infinity: ClassVar[str] = "INFINITY"
    nan: ClassVar[str] = "NAN"
    literal_suffix: ClassVar[Mapping[DType, str]] = {
        dtypes.uint32: "u",
        dtypes.int64: "ll",
        dtypes.uint64: "ull",
        dtypes.float32: "f",
    }
    type_names: ClassVar[Mapping[DType, str]] = {
        dtypes.void: "void",
        dtypes.bool: "bool",
        dtypes.int8: "signed char",
        dtypes.uint8: "unsigned char",
        dtypes.int16: "short",
        dtypes.uint16: "unsigned short",
        dtypes.int32: "int",
        dtypes.uint32: "unsigned int",
        dtypes.int64: "long",
        dtypes.uint64: "unsigned long",
        dtypes.float16: "half",
        dtypes.bfloat16: "bfloat16",
        dtypes.float32: "float",
        dtypes.float64: "double",
    }
    functions: ClassVar[Mapping[Ops, str]] = {
        Ops.SQRT: "sqrt",
        Ops.TRUNC: "trunc",
        Ops.EXP: "exp",
        Ops.EXP2: "exp2",
        Ops.LOG2: "log2",
        Ops.SIN: "sin",
        Ops.COS: "cos",
        Ops.POW: "pow",
        Ops.FMOD: "fmod",
        Ops.MULACC: "fma",
    }

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the source of one kernel, in paragraphs: types and helpers first."""
        scope = self.open_scope(uops)
        for u in uops:
            self.write(scope, u)
        return "\n\n".join((*scope.definitions.values(), self.assemble(scope, name))) + "\n"

    # --- the words that most languages change ---

    def open_scope(self, uops: Sequence[UOp]) -> Scope:
        """Return the state for one kernel."""
        return Scope(uops)

    def assemble(self, scope: Scope, name: str) -> str:
        """Return the kernel's function around the lines in `scope`."""
        return "\n".join(
            (f"{self.kernel_prefix}void {name}({', '.join(self.parameters(scope))}) {{", *scope.lines, "}")
        )

    def parameters(self, scope: Scope) -> list[str]:
        """Return the declarations of the kernel's buffers by slot, then of its scalars by name."""
        buffers = [
            f"{self.buffer_prefix}{'' if slot in scope.written else 'const '}{self.storage_type(u.dtype)} *"
            f"{self.restrict} {scope.names[u]}"
            for slot, u in scope.params.items()
        ]
        return buffers + [f"const {self.type_name(scope, u.dtype)} {scope.names[u]}" for u in scope.variables]

    def workitem(self, name: str) -> str:
        """Return the expression of a launch position: `name` is "gidx0", .. "lidx2", or "thread"."""
        raise NotImplementedError(f"{type(self).__name__} has no launch positions ({name})")

    def type_name(self, scope: Scope, dtype: DType) -> str:
        """Return the type of a value; adds to the definitions what it needs."""
        return self.type_names[dtype.scalar()] + (str(dtype.count) if dtype.count > 1 else "")

    def storage_type(self, dtype: DType) -> str:
        """Return the type of a buffer's elements."""
        return self.type_names[dtype.scalar()]

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions."""
        return f"({self.type_name(scope, dtype)})({', '.join(parts)})"

    def lane(self, vector: str, index: int) -> str:
        """Return one lane of a vector variable."""
        return f"{vector}.s{index:X}"

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value of the LOAD `u` at `pointer`."""
        if u.dtype.count == 1:
            return f"*{pointer}"
        return f"vload{u.dtype.count}(0, {pointer})"

    def store(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement of the STORE `u`, without its semicolon."""
        count = u.src[1].dtype.count
        return f"*{pointer} = {value}" if count == 1 else f"vstore{count}({value}, 0, {pointer})"

    def update(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement of the STORE `u` that combines atomically, without its semicolon."""
        raise NotImplementedError(f"{type(self).__name__} has no atomic {u.arg!r} of {u.src[1].dtype}")

    def cast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the CAST `u` of `value`."""
        return f"({self.type_name(scope, u.dtype)})({value})"

    def bitcast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the BITCAST `u` of `value`."""
        return f"as_{self.type_name(scope, u.dtype)}({value})"

    # --- constants ---

    def const(self, scope: Scope, dtype: DType, value: ConstType) -> str:
        """Return a constant of a scalar dtype, or with that value in each lane."""
        scalar = dtype.scalar()
        text = self.literal(scalar, truncate(value, scalar))
        return text if dtype.count == 1 else self.vector(scope, dtype, [text] * dtype.count)

    def literal(self, dtype: DType, value: ConstType) -> str:
        """Return a scalar constant; parenthesised where a sign might glue to something."""
        if is_bool(dtype):
            return "1" if value else "0"
        suffix = self.literal_suffix.get(dtype, "")
        if is_int(dtype):
            return self._int_literal(dtype, int(value), suffix)
        text = self._float_literal(float(value), suffix)
        return text if dtype in (dtypes.float32, dtypes.float64) else f"(({self.storage_type(dtype)}){text})"

    def _int_literal(self, dtype: DType, value: int, suffix: str) -> str:
        lowest = -(1 << (dtype.itemsize * 8 - 1))
        if value == lowest and dtype.itemsize >= 4 and not is_unsigned(dtype):
            return f"(-{-(value + 1)}{suffix}-1{suffix})"  # the positive number would not fit
        return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"

    def _float_literal(self, value: float, suffix: str) -> str:
        if math.isnan(value):
            return self.nan
        if math.isinf(value):
            return self.infinity if value > 0 else f"(-{self.infinity})"
        text = f"{value!r}{suffix}"
        return text if math.copysign(1.0, value) > 0 else f"({text})"

    # --- statements ---

    def write(self, scope: Scope, u: UOp) -> None:
        """Write one node: a line, or an expression for its users."""
        if u.op in _EXPRESSIONS:
            expression = self.expression(scope, u)
            if not scope.inline_at_use(u, expression) and scope.is_used(u):
                scope.declare(u, "alu" if u.op in ALU else "val", self.value_type(scope, u), expression)
            return
        statement = _STATEMENTS.get(u.op)
        if statement is None:
            raise NotImplementedError(
                f"{type(self).__name__} cannot render {u.op!r}: no such op in a linear program"
            )
        statement(self, scope, u)

    def value_type(self, scope: Scope, u: UOp) -> str:
        """Return the type of the variable that holds `u`."""
        return self.type_name(scope, u.dtype)

    def write_param(self, scope: Scope, u: UOp) -> None:
        """Name a buffer after its slot."""
        scope.names[u] = f"data{u.arg[0]}"

    def write_variable(self, scope: Scope, u: UOp) -> None:
        """Name a scalar after the user's variable."""
        scope.names[u] = scope.claim("v_" + re.sub(r"\W", "_", u.arg[0], flags=re.ASCII), u)

    def write_special(self, scope: Scope, u: UOp) -> None:
        """Declare a launch position."""
        scope.names[u] = u.arg
        scope.line(f"{self.type_name(scope, u.dtype)} {u.arg} = {self.workitem(u.arg)};")

    def write_const(self, scope: Scope, u: UOp) -> None:
        """Write a constant where it is used."""
        scope.names[u] = self.const(scope, u.dtype, u.arg)

    def write_local(self, scope: Scope, u: UOp) -> None:
        """Declare memory that a workgroup shares."""
        scope.names[u] = f"local{u.arg[0]}"
        scope.line(f"{self.local_prefix}{self.storage_type(u.dtype)} {scope.names[u]}[{u.arg[1]}];")

    def write_accumulator(self, scope: Scope, u: UOp) -> None:
        """Declare a register that changes."""
        scope.declare(u, "acc", self.value_type(scope, u), scope.names[u.src[0]])

    def write_accumulate(self, scope: Scope, u: UOp) -> None:
        """Change a register; its later users read it by the same name."""
        scope.names[u] = scope.names[u.src[0]]
        scope.line(f"{scope.names[u]} = {scope.names[u.src[1]]};")

    def write_range(self, scope: Scope, u: UOp) -> None:
        """Open a loop."""
        name = scope.names[u] = scope.claim(_loop_name(u), u)
        type_name = self.type_name(scope, u.dtype)
        scope.open_block(f"for ({type_name} {name} = 0; {name} < {scope.names[u.src[0]]}; {name}++) {{")

    def write_if(self, scope: Scope, u: UOp) -> None:
        """Open a conditional block."""
        scope.open_block(f"if ({scope.names[u.src[0]]}) {{")

    def write_end(self, scope: Scope, u: UOp) -> None:
        """Close a loop or a conditional block."""
        scope.close_block()

    def write_barrier(self, scope: Scope, u: UOp) -> None:
        """Wait for the workgroup, where the language has workgroups."""
        if self.barrier:
            scope.line(self.barrier)

    def write_index(self, scope: Scope, u: UOp) -> None:
        """Write an address where it is used: addresses never change, since integers are never accumulated."""
        index = u.src[1]
        zero = index.op is Ops.CONST and index.arg == 0
        scope.inline(u, scope.names[u.src[0]] if zero else f"({scope.names[u.src[0]]}+{scope.names[index]})")

    def write_load(self, scope: Scope, u: UOp) -> None:
        """Declare a variable for what is in memory now."""
        value = self.load(scope, u, scope.names[u.src[0]])
        if len(u.src) > 1:
            value = f"({scope.names[u.src[2]]} ? {value} : {self.gated_alternative(scope, u)})"
        scope.declare(u, "val", self.value_type(scope, u), value)

    def gated_alternative(self, scope: Scope, u: UOp) -> str:
        """Return the value of a LOAD whose gate is false, in the form of `load`."""
        return scope.names[u.src[1]]

    def write_store(self, scope: Scope, u: UOp) -> None:
        """Write to memory, or update it."""
        write = self.store if u.arg is None else self.update
        scope.line(write(scope, u, scope.names[u.src[0]], scope.names[u.src[1]]) + ";")

    def write_after(self, scope: Scope, u: UOp) -> None:
        """Name memory by its own name: the order of lines says which writes came before."""
        scope.names[u] = scope.names[u.src[0]]

    def write_matrix(self, scope: Scope, u: UOp) -> None:
        """Call a matrix instruction, or the load of a fragment."""
        raise NotImplementedError(f"{type(self).__name__} has no matrix instructions ({u.arg})")

    def write_nothing(self, scope: Scope, u: UOp) -> None:
        """Nodes that only hold others together."""

    # --- expressions ---

    def expression(self, scope: Scope, u: UOp) -> str:
        """Return the expression of an ALU, CAST, BITCAST, VECTORIZE or GEP node."""
        args = [scope.names[s] for s in u.src]
        if u.op in ALU:
            return self.alu(scope, u, args)
        match u.op:
            case Ops.CAST:
                return self.cast(scope, u, args[0])
            case Ops.BITCAST:
                return self.bitcast(scope, u, args[0])
            case Ops.VECTORIZE:
                return self.vector(scope, u.dtype, args)
            case _ if u.dtype.count == 1:
                return self.lane(args[0], u.arg[0])
            case _:
                return self.vector(scope, u.dtype, [self.lane(args[0], lane) for lane in u.arg])

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the expression of an ALU node on rendered sources."""
        if is_bool(u.src[-1].dtype) and u.op in _ON_BOOLS:
            return f"({args[0]}{_ON_BOOLS[u.op]}{args[1]})"
        if u.op in OPERATORS:
            return self.narrow(scope, u, f"({args[0]}{OPERATORS[u.op]}{args[1]})")
        match u.op:
            case Ops.MULACC:
                if is_float(u.dtype):
                    return self.call(scope, u, args)
                return self.narrow(scope, u, f"({args[0]}*{args[1]}+{args[2]})")
            case Ops.NEG:
                return self.narrow(scope, u, f"(-{args[0]})")
            case Ops.RECIP:
                return f"({self.const(scope, u.dtype, 1.0)}/{args[0]})"
            case Ops.WHERE:
                return f"({args[0]} ? {args[1]} : {args[2]})"
            case Ops.MAX:
                return self.maximum(scope, u, args)
            case _:
                return self.call(scope, u, args)

    def maximum(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the greater of two; a NaN in either wins.

        With a constant that is no NaN one comparison does: it is false for a NaN, which then stays.
        """
        a, b = args
        constant, x = (a, b) if is_number(u.src[0]) else (b, a)
        if not is_float(u.dtype) or is_number(u.src[0]) or is_number(u.src[1]):
            return f"({x}<{constant} ? {constant} : {x})"
        return f"(({a}>{b}) | ({a}!={a}) ? {a} : {b})"

    def call(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the call of a function of the language."""
        name = self.functions.get(u.op)
        if name is None:
            raise NotImplementedError(
                f"{type(self).__name__} has no {u.op!r}: codegen should have decomposed it"
            )
        return f"{name}({', '.join(args)})"

    def narrow(self, scope: Scope, u: UOp, text: str) -> str:
        """Wrap integers narrower than C's int, which compute as int, back to their width."""
        if u.dtype.count == 1 and u.dtype.itemsize < 4 and u.dtype.kind in ("int", "uint"):
            return f"(({self.type_name(scope, u.dtype)}){text})"
        return text


_STATEMENTS: Mapping[Ops, Callable[[CStyleRenderer, Scope, UOp], None]] = {
    Ops.PARAM: lambda r, scope, u: r.write_param(scope, u),
    Ops.DEFINE_VAR: lambda r, scope, u: r.write_variable(scope, u),
    Ops.SPECIAL: lambda r, scope, u: r.write_special(scope, u),
    Ops.CONST: lambda r, scope, u: r.write_const(scope, u),
    Ops.DEFINE_LOCAL: lambda r, scope, u: r.write_local(scope, u),
    Ops.DEFINE_ACC: lambda r, scope, u: r.write_accumulator(scope, u),
    Ops.ACCUMULATE: lambda r, scope, u: r.write_accumulate(scope, u),
    Ops.RANGE: lambda r, scope, u: r.write_range(scope, u),
    Ops.END: lambda r, scope, u: r.write_end(scope, u),
    Ops.IF: lambda r, scope, u: r.write_if(scope, u),
    Ops.ENDIF: lambda r, scope, u: r.write_end(scope, u),
    Ops.BARRIER: lambda r, scope, u: r.write_barrier(scope, u),
    Ops.COMMIT: lambda r, scope, u: r.write_nothing(scope, u),
    Ops.INDEX: lambda r, scope, u: r.write_index(scope, u),
    Ops.LOAD: lambda r, scope, u: r.write_load(scope, u),
    Ops.STORE: lambda r, scope, u: r.write_store(scope, u),
    Ops.AFTER: lambda r, scope, u: r.write_after(scope, u),
    Ops.SINK: lambda r, scope, u: r.write_nothing(scope, u),
    Ops.WMMA: lambda r, scope, u: r.write_matrix(scope, u),
    Ops.LOAD_MATRIX: lambda r, scope, u: r.write_matrix(scope, u),
}


def is_number(u: UOp) -> bool:
    """Say whether `u` is a constant other than NaN."""
    return u.op is Ops.CONST and u.arg == u.arg


def _loop_name(u: UOp) -> str:
    if not isinstance(u.arg, Axis):
        return "loop"
    return ("r" if u.arg.kind in _REDUCED else "i") + "_".join(map(str, u.arg.ident))
