"""From a linear program to LLVM's language: loops and conditions as blocks, memory, vectors.

A kernel is `void NAME(ptr buffers, ptr values, i64 piece)`: addresses by slot, 64-bit scalars in the order of
their names, and which piece of the THREAD axis to do. It hands them to a function with a parameter for each,
whose buffers are `noalias`: no buffer of a kernel overlaps one that it writes.

Source: LLVM Language Reference Manual.
"""

from collections.abc import Callable, Mapping, Sequence

from plugrad.dtype import STORABLE, DType, dtypes, is_bool
from plugrad.renderer.base import Renderer
from plugrad.target import Capabilities, Target
from plugrad.uop.ops import ALU, Ops
from plugrad.uop.uop import UOp
from plugrad_llvm.arithmetic import NATIVE_OPS, convert, write_alu, write_bitcast, write_cast
from plugrad_llvm.body import Body
from plugrad_llvm.types import lanes, literal, memory_type, type_name


def llvm_capabilities(target: Target) -> Capabilities:
    """Return the capabilities of the machine that the probe described.

    Example:
        >>> llvm_capabilities(Target("LLVM", detail=(("vector_bits", "256"),))).lanes(dtypes.float32)
        8
    """
    bits = int(target.get("vector_bits", "128"))
    absent = frozenset[DType]() if target.get("float16", "1") else frozenset({dtypes.float16})
    storage = frozenset(STORABLE) - absent
    return Capabilities(
        storage_dtypes=storage,
        compute_dtypes=storage - {dtypes.float16, dtypes.bfloat16},
        vector_bits=bits,
        vector_registers=int(target.get("vector_registers", "16")),
        max_load_bits=bits,
        threads=int(target.get("threads", "1")),
        native_ops=NATIVE_OPS,
    )


class LlvmRenderer(Renderer):
    """Writes kernels in LLVM's language.

    Args:
        target: what the probe found.

    Example:
        >>> LlvmRenderer(Target("LLVM")).capabilities.vector_bits
        128
    """

    def __init__(self, target: Target) -> None:
        self.capabilities = llvm_capabilities(target)

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return a module of two functions: the kernel, and its body."""
        body = Body()
        for u in uops:
            write(body, u)
        parameters = [u for u in sorted(uops, key=_position) if u.op in (Ops.PARAM, Ops.DEFINE_VAR)]
        declared = ", ".join(f"{_parameter_type(u)} {body.names[u]}" for u in parameters)
        # the widest registers are slower on some processors, and LLVM splits vectors there unless told
        attributes = f'nounwind "prefer-vector-width"="{self.capabilities.vector_bits}"'
        return "\n".join(
            (
                f"define internal void @{name}.body({declared + ', ' if declared else ''}i64 %piece) #0 {{",
                *("entry:", *body.entry, *body.lines),
                *("  ret void", "}", ""),
                *_kernel(name, parameters, body),
                *("", f"attributes #0 = {{ {attributes} }}", ""),
            )
        )


def _kernel(name: str, parameters: Sequence[UOp], body: Body) -> list[str]:
    """Return the function that is launched: it unpacks the arguments."""
    kernel, arguments, scalars = Body(), list[str](), 0
    for u in parameters:
        if u.op is Ops.PARAM:
            place = kernel.value(f"getelementptr ptr, ptr %buffers, i64 {u.arg[0]}")
            arguments.append(f"ptr {kernel.value(f'load ptr, ptr {place}')}")
        else:
            place = kernel.value(f"getelementptr i64, ptr %values, i64 {scalars}")
            value = kernel.value(f"load i64, ptr {place}")
            arguments.append(f"{type_name(u.dtype)} {convert(kernel, value, dtypes.int64, u.dtype)}")
            scalars += 1
    call = f"  call void @{name}.body({', '.join([*arguments, 'i64 %piece'])})"
    head = f"define void @{name}(ptr %buffers, ptr %values, i64 %piece) #0 {{"
    return [head, *kernel.lines, call, "  ret void", "}"]


def _position(u: UOp) -> tuple[int, int, str]:
    """Order buffers by slot, then scalars by name."""
    return (0, u.arg[0], "") if u.op is Ops.PARAM else (1, 0, u.arg[0] if u.op is Ops.DEFINE_VAR else "")


def _parameter_type(u: UOp) -> str:
    return "ptr noalias" if u.op is Ops.PARAM else type_name(u.dtype)


def write(body: Body, u: UOp) -> None:
    """Write one node of a linear program.

    Raises:
        NotImplementedError: there is no rule for it.
    """
    rule = write_alu if u.op in ALU else _RULES.get(u.op)
    if rule is None:
        raise NotImplementedError(f"LlvmRenderer has no rule for {u.op!r}: no such op in a linear program")
    name = rule(body, u)
    if name is not None:
        body.names[u] = name


# --- memory ---


def _param(body: Body, u: UOp) -> str:
    return f"%data{u.arg[0]}"


def _variable(body: Body, u: UOp) -> str:
    return f"%{body.fresh('n')}"


def _local(body: Body, u: UOp) -> str:
    """Make a tile that values are staged in, aligned for any vector."""
    name = f"%local{u.arg[0]}"
    body.entry.append(f"  {name} = alloca [{u.arg[1]} x {memory_type(u.dtype.scalar())}], align 64")
    return name


def _same_memory(body: Body, u: UOp) -> str:
    return body.names[u.src[0]]


def _index(body: Body, u: UOp) -> str:
    buffer, index = u.src
    element = memory_type(buffer.dtype.scalar())
    return body.value(f"getelementptr {element}, ptr {body.names[buffer]}, {body.typed(index)}")


def _load(body: Body, u: UOp) -> str:
    if len(u.src) == 1:
        return _load_now(body, u)
    _, other, gate = u.src
    there, after = body.fresh("open"), body.fresh("after")
    otherwise, before = body.read(other), body.block
    body.line(f"br {body.typed(gate)}, label %{there}, label %{after}")
    body.enter(there)
    value = _load_now(body, u)
    body.open(after)
    return body.value(f"phi {type_name(u.dtype)} [ {value}, %{there} ], [ {otherwise}, %{before} ]")


def _load_now(body: Body, u: UOp) -> str:
    """Write a load that needs only its element's alignment; truth is not 0."""
    kind = memory_type(u.dtype)
    value = body.value(f"load {kind}, ptr {body.names[u.src[0]]}, align {u.dtype.itemsize}")
    return convert(body, value, dtypes.uint8.vec(u.dtype.count), u.dtype) if is_bool(u.dtype) else value


def _store(body: Body, u: UOp) -> None:
    place, stored = u.src
    value, dtype = body.read(stored), stored.dtype
    if is_bool(dtype):
        value = convert(body, value, dtype, dtypes.uint8.vec(dtype.count))
    body.line(f"store {memory_type(dtype)} {value}, ptr {body.names[place]}, align {dtype.itemsize}")


# --- values ---


def _constant(body: Body, u: UOp) -> str:
    return literal(u.dtype, u.arg)


def _special(body: Body, u: UOp) -> str:
    assert u.arg == "thread", f"the capabilities have no launch axis {u.arg}"
    return convert(body, "%piece", dtypes.int64, u.dtype)


def _vector(body: Body, u: UOp) -> str:
    kind, value = type_name(u.dtype), "poison"
    if len(set(u.src)) == 1:
        first = body.value(f"insertelement {kind} poison, {body.typed(u.src[0])}, i64 0")
        return _shuffle(body, kind, first, [0] * u.dtype.count)
    for lane, s in enumerate(u.src):
        value = body.value(f"insertelement {kind} {value}, {body.typed(s)}, i64 {lane}")
    return value


def _lanes(body: Body, u: UOp) -> str:
    (x,) = u.src
    if u.dtype.count == 1:
        return body.value(f"extractelement {body.typed(x)}, i64 {u.arg[0]}")
    return _shuffle(body, type_name(x.dtype), body.read(x), u.arg)


def _shuffle(body: Body, kind: str, vector: str, chosen: Sequence[int]) -> str:
    mask = ", ".join(f"i32 {lane}" for lane in chosen)
    return body.value(f"shufflevector {kind} {vector}, {kind} poison, {lanes('i32', len(chosen))} <{mask}>")


# --- registers that change, loops, conditions ---


def _register(body: Body, u: UOp) -> str:
    """Make a register in memory, which LLVM's first pass turns into values."""
    name, kind = f"%acc{u.arg}", type_name(u.dtype)
    body.entry.append(f"  {name} = alloca {kind}")
    body.line(f"store {body.typed(u.src[0])}, ptr {name}")
    return name


def _accumulate(body: Body, u: UOp) -> None:
    register, value = u.src
    body.line(f"store {body.typed(value)}, ptr {body.names[register]}")


def _loop(body: Body, u: UOp) -> str:
    """Open the blocks of a loop: its head asks whether there is one more step."""
    label, kind, size, before = body.fresh("loop"), type_name(u.dtype), body.read(u.src[0]), body.block
    body.open(label)
    body.line(f"%{label}.i = phi {kind} [ 0, %{before} ], [ %{label}.next, %{label}.turn ]")
    body.line(f"%{label}.goes = icmp slt {kind} %{label}.i, {size}")
    body.line(f"br i1 %{label}.goes, label %{label}.body, label %{label}.end")
    body.enter(f"{label}.body")
    return f"%{label}.i"


def _end_loop(body: Body, u: UOp) -> None:
    step = u.src[0]
    label = body.names[step].removeprefix("%").removesuffix(".i")
    body.open(f"{label}.turn")
    body.line(f"%{label}.next = add nuw nsw {type_name(step.dtype)} %{label}.i, 1")
    body.line(f"br label %{label}")
    body.enter(f"{label}.end")


def _condition(body: Body, u: UOp) -> str:
    label = body.fresh("if")
    body.line(f"br {body.typed(u.src[0])}, label %{label}, label %{label}.end")
    body.enter(label)
    return label


def _end_condition(body: Body, u: UOp) -> None:
    body.open(f"{body.names[u.src[0]]}.end")


def _nothing(body: Body, u: UOp) -> None:
    """There is one work-item, which waits for nobody."""


_RULES: Mapping[Ops, Callable[[Body, UOp], str | None]] = {
    Ops.PARAM: _param,
    Ops.DEFINE_VAR: _variable,
    Ops.DEFINE_LOCAL: _local,
    Ops.AFTER: _same_memory,
    Ops.INDEX: _index,
    Ops.LOAD: _load,
    Ops.STORE: _store,
    Ops.CONST: _constant,
    Ops.SPECIAL: _special,
    Ops.CAST: write_cast,
    Ops.BITCAST: write_bitcast,
    Ops.VECTORIZE: _vector,
    Ops.GEP: _lanes,
    Ops.DEFINE_ACC: _register,
    Ops.ACCUMULATE: _accumulate,
    Ops.RANGE: _loop,
    Ops.END: _end_loop,
    Ops.IF: _condition,
    Ops.ENDIF: _end_condition,
    Ops.BARRIER: _nothing,
    Ops.SINK: _nothing,
}
