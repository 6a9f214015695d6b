"""CAST and BITCAST as instructions, found by the families of both types.

float16 and bfloat16 convert through float32: codegen rounds what that does not hold before it gets here.

Source: PTX ISA, section "Data Movement and Conversion Instructions: cvt".
"""

from plugrad.dtype import DType, dtypes, is_bool, is_float, is_unsigned
from plugrad.uop import UOp
from plugrad_cuda.ptx.arithmetic import narrowed
from plugrad_cuda.ptx.builder import PtxBuilder
from plugrad_cuda.ptx.types import HALVES, is_narrow, literal, number_type, register_bits


def write_cast(body: PtxBuilder, u: UOp) -> str:
    """Write the CAST `u` and return its operand."""
    (x,) = u.src
    source, to, value = x.dtype, u.dtype, body.copied(x)
    if source is to:
        return value
    if is_bool(source):
        return body.select(to, value, literal(to, 1), literal(to, 0))
    value = body.in_register(source, value)
    if source in HALVES:
        value, source = _float_of_half(body, source, value), dtypes.float32
    if is_bool(to):
        comparison = "neu" if is_float(source) else "ne"
        return body.test(f"{comparison}.{number_type(source)}", value, literal(source, 0))
    if to in HALVES:
        return _half_of_float(body, to, _number_of(body, source, dtypes.float32, value))
    return _number_of(body, source, to, value)


def _number_of(body: PtxBuilder, source: DType, to: DType, value: str) -> str:
    if source is to:
        return value
    if is_float(source) or is_float(to):
        return _through_a_float(body, source, to, value)
    return integer_of(body, source, to, value)


def integer_of(body: PtxBuilder, source: DType, to: DType, value: str) -> str:
    """Return an integer in another integer type: extended by its own sign, or wrapped."""
    if register_bits(to) != register_bits(source):
        wide = number_type(source) if register_bits(to) > register_bits(source) else number_type(to)
        value = body.value(to, f"cvt.{_resized(wide, to)}.{_resized(wide, source)}", value)
    fits = to.itemsize > source.itemsize and (is_unsigned(source) or not is_unsigned(to))
    return value if fits else narrowed(body, to, value)


def _resized(number: str, dtype: DType) -> str:
    return f"{number[0]}{register_bits(dtype)}"


def _through_a_float(body: PtxBuilder, source: DType, to: DType, value: str) -> str:
    if is_float(source) and is_float(to):
        rounding = ".rn" if to.itemsize < source.itemsize else ""
    else:
        rounding = ".rzi" if is_float(source) else ".rn"
    # to small types through int32, so that they wrap: the instruction itself saturates
    number = "s32" if is_narrow(to) else number_type(to)
    return narrowed(body, to, body.value(to, f"cvt{rounding}.{number}.{number_type(source)}", value))


def _float_of_half(body: PtxBuilder, source: DType, value: str) -> str:
    if source is dtypes.float16:
        return body.value(dtypes.float32, "cvt.f32.f16", value)
    wide = body.value(dtypes.uint32, "cvt.u32.u16", value)
    return body.value(dtypes.float32, "mov.b32", body.value(dtypes.uint32, "shl.b32", wide, "16"))


def _half_of_float(body: PtxBuilder, to: DType, value: str) -> str:
    if to is dtypes.float16:
        return body.value(to, "cvt.rn.f16.f32", value)
    if body.isa.has_bfloat16:
        return body.value(to, "cvt.rn.bf16.f32", value)
    return _bfloat_by_integers(body, value)


def _bfloat_by_integers(body: PtxBuilder, value: str) -> str:
    """Write the rounding of a float's bits to their upper half: nearest, ties to even.

    NaN becomes 0x7fff, as the instruction of newer GPUs gives it.
    """
    u32 = dtypes.uint32
    bits = body.value(u32, "mov.b32", value)
    last = body.value(u32, "bfe.u32", bits, "16", "1")
    carried = body.value(u32, "add.u32", body.value(u32, "add.u32", bits, "32767"), last)
    rounded = body.value(u32, "shr.u32", carried, "16")
    is_nan = body.test("nan.f32", value, value)
    return body.value(dtypes.bfloat16, "cvt.u16.u32", body.select(u32, is_nan, "32767", rounded))


def write_bitcast(body: PtxBuilder, u: UOp) -> str:
    """Write the BITCAST `u` and return its operand.

    A bool is a byte of 0 or 1.
    """
    (x,) = u.src
    source, to, value = x.dtype, u.dtype, body.copied(x)
    if is_bool(source):
        value, source = bytes_of_bool(body, value), dtypes.uint8
    if is_bool(to):
        return bool_of_byte(body, value)
    value = body.in_register(source, value)
    if source in HALVES and to not in HALVES:
        kind = "s" if to.kind == "int" else "u"
        return body.value(to, f"cvt.{kind}32.{kind}16", value)
    if to in HALVES and source not in HALVES:
        return body.value(to, "cvt.u16.u32", value)
    if is_float(source) or is_float(to):
        return body.value(to, f"mov.b{register_bits(to)}", value)
    return narrowed(body, to, value)


def bytes_of_bool(body: PtxBuilder, predicate: str) -> str:
    """Return the byte that memory holds for a predicate."""
    return body.select(dtypes.uint8, predicate, "1", "0")


def bool_of_byte(body: PtxBuilder, value: str) -> str:
    """Return the predicate of a byte: truth is what is not 0."""
    return body.test("ne.u32", value, "0")
