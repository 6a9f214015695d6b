"""Addresses, loads, stores and updates: each access as wide as its address allows.

Values of less than 4 bytes are moved as parts of 32-bit words, which accesses take up to four of.

Source: PTX ISA, sections "State Spaces", "Addresses as Operands", "Data Movement: ld, st" and "red".
"""

from collections.abc import Sequence

from plugrad.dtype import DType, dtypes, is_bool
from plugrad.renderer.scope import buffer_of
from plugrad.uop import Ops, UOp
from plugrad_cuda.layout import is_aligned
from plugrad_cuda.ptx.builder import Address, PtxBuilder
from plugrad_cuda.ptx.conversions import bool_of_byte, bytes_of_bool, integer_of
from plugrad_cuda.ptx.types import HALVES, is_literal, memory_type, plain_type

_WORD = dtypes.uint32
_FARTHEST = 1 << 22  # offsets that fit into an instruction of the GPU


def write_index(body: PtxBuilder, u: UOp) -> None:
    """Find the address of an INDEX; constant parts of the index become its offset."""
    buffer, (index, offset) = buffer_of(u), _without_constant(u)
    space, base, _ = body.places[buffer]
    if index is None:
        body.places[u] = Address(space, base, offset)
        return
    address = body.addresses.get((buffer, index))
    if address is None:
        address = body.addresses[buffer, index] = _address(body, space, base, index, buffer.dtype.itemsize)
    body.places[u] = Address(space, address, offset)


def _without_constant(u: UOp) -> tuple[UOp | None, int]:
    """Return the index of an INDEX without its constant term, and that term in bytes."""
    index, itemsize = u.src[1], u.src[0].dtype.itemsize
    if index.op is Ops.CONST and index.arg * itemsize < _FARTHEST:
        return None, index.arg * itemsize
    if index.op is Ops.ADD and index.src[1].op is Ops.CONST:
        offset = index.src[1].arg * itemsize
        if abs(offset) < _FARTHEST:
            return index.src[0], offset
    return index, 0


def _address(body: PtxBuilder, space: str, base: str, index: UOp, itemsize: int) -> str:
    value = body.read(index)
    if space == "shared":
        value = integer_of(body, index.dtype, dtypes.int32, value)
        return body.value(dtypes.int32, "mad.lo.s32", value, str(itemsize), base)
    wide = "mad.lo.s64" if index.dtype is dtypes.int64 else "mad.wide.s32"
    return body.value(dtypes.int64, wide, value, str(itemsize), base)


def write_load(body: PtxBuilder, u: UOp) -> None:
    """Write a LOAD; where its gate is closed it reads nothing, and gives the alternative."""
    index, *gated = u.src
    dtype, place = u.dtype.scalar(), body.places[index]
    others = [""] * u.dtype.count
    guard = ""
    if gated:
        other, gate = gated
        others = list(body.values[other])
        if is_bool(dtype):
            others = [bytes_of_bool(body, lane) for lane in others]
        guard = f"@{body.read(gate)} "
    stored = dtypes.uint8 if is_bool(dtype) else dtype
    count = _lanes_at_once(body, index, u.dtype)
    lanes: list[str] = []
    for first in range(0, u.dtype.count, count):
        there = place._replace(offset=place.offset + first * stored.itemsize)
        lanes += _read(body, guard, there, stored, others[first : first + count])
    body.values[u] = tuple(bool_of_byte(body, lane) if is_bool(dtype) else lane for lane in lanes)


def write_store(body: PtxBuilder, u: UOp) -> None:
    """Write a STORE: to memory, or an update that gives nothing back."""
    place, stored = body.places[u.src[0]], u.src[1].dtype
    if u.arg is not None:
        # there is no sum of s64: those of both signs are the same bits
        kind = memory_type(dtypes.uint64 if u.arg is Ops.ADD and stored is dtypes.int64 else stored)
        word = u.arg.name.lower()
        body.line(f"red.{place.space}.{word}.{kind} {_bracketed(place)}, {body.read(u.src[1])}")
        return
    dtype, lanes = stored.scalar(), list(body.values[u.src[1]])
    if is_bool(dtype):
        dtype, lanes = dtypes.uint8, [bytes_of_bool(body, lane) for lane in lanes]
    count = _lanes_at_once(body, u.src[0], stored)
    for first in range(0, stored.count, count):
        there = place._replace(offset=place.offset + first * dtype.itemsize)
        kind, operands = _packed(body, dtype, lanes[first : first + count])
        body.line(f"st.{there.space}{_width(operands)}.{kind} {_bracketed(there)}, {_operand(operands)}")


def _lanes_at_once(body: PtxBuilder, place: UOp, dtype: DType) -> int:
    """Return the number of lanes one access moves: all, or one for scattered lanes."""
    is_wide = dtype.count > 1 and not body.is_unaligned and is_aligned(place, dtype.count)
    return dtype.count if is_wide else 1


def _read(body: PtxBuilder, guard: str, place: Address, dtype: DType, others: Sequence[str]) -> list[str]:
    """Write one access and return the value of each lane.

    Under a guard that is false, the values are `others`.
    """
    if guard:
        kind, initial = _packed(body, dtype, others)
        held = _WORD if _is_packed(dtype, len(others)) else dtype
        read = [body.moved(held, operand) for operand in initial]
    else:
        kind, read = _fresh(body, dtype, len(others))
    body.line(f"{guard}ld.{place.space}{_width(read)}.{kind} {_operand(read)}, {_bracketed(place)}")
    if not _is_packed(dtype, len(others)):
        return read
    return [lane for word in read for lane in _unpack_word(body, dtype, word)]


def _fresh(body: PtxBuilder, dtype: DType, count: int) -> tuple[str, list[str]]:
    """Return the type of an access, and the registers that it fills."""
    if not _is_packed(dtype, count):
        return memory_type(dtype), [body.register(dtype) for _ in range(count)]
    return plain_type(_WORD), [body.register(_WORD) for _ in range(count * dtype.itemsize // _WORD.itemsize)]


def _is_packed(dtype: DType, count: int) -> bool:
    return dtype.itemsize < _WORD.itemsize <= dtype.itemsize * count


def _packed(body: PtxBuilder, dtype: DType, lanes: Sequence[str]) -> tuple[str, list[str]]:
    """Return the type of an access, and the operands that it writes."""
    if not _is_packed(dtype, len(lanes)):
        return memory_type(dtype), list(lanes)
    return plain_type(_WORD), words_of(body, dtype, lanes)


def words_of(body: PtxBuilder, dtype: DType, lanes: Sequence[str]) -> list[str]:
    """Return the 32-bit words that hold lanes, each word's first lane lowest."""
    count = _WORD.itemsize // dtype.itemsize
    return [_word(body, dtype, lanes[first : first + count]) for first in range(0, len(lanes), count)]


def _word(body: PtxBuilder, dtype: DType, lanes: Sequence[str]) -> str:
    bits = dtype.itemsize * 8
    if all(map(is_literal, lanes)):
        parts = (int(lane) % (1 << bits) << bits * i for i, lane in enumerate(lanes))
        return str(sum(parts))
    known = body.words.get(tuple(lanes))
    if known is None:
        known = body.words[tuple(lanes)] = _packed_word(body, dtype, lanes)
    return known


def _packed_word(body: PtxBuilder, dtype: DType, lanes: Sequence[str]) -> str:
    if dtype in HALVES:
        return body.value(_WORD, "mov.b32", _operand(lanes))
    bits = dtype.itemsize * 8
    word = lanes[0]
    for i, lane in enumerate(lanes[1:], 1):
        word = body.value(_WORD, "bfi.b32", lane, word, str(bits * i), str(bits))
    return word


def _unpack_word(body: PtxBuilder, dtype: DType, word: str) -> list[str]:
    """Return the lanes that a word holds."""
    if dtype in HALVES:
        lanes = [body.register(dtype), body.register(dtype)]
        body.line(f"mov.b32 {_operand(lanes)}, {word}")
    else:
        bits = dtype.itemsize * 8
        extract = "bfe.s32" if dtype.kind == "int" else "bfe.u32"
        lanes = [body.value(dtype, extract, word, str(at), str(bits)) for at in range(0, 32, bits)]
    body.words[tuple(lanes)] = word
    return lanes


def _width(operands: Sequence[str]) -> str:
    return f".v{len(operands)}" if len(operands) > 1 else ""


def _operand(operands: Sequence[str]) -> str:
    return operands[0] if len(operands) == 1 else f"{{{', '.join(operands)}}}"


def _bracketed(place: Address) -> str:
    return f"[{place.base}{f'+{place.offset}' if place.offset else ''}]"
