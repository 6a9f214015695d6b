"""EXP, EXP2, LOG2, SIN, COS, POW and FMOD, each to a stated number of ULPs.

float16 and bfloat16 are computed in float32.
"""

from plugrad.codegen.decompositions.exp_log import exp, exp2, log2
from plugrad.codegen.decompositions.power import pow_
from plugrad.codegen.decompositions.remainder import fmod
from plugrad.codegen.decompositions.sine import cos, sin
from plugrad.dtype import dtypes
from plugrad.target import Capabilities
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pvars

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
    return {
        0.0: x.const_like(1.0),
        1.0: x,
        2.0: square,
        3.0: square * x,
        4.0: square * square,
    }.get(c.arg)


pm_exp = PatternMatcher(
    (UPat(Ops.EXP, SMALL, name="u"), in_float32),
    (UPat(Ops.EXP, WIDE, (x,)), exp),
)
pm_exp2 = PatternMatcher(
    (UPat(Ops.EXP2, SMALL, name="u"), in_float32),
    (UPat(Ops.EXP2, WIDE, (x,)), exp2),
)
pm_log2 = PatternMatcher(
    (UPat(Ops.LOG2, SMALL, name="u"), in_float32),
    (UPat(Ops.LOG2, WIDE, (x,)), log2),
)
pm_sin = PatternMatcher(
    (UPat(Ops.SIN, SMALL, name="u"), in_float32),
    (UPat(Ops.SIN, WIDE, (x,)), sin),
)
pm_cos = PatternMatcher(
    (UPat(Ops.COS, SMALL, name="u"), in_float32),
    (UPat(Ops.COS, WIDE, (x,)), cos),
)
pm_fmod = PatternMatcher(
    (UPat(Ops.FMOD, SMALL, name="u"), in_float32),
    (UPat(Ops.FMOD, WIDE, (x, y)), fmod),
)
pm_pow = PatternMatcher(
    (UPat(Ops.POW, (*SMALL, *WIDE), (x, UPat.cvar("c"))), _pow_of_constant),
    (UPat(Ops.POW, SMALL, name="u"), in_float32),
    (UPat(Ops.POW, WIDE, (x, y)), pow_),
)
_TABLES = {
    Ops.EXP: pm_exp,
    Ops.EXP2: pm_exp2,
    Ops.LOG2: pm_log2,
    Ops.SIN: pm_sin,
    Ops.COS: pm_cos,
    Ops.FMOD: pm_fmod,
    Ops.POW: pm_pow,
}


def rules(capabilities: Capabilities) -> PatternMatcher:
    """Return the rules for functions that are not native."""
    tables = (table for op, table in _TABLES.items() if op.name not in capabilities.native_ops)
    return sum(tables, PatternMatcher())
