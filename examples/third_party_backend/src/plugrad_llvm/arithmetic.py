"""Write each operation as LLVM instructions, by one rule an operation.

Source: LLVM Language Reference Manual, sections "Binary Operations", "Conversion Operations" and "Standard
C/C++ Library Intrinsics".
"""

from collections.abc import Callable, Mapping

from plugrad.dtype import DType, dtypes, is_bool, is_float, is_unsigned
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_llvm.body import Body
from plugrad_llvm.types import lanes, literal, suffix, type_name

Rule = Callable[[Body, UOp], str]

_ON_BOOLS = {
    Ops.ADD: "or",
    Ops.MAX: "or",
    Ops.OR: "or",
    Ops.MUL: "and",
    Ops.AND: "and",
    Ops.XOR: "xor",
    Ops.CMPNE: "icmp ne",
    Ops.CMPEQ: "icmp eq",
    Ops.CMPLT: "icmp ult",
}
_ON_FLOATS = {
    Ops.ADD: "fadd",
    Ops.SUB: "fsub",
    Ops.MUL: "fmul",
    Ops.FDIV: "fdiv",
    Ops.CMPLT: "fcmp olt",
    Ops.CMPEQ: "fcmp oeq",
    Ops.CMPNE: "fcmp une",
}
_ON_UNSIGNED = {
    Ops.ADD: "add",
    Ops.SUB: "sub",
    Ops.MUL: "mul",
    Ops.AND: "and",
    Ops.OR: "or",
    Ops.XOR: "xor",
    Ops.CMPNE: "icmp ne",
    Ops.CMPEQ: "icmp eq",
    Ops.CMPLT: "icmp ult",
}
_ON_SIGNED = {**_ON_UNSIGNED, Ops.CMPLT: "icmp slt"}


def write_alu(body: Body, u: UOp) -> str:
    """Write the operation `u` and return the name of its value.

    Raises:
        NotImplementedError: there is no such operation here: codegen should have decomposed it.
    """
    dtype = u.src[-1].dtype  # of what is compared or chosen, not of the outcome
    binary = _binary_of(dtype).get(u.op)
    if binary is not None:
        x, y = u.src
        return body.value(f"{binary} {body.typed(x)}, {body.read(y)}")
    rule = _RULES.get(u.op)
    if rule is None:
        raise NotImplementedError(f"LLVM has no {u.op!r}: codegen should have decomposed it")
    return rule(body, u)


def _binary_of(dtype: DType) -> Mapping[Ops, str]:
    if is_bool(dtype):
        return _ON_BOOLS
    if is_float(dtype):
        return _ON_FLOATS
    return _ON_UNSIGNED if is_unsigned(dtype) else _ON_SIGNED


def _negate(body: Body, u: UOp) -> str:
    (x,) = u.src
    if is_float(u.dtype):
        return body.value(f"fneg {body.typed(x)}")
    return body.value(f"sub {body.constant(u.dtype, 0)}, {body.read(x)}")


def _reciprocal(body: Body, u: UOp) -> str:
    return body.value(f"fdiv {body.constant(u.dtype, 1.0)}, {body.read(u.src[0])}")


def _call(body: Body, u: UOp, function: str) -> str:
    arguments = ", ".join(body.typed(s) for s in u.src)
    return body.value(f"call {type_name(u.dtype)} @llvm.{function}.{suffix(u.dtype)}({arguments})")


def _multiply_add(body: Body, u: UOp) -> str:
    if is_float(u.dtype):
        return _call(body, u, "fmuladd")  # one rounding where the processor does it in one instruction
    x, y, z = u.src
    product = body.value(f"mul {body.typed(x)}, {body.read(y)}")
    return body.value(f"add {type_name(u.dtype)} {product}, {body.read(z)}")


def _shift(body: Body, u: UOp) -> str:
    x, distance = u.src
    right = "lshr" if is_unsigned(u.dtype) else "ashr"
    by = convert(body, body.read(distance), distance.dtype, u.dtype)
    return body.value(f"{right if u.op is Ops.SHR else 'shl'} {body.typed(x)}, {by}")


def _divide(body: Body, u: UOp) -> str:
    """Write C's / or %, defined by 0 and by -1 too.

    Those divide by 1 instead; then by 0 gives 0 and by -1 the negative, which wraps.
    """
    x, y = u.src
    kind, prefix = type_name(u.dtype), "u" if is_unsigned(u.dtype) else "s"
    divisor = body.read(y)
    by_zero = by_minus_one = ""
    if y.op is not Ops.CONST or y.arg in (0, -1):
        by_zero = unsafe = body.value(f"icmp eq {kind} {divisor}, {literal(u.dtype, 0)}")
        if prefix == "s":
            by_minus_one = body.value(f"icmp eq {kind} {divisor}, {literal(u.dtype, -1)}")
            unsafe = body.value(f"or {_truth(u.dtype)} {by_zero}, {by_minus_one}")
        divisor = _select(body, unsafe, u.dtype, literal(u.dtype, 1), divisor)
    operation = "div" if u.op is Ops.CDIV else "rem"
    value = body.value(f"{prefix}{operation} {body.typed(x)}, {divisor}")
    if u.op is Ops.CMOD:
        return value  # the remainder by 1 is 0 already
    if by_minus_one:
        negative = body.value(f"sub {body.constant(u.dtype, 0)}, {body.read(x)}")
        value = _select(body, by_minus_one, u.dtype, negative, value)
    return _select(body, by_zero, u.dtype, literal(u.dtype, 0), value) if by_zero else value


def _maximum(body: Body, u: UOp) -> str:
    if not is_float(u.dtype):
        return _call(body, u, "umax" if is_unsigned(u.dtype) else "smax")
    # the comparison is false for NaN and so chooses y, which is right when y is the NaN
    kind, (x, y) = type_name(u.dtype), (body.read(s) for s in u.src)
    is_greater = body.value(f"fcmp ogt {kind} {x}, {y}")
    greater = _select(body, is_greater, u.dtype, x, y)
    is_nan = body.value(f"fcmp uno {kind} {x}, {x}")
    return _select(body, is_nan, u.dtype, x, greater)


def _where(body: Body, u: UOp) -> str:
    condition, x, y = u.src
    return body.value(f"select {body.typed(condition)}, {body.typed(x)}, {body.typed(y)}")


def _select(body: Body, condition: str, dtype: DType, x: str, y: str) -> str:
    kind = type_name(dtype)
    return body.value(f"select {_truth(dtype)} {condition}, {kind} {x}, {kind} {y}")


def _truth(dtype: DType) -> str:
    return lanes("i1", dtype.count)


_RULES: Mapping[Ops, Rule] = {
    Ops.NEG: _negate,
    Ops.RECIP: _reciprocal,
    Ops.SQRT: lambda body, u: _call(body, u, "sqrt"),
    Ops.TRUNC: lambda body, u: _call(body, u, "trunc"),
    Ops.MULACC: _multiply_add,
    Ops.SHL: _shift,
    Ops.SHR: _shift,
    Ops.CDIV: _divide,
    Ops.CMOD: _divide,
    Ops.MAX: _maximum,
    Ops.WHERE: _where,
}

#: What codegen need not decompose.
NATIVE_OPS = frozenset(op.name for op in (*_RULES, *_ON_FLOATS, *_ON_SIGNED))


def write_cast(body: Body, u: UOp) -> str:
    """Write the CAST `u` and return the name of its value."""
    return convert(body, body.read(u.src[0]), u.src[0].dtype, u.dtype)


def convert(body: Body, value: str, source: DType, to: DType) -> str:
    """Write the conversion of a `source` to `to`, and return the value's name."""
    if source is to:
        return value
    f32 = dtypes.float32.vec(to.count)
    if source.scalar() is dtypes.bfloat16:
        return convert(body, _float_of_bfloat(body, value, to.count), f32, to)
    if to.scalar() is dtypes.bfloat16:
        # float32 holds every number that codegen lets round to a bfloat16 in one step
        return _bfloat_of_float(body, convert(body, value, source, f32), to.count)
    if is_float(source) and not is_float(to) and not is_bool(to):
        return _int_of_float(body, value, source, to)
    if is_bool(to):
        different = "fcmp une" if is_float(source) else "icmp ne"
        return body.value(f"{different} {type_name(source)} {value}, {literal(source, 0)}")
    return _as(body, _conversion(source, to), value, source, to)


def _conversion(source: DType, to: DType) -> str:
    if type_name(source) == type_name(to):
        return "bitcast"  # signed and unsigned have one type
    is_positive = is_bool(source) or is_unsigned(source)
    if is_float(source):
        return "fpext" if to.itemsize > source.itemsize else "fptrunc"
    if is_float(to):
        return "uitofp" if is_positive else "sitofp"
    if not is_bool(source) and to.itemsize < source.itemsize:
        return "trunc"
    return "zext" if is_positive else "sext"


def _int_of_float(body: Body, value: str, source: DType, to: DType) -> str:
    """Write a conversion through a wider signed integer, so that small types wrap.

    Beyond that integer's range LLVM may do what it likes, and differently at each use; `freeze` makes it one
    number.
    """
    if to.scalar() is dtypes.uint64:
        through, instruction = to, "fptoui"
    else:
        wide = dtypes.int32 if to.itemsize < 4 or to.scalar() is dtypes.int32 else dtypes.int64
        through, instruction = wide.vec(to.count), "fptosi"
    whole = _as(body, instruction, value, source, through)
    return convert(body, body.value(f"freeze {type_name(through)} {whole}"), through, to)


def _float_of_bfloat(body: Body, value: str, count: int) -> str:
    bits, f32 = dtypes.uint32.vec(count), dtypes.float32.vec(count)
    wide = _as(body, "zext", value, dtypes.bfloat16.vec(count), bits)
    return _as(body, "bitcast", body.value(f"shl {type_name(bits)} {wide}, {literal(bits, 16)}"), bits, f32)


def _bfloat_of_float(body: Body, value: str, count: int) -> str:
    """Round a float to its upper 16 bits: ties to even, NaN stays NaN.

    Source: Intel, "BFLOAT16 - Hardware Numerics Definition" (2018).
    """
    bits, f32, to = dtypes.uint32.vec(count), dtypes.float32.vec(count), dtypes.bfloat16.vec(count)
    kind = type_name(bits)
    whole = _as(body, "bitcast", value, f32, bits)
    upper = body.value(f"lshr {kind} {whole}, {literal(bits, 16)}")
    last = body.value(f"and {kind} {upper}, {literal(bits, 1)}")
    half = body.value(f"add {kind} {last}, {literal(bits, 0x7FFF)}")
    rounded = body.value(f"lshr {kind} {body.value(f'add {kind} {whole}, {half}')}, {literal(bits, 16)}")
    quiet = body.value(f"or {kind} {upper}, {literal(bits, 0x40)}")
    is_nan = body.value(f"fcmp uno {type_name(f32)} {value}, {value}")
    return _as(body, "trunc", _select(body, is_nan, bits, quiet, rounded), bits, to)


def write_bitcast(body: Body, u: UOp) -> str:
    """Write the BITCAST `u` and return the name of its value."""
    (x,) = u.src
    value, source, to = body.read(x), x.dtype, u.dtype
    if is_bool(source):
        byte = dtypes.uint8.vec(source.count)
        value, source = _as(body, "zext", value, source, byte), byte
    if is_bool(to):
        byte = dtypes.uint8.vec(to.count)
        return convert(body, _as(body, "bitcast", value, source, byte), byte, to)
    return _as(body, "bitcast", value, source, to)


def _as(body: Body, instruction: str, value: str, source: DType, to: DType) -> str:
    return body.value(f"{instruction} {type_name(source)} {value} to {type_name(to)}")
