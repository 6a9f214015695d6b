"""EXP, EXP2, LOG2, SIN, COS, POW and FMOD, each to a stated number of ULPs.

float16 and bfloat16 are computed in float32.
"""

from plugrad.codegen.decompositions.exp_log import exp, exp2, log2
from plugrad.codegen.decompositions.power import pow_
from plugrad.codegen.decompositions.remainder import fmod
from plugrad.codegen.decompositions.sine import cos, cos_by_vectors, sin, sin_by_vectors
from plugrad.dtype import dtypes
from plugrad.uop import Ops, PatternMatcher, UOp, UPat, pvars
from plugrad.uop.ops import BINARY
from plugrad.uop.rewrite import RuleFunction

WIDE = (dtypes.float32, dtypes.float64)
SMALL = (dtypes.float16, dtypes.bfloat16)
x, y = pvars("x y")


def in_float32(u: UOp) -> UOp:
    """Return the op computed in float32 and rounded back."""
    return u.src[0].cast(dtypes.float32).alu(u.op, *[s.cast(dtypes.float32) for s in u.src[1:]]).cast(u.dtype)


def _pow_of_constant(x: UOp, c: UOp) -> UOp | None:
    """Return short forms with the special cases of pow."""
    if c.arg == -1.0:
        return x.reciprocal()
    square = x * x
    return {0.0: x.const_like(1.0), 1.0: x, 2.0: square, 3.0: square * x, 4.0: square * square}.get(c.arg)


def by_width(op: Ops, function: RuleFunction) -> PatternMatcher:
    """Return the rules of an op: `function` for wide floats, small ones in float32."""
    sources = (x, y) if op in BINARY else (x,)
    return PatternMatcher((UPat(op, SMALL, name="u"), in_float32), (UPat(op, WIDE, sources), function))


pm_pow_of_constant = PatternMatcher((UPat(Ops.POW, (*SMALL, *WIDE), (x, UPat.cvar("c"))), _pow_of_constant))

TABLES = {
    Ops.EXP: by_width(Ops.EXP, exp),
    Ops.EXP2: by_width(Ops.EXP2, exp2),
    Ops.LOG2: by_width(Ops.LOG2, log2),
    Ops.SIN: by_width(Ops.SIN, sin),
    Ops.COS: by_width(Ops.COS, cos),
    Ops.FMOD: by_width(Ops.FMOD, fmod),
    Ops.POW: pm_pow_of_constant + by_width(Ops.POW, pow_),
}

#: where vectors multiply no integers of 64 bits
TABLES_OF_VECTORS = {Ops.SIN: by_width(Ops.SIN, sin_by_vectors), Ops.COS: by_width(Ops.COS, cos_by_vectors)}
