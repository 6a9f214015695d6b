"""Map operations to PTX instructions, by a table for each family of types.

Arithmetic names its rounding, so that nothing is contracted; only MULACC rounds once.

Source: PTX ISA, sections "Integer Arithmetic", "Floating Point", "Comparison and Selection" and "Logic and
Shift" of the instruction set.
"""

from collections.abc import Callable, Mapping

from plugrad.dtype import DType, dtypes, is_bool, is_float, is_unsigned
from plugrad.renderer.facts import is_safe_divisor
from plugrad.uop import Ops, UOp
from plugrad_cuda.ptx.builder import PtxBuilder
from plugrad_cuda.ptx.types import is_narrow, literal, number_type, register_bits

_ON_FLOATS = {
    Ops.ADD: "add.rn.{number}",
    Ops.SUB: "sub.rn.{number}",
    Ops.MUL: "mul.rn.{number}",
    Ops.FDIV: "div.rn.{number}",
    Ops.MULACC: "fma.rn.{number}",
    Ops.RECIP: "rcp.rn.{number}",
    Ops.SQRT: "sqrt.rn.{number}",
    Ops.NEG: "neg.{number}",
    Ops.TRUNC: "cvt.rzi.{number}.{number}",
    Ops.CMPLT: "setp.lt.{number}",
    Ops.CMPEQ: "setp.eq.{number}",
    Ops.CMPNE: "setp.neu.{number}",
}
_ON_INTEGERS = {
    Ops.ADD: "add.{number}",
    Ops.SUB: "sub.{number}",
    Ops.MUL: "mul.lo.{number}",
    Ops.MULACC: "mad.lo.{number}",
    Ops.NEG: "neg.s{bits}",
    Ops.MAX: "max.{number}",
    Ops.AND: "and.b{bits}",
    Ops.OR: "or.b{bits}",
    Ops.XOR: "xor.b{bits}",
    Ops.CMPLT: "setp.lt.{number}",
    Ops.CMPEQ: "setp.eq.{number}",
    Ops.CMPNE: "setp.ne.{number}",
}
_ON_BOOLS = {
    Ops.ADD: "or.pred",
    Ops.MAX: "or.pred",
    Ops.OR: "or.pred",
    Ops.MUL: "and.pred",
    Ops.AND: "and.pred",
    Ops.XOR: "xor.pred",
    Ops.CMPNE: "xor.pred",
}
# what leaves the range of an integer that does not fill its register
_WIDENING = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC, Ops.NEG, Ops.SHL, Ops.CDIV})


def write_alu(body: PtxBuilder, u: UOp) -> str:
    """Write the operation `u` and return its operand.

    Raises:
        NotImplementedError: there is no such operation here: codegen should have decomposed it.
    """
    dtype = u.src[-1].dtype  # of what is compared or chosen, not of the outcome
    instruction = _table_of(dtype).get(u.op)
    if instruction is not None:
        text = instruction.format(number=number_type(dtype), bits=register_bits(dtype))
        value = body.value(u.dtype, text, *(body.read(s) for s in u.src))
    else:
        rule = _RULES.get(u.op)
        if rule is None:
            raise NotImplementedError(f"PTX has no {u.op!r}: codegen should have decomposed it")
        value = rule(body, u)
    return narrowed(body, u.dtype, value) if u.op in _WIDENING else value


def _table_of(dtype: DType) -> Mapping[Ops, str]:
    if is_bool(dtype):
        return _ON_BOOLS
    return _ON_FLOATS if is_float(dtype) else _ON_INTEGERS


def narrowed(body: PtxBuilder, dtype: DType, value: str) -> str:
    """Return an integer wrapped to its dtype, where that does not fill the register."""
    if not is_narrow(dtype):
        return value
    bits = dtype.itemsize * 8
    if is_unsigned(dtype):
        return body.value(dtype, "and.b32", value, str((1 << bits) - 1))
    return body.value(dtype, f"cvt.s32.s{bits}", value)


def _where(body: PtxBuilder, u: UOp) -> str:
    condition, x, y = (body.read(s) for s in u.src)
    if not is_bool(u.dtype):
        return body.select(u.dtype, condition, x, y)
    # predicates cannot be chosen
    chosen = body.value(dtypes.bool, "and.pred", condition, x)
    other = body.value(dtypes.bool, "and.pred", _not(body, condition), y)
    return body.value(dtypes.bool, "or.pred", chosen, other)


def _not(body: PtxBuilder, predicate: str) -> str:
    return body.value(dtypes.bool, "not.pred", predicate)


def _bools_are_equal(body: PtxBuilder, u: UOp) -> str:
    return _not(body, body.value(dtypes.bool, "xor.pred", *(body.read(s) for s in u.src)))


def _bool_is_less(body: PtxBuilder, u: UOp) -> str:
    x, y = (body.read(s) for s in u.src)
    return body.value(dtypes.bool, "and.pred", _not(body, x), y)


def _maximum_of_floats(body: PtxBuilder, u: UOp) -> str:
    """Write a maximum in which NaN wins."""
    number, (x, y) = number_type(u.dtype), (body.read(s) for s in u.src)
    if u.dtype is dtypes.float32 and body.isa.has_nan_maximum:
        return body.value(u.dtype, "max.NaN.f32", x, y)
    # the comparison is false for NaN and so chooses y, which is right when y is the NaN
    is_nan = body.test(f"nan.{number}", x, x)
    is_chosen = body.value(dtypes.bool, f"setp.gt.or.{number}", x, y, is_nan)
    return body.select(u.dtype, is_chosen, x, y)


def _shift(body: PtxBuilder, u: UOp) -> str:
    x, distance = (body.read(s) for s in u.src)
    if u.dtype.itemsize == 8 and u.src[1].op is not Ops.CONST:
        distance = body.value(dtypes.uint32, "cvt.u32.u64", distance)
    kind = number_type(u.dtype) if u.op is Ops.SHR else f"b{register_bits(u.dtype)}"
    return body.value(u.dtype, f"{'shr' if u.op is Ops.SHR else 'shl'}.{kind}", x, distance)


def _divide(body: PtxBuilder, u: UOp) -> str:
    """Write C's / or % with defined results.

    PTX names none for a division by 0, or of the lowest number by -1.

    Those divide by 1 instead; then by 0 gives 0 and by -1 the negative, which wraps.
    """
    dtype, number = u.dtype, number_type(u.dtype)
    x, divisor = (body.read(s) for s in u.src)
    by_zero = by_minus_one = ""
    if not is_safe_divisor(u.src[1]):
        by_zero = unsafe = body.test(f"eq.{number}", divisor, "0")
        if not is_unsigned(dtype):
            by_minus_one = body.test(f"eq.{number}", divisor, "-1")
            unsafe = body.value(dtypes.bool, "or.pred", by_zero, by_minus_one)
        divisor = body.select(dtype, unsafe, "1", divisor)
    value = body.value(dtype, f"{'div' if u.op is Ops.CDIV else 'rem'}.{number}", x, divisor)
    if u.op is Ops.CMOD:
        return value  # the remainder by 1 is 0 already
    if by_minus_one:
        negative = body.value(dtype, f"neg.{number}", x)
        value = body.select(dtype, by_minus_one, negative, value)
    return body.select(dtype, by_zero, literal(dtype, 0), value) if by_zero else value


_RULES: Mapping[Ops, Callable[[PtxBuilder, UOp], str]] = {
    Ops.WHERE: _where,
    Ops.CMPEQ: _bools_are_equal,
    Ops.CMPLT: _bool_is_less,
    Ops.MAX: _maximum_of_floats,
    Ops.SHL: _shift,
    Ops.SHR: _shift,
    Ops.CDIV: _divide,
    Ops.CMOD: _divide,
}
