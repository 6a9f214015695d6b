"""Linear programs as text: one line an instruction, written for readers and read back exactly.

    kernel add_4
    0 = PARAM float32 () (0, 4)
    1 = SPECIAL int32 () 'gidx0'
    2 = INDEX float32 (0 1)

Each line is `NUMBER = OP DTYPE (SOURCES) ARG`; vectors are written `float32x4`. Nothing in a listing is ever
executed as Python, so a foreign one can at worst be refused.
"""

import ast
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import DType, parse_dtype
from plugrad.errors import DtypeError, FileFormatError, VerifyError
from plugrad.target import FragmentLoad, TensorCore
from plugrad.uop import Axis, KernelInfo, Ops, UOp

# an x before digits starts the lanes: boolx8 is eight bools
_LINE = re.compile(r"(\d+) = (\w+) ((?:[a-wyz]|x(?!\d))+\d*)(?:x(\d+))? \(([\d ]*)\)(?: (.+))?")
_SPECIAL_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@frozen
class Instruction:
    """One node of a linear program; `src` are the positions of its sources.

    `arg` is as in the node, except that a RANGE has `(ident, name of its kind)`, a STORE the name of an op, a
    PARAM None for a symbolic size, a SINK none and a WMMA its `(threads, dims, offset, bits of A, bits of B,
    bits of C)`, each pair of bits as in a Fragment.
    """

    op: Ops
    dtype: DType
    src: tuple[int, ...]
    arg: Any = None


def instructions(uops: Sequence[UOp]) -> list[Instruction]:
    """Return the program with sources by position."""
    position = {u: i for i, u in enumerate(uops)}
    out: list[Instruction] = []
    for i, u in enumerate(uops):
        late = next((s for s in u.src if position.get(s, i) >= i), None)
        if late is not None:
            raise VerifyError(
                f"linear program: {u.op.name} at {i} stands before its source {late.op.name} "
                f"(at {position.get(late, 'no place')}). Sources come first."
            )
        out.append(Instruction(u.op, u.dtype, tuple(position[s] for s in u.src), _as_literals(u.arg)))
    return out


def write(uops: Sequence[UOp], name: str) -> str:
    """Return the listing of a linear program.

    Raises:
        VerifyError: a node stands before one of its sources.
    """
    lines = [f"kernel {name}"]
    for i, ins in enumerate(instructions(uops)):
        lanes = f"x{ins.dtype.count}" if ins.dtype.count > 1 else ""
        arg = "" if ins.arg is None else f" {ins.arg!r}"
        lines.append(f"{i} = {ins.op.name} {ins.dtype.name}{lanes} ({' '.join(map(str, ins.src))}){arg}")
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[str, list[Instruction]]:
    """Return the name and the instructions of a listing.

    Raises:
        FileFormatError: it is none; the message names the line.
    """
    head, *lines = text.splitlines() or [""]
    if not head.startswith("kernel "):
        raise FileFormatError(f"a listing starts with 'kernel NAME', this one with {head[:40]!r}.")
    return head.removeprefix("kernel "), [_read_line(i, line) for i, line in enumerate(lines)]


# a listing is read when it is compiled and when it is loaded, and many lines are those of other kernels
@lru_cache(maxsize=4096)
def _read_line(number: int, line: str) -> Instruction:
    match = _LINE.fullmatch(line)
    try:
        if match is None or int(match[1]) != number or match[2] not in Ops.__members__:
            raise ValueError(f"expected '{number} = OP DTYPE (SOURCES) ARG'")
        src = tuple(map(int, match[5].split()))
        if any(s >= number for s in src):
            raise ValueError("a source stands below its user")
        dtype = parse_dtype(match[3]).vec(int(match[4] or 1))
        return Instruction(Ops[match[2]], dtype, src, _read_arg(match[6]))
    except (ValueError, SyntaxError, DtypeError) as error:
        raise FileFormatError(f"line {number + 2} of a listing: {error}, found {line[:80]!r}.") from error


def _read_arg(text: str | None) -> Any:
    if text is None:
        return None
    return _SPECIAL_FLOATS[text] if text in _SPECIAL_FLOATS else ast.literal_eval(text)


def _as_literals(arg: Any) -> Any:
    match arg:
        case Axis():
            return arg.ident, arg.kind.name
        case KernelInfo():
            return None
        case Ops():
            return arg.name
        case FragmentLoad():
            return arg.matrices, arg.is_transposed
        case TensorCore():
            return arg.threads, arg.dims, arg.offset, *((f.threads, f.places) for f in (arg.a, arg.b, arg.c))
        case (slot, UOp()):
            return slot, None
        case _:
            return arg
