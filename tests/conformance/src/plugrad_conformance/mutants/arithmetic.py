"""Renderers with a defect: they write another program than they were given."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from plugrad.codegen.decompositions.exp_log import exp2
from plugrad.dtype import DType, dtypes, is_float, is_unsigned
from plugrad.renderer.base import Renderer
from plugrad.uop import Ops, UOp
from plugrad_conformance.mutants.mutant import Mutant

#: Returns what takes the place of a node, or None.
Rule = Callable[[UOp], UOp | None]
_SIGNED = {
    dtypes.uint8: dtypes.int8,
    dtypes.uint16: dtypes.int16,
    dtypes.uint32: dtypes.int32,
    dtypes.uint64: dtypes.int64,
}


def rewrite(uops: Sequence[UOp], rule: Rule) -> list[UOp]:
    """Return a linear program in which `rule` was applied to every node, once."""
    new: dict[UOp, UOp] = {}
    out: dict[UOp, None] = {}
    for u in uops:
        same = u if all(new[s] is s for s in u.src) else u.replace(src=tuple(new[s] for s in u.src))
        changed = rule(same) or same
        for node in changed.toposort(lambda n: n not in out):
            out[node] = None
        new[u] = changed
    return list(out)


class RewritingRenderer(Renderer):
    """A renderer that changes programs before it writes them.

    Args:
        inner: what writes them.
        change: from the program to another.
        native: ops that it claims to have, so that they reach it.
    """

    def __init__(
        self, inner: Renderer, change: Callable[[Sequence[UOp]], list[UOp]], native: Sequence[str] = ()
    ) -> None:
        self.inner = inner
        self.change = change
        self.extra_rules = inner.extra_rules
        self.capabilities = replace(
            inner.capabilities, native_ops=inner.capabilities.native_ops | set(native)
        )

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Write the changed program."""
        return self.inner.render(self.change(uops), name)


def _by_rule(rule: Rule, *native: str) -> Callable[[Renderer], Renderer]:
    return lambda inner: RewritingRenderer(inner, functools.partial(rewrite, rule=rule), native)


def _is(u: UOp, op: Ops, *kinds: str) -> bool:
    return u.op is op and u.src[0].dtype.kind in kinds


def _saturating_add(u: UOp) -> UOp | None:
    if u.op is not Ops.ADD or u.dtype is not dtypes.int32:
        return None
    wide = u.src[0].cast(dtypes.int64).alu(Ops.ADD, u.src[1].cast(dtypes.int64))
    low, high = (UOp.const(dtypes.int64, v) for v in (-(2**31), 2**31 - 1))
    clamped = wide.alu(Ops.CMPLT, low).where(low, high.alu(Ops.CMPLT, wide).where(high, wide))
    return clamped.cast(dtypes.int32)


def _truncating_division(u: UOp) -> UOp | None:
    return u.src[0].alu(Ops.CDIV, u.src[1]) if _is(u, Ops.FLOORDIV, "int") else None


def _remainder_of_c(u: UOp) -> UOp | None:
    return u.src[0].alu(Ops.CMOD, u.src[1]) if _is(u, Ops.FLOORMOD, "int") else None


def _logical_shift(u: UOp) -> UOp | None:
    if not _is(u, Ops.SHR, "int") or u.dtype not in _SIGNED.values():
        return None
    unsigned = {v: k for k, v in _SIGNED.items()}[u.dtype]
    return u.src[0].bitcast(unsigned).alu(Ops.SHR, u.src[1].cast(unsigned)).bitcast(u.dtype)


def _short_shift(u: UOp) -> UOp | None:
    """Mask the amount of a shift with one bit too few."""
    if not _is(u, Ops.SHL, "int", "uint"):
        return None
    amount = u.src[1].alu(Ops.AND, u.src[1].const_like(u.dtype.itemsize * 4 - 1))
    return u.src[0].alu(Ops.SHL, amount)


def _accumulates_in_half(uops: Sequence[UOp]) -> list[UOp]:
    if not any(u.op is Ops.PARAM and u.dtype is dtypes.float16 for u in uops):
        return list(uops)

    def rule(u: UOp) -> UOp | None:
        if u.op is not Ops.ACCUMULATE or u.src[1].dtype is not dtypes.float32:
            return None
        return u.replace(src=(u.src[0], u.src[1].cast(dtypes.float16).cast(dtypes.float32)))

    return rewrite(uops, rule)


def _flushes(u: UOp) -> UOp | None:
    if u.op not in (Ops.ADD, Ops.MUL) or u.dtype is not dtypes.float32:
        return None
    tiny, zero = u.const_like(2.0**-126), u.const_like(0.0)
    is_small = u.alu(Ops.CMPLT, tiny).alu(Ops.AND, u.const_like(-(2.0**-126)).alu(Ops.CMPLT, u))
    return is_small.where(zero, u)


def _max_by_less(u: UOp) -> UOp | None:
    if u.op is not Ops.MAX or not is_float(u.dtype):
        return None
    return u.src[0].alu(Ops.CMPLT, u.src[1]).where(u.src[1], u.src[0])


def _clamped_exp2(u: UOp) -> UOp | None:
    if u.op is not Ops.EXP2 or u.dtype is not dtypes.float32:
        return None
    lowest = u.const_like(-126.0)
    return exp2(u.src[0].alu(Ops.CMPLT, lowest).where(lowest, u.src[0]))


def _bool_as_two(u: UOp) -> UOp | None:
    if u.op is not Ops.STORE or u.src[1].dtype is not dtypes.bool or u.src[0].src[0].op is not Ops.PARAM:
        return None
    param = u.src[0].src[0].replace(dtype=dtypes.uint8)
    place = u.src[0].replace(dtype=dtypes.uint8, src=(param, *u.src[0].src[1:]))
    two, zero = (UOp.const(dtypes.uint8, v) for v in (2, 0))
    return u.replace(src=(place, u.src[1].where(two, zero), *u.src[2:]))


def _truncated_bfloat16(u: UOp) -> UOp | None:
    if u.op is not Ops.CAST or u.dtype is not dtypes.bfloat16 or u.src[0].dtype is not dtypes.float32:
        return None
    bits = u.src[0].bitcast(dtypes.uint32)
    return bits.alu(Ops.SHR, bits.const_like(16)).cast(dtypes.uint16).bitcast(dtypes.bfloat16)


def _rounding_cast(u: UOp) -> UOp | None:
    if u.op is not Ops.CAST or u.src[0].dtype is not dtypes.float32 or u.dtype is not dtypes.int32:
        return None
    return u.replace(src=(u.src[0].alu(Ops.ADD, u.src[0].const_like(0.5)),))


def _signed_compare(u: UOp) -> UOp | None:
    if u.op is not Ops.CMPLT or not is_unsigned(u.src[0].dtype):
        return None
    signed: DType = _SIGNED[u.src[0].dtype]
    return u.src[0].bitcast(signed).alu(Ops.CMPLT, u.src[1].bitcast(signed))


def _signed_to_float(u: UOp) -> UOp | None:
    if u.op is not Ops.CAST or u.src[0].dtype is not dtypes.uint64 or not is_float(u.dtype):
        return None
    return u.replace(src=(u.src[0].bitcast(dtypes.int64),))


def _approximate_sqrt(u: UOp) -> UOp | None:
    """Off by a few hundred units: an estimate without its Newton step."""
    if u.op is not Ops.SQRT or u.dtype is not dtypes.float32:
        return None
    return u.alu(Ops.MUL, u.const_like(1.00002))


def _zero_without_sign(u: UOp) -> UOp | None:
    return u.const_like(0.0).alu(Ops.SUB, u.src[0]) if _is(u, Ops.NEG, "float") else None


def _ungated(u: UOp) -> UOp | None:
    return u.replace(src=u.src[:1]) if u.op is Ops.LOAD and len(u.src) > 1 else None


def _no_barriers(uops: Sequence[UOp]) -> list[UOp]:
    """Leave barriers out, and delay the writes before them to the end."""
    if not any(u.op is Ops.BARRIER for u in uops):
        return list(uops)
    late = [u for u in uops if u.op is Ops.STORE and u.src[0].src[0].op is Ops.DEFINE_LOCAL]
    kept = rewrite(uops, lambda u: u.src[0] if u.op is Ops.AFTER else None)
    kept = [u for u in kept if u not in late and u.op is not Ops.BARRIER]
    at = next(i for i, u in enumerate(kept) if u.op is Ops.STORE)
    return [*kept[:at], *late, *kept[at:]]


_CORE = "core/elementwise/"
_CASTS = "core/casts/"
_Row = tuple[str, str, tuple[str, ...], Callable[[Any], Any]]
_ROWS: tuple[_Row, ...] = (
    (
        "int-add-saturates",
        "int32 addition stops at the ends of its range",
        (_CORE + "add-int32",),
        _by_rule(_saturating_add),
    ),
    (
        "division-truncates",
        "-7 // 2 is -3",
        (_CORE + "floordiv-int32",),
        _by_rule(_truncating_division, "FLOORDIV"),
    ),
    ("remainder-of-c", "-7 % 2 is -1", (_CORE + "mod-int32",), _by_rule(_remainder_of_c, "FLOORMOD")),
    (
        "shift-right-is-logical",
        "negative numbers lose their sign in >>",
        (_CORE + "rshift-int32",),
        _by_rule(_logical_shift),
    ),
    (
        "shift-amount-too-short",
        "<< by half the width or more shifts by less",
        (_CORE + "lshift-int32",),
        _by_rule(_short_shift),
    ),
    (
        "half-accumulation",
        "sums of float16 are kept in float16",
        ("core/reductions/half-accumulates-wide-float16",),
        lambda inner: RewritingRenderer(inner, _accumulates_in_half),
    ),
    (
        "subnormals-flushed",
        "float32 results below the normal numbers are 0",
        (_CORE + "subnormals-float32",),
        _by_rule(_flushes),
    ),
    ("max-loses-nan", "max(1, nan) is 1", (_CORE + "max-of-nan-float32",), _by_rule(_max_by_less)),
    (
        "exp2-of-minus-infinity",
        "exp2(-inf) is the smallest normal number",
        (_CORE + "exp2-at-its-ends-float32",),
        _by_rule(_clamped_exp2, "EXP2"),
    ),
    (
        "bool-stored-as-two",
        "True lies in memory as 2",
        ("minimal/kernels/bool-memory-is-zero-or-one",),
        _by_rule(_bool_as_two),
    ),
    (
        "bfloat16-truncated",
        "float32 to bfloat16 drops bits in place of rounding",
        (_CASTS + "ties-bfloat16",),
        _by_rule(_truncated_bfloat16),
    ),
    (
        "cast-rounds",
        "float32 to int32 rounds in place of truncating",
        (_CASTS + "float32-to-int32",),
        _by_rule(_rounding_cast),
    ),
    (
        "unsigned-compares-signed",
        "large unsigned numbers are less than small ones",
        (_CORE + "less-uint32",),
        _by_rule(_signed_compare),
    ),
    (
        "uint64-to-float-signed",
        "uint64 above 2**63 becomes a negative float",
        (_CASTS + "uint64-to-float32",),
        _by_rule(_signed_to_float),
    ),
    (
        "sqrt-approximate",
        "sqrt is off by a few hundred units",
        (_CORE + "sqrt-float32",),
        _by_rule(_approximate_sqrt),
    ),
    (
        "zero-loses-its-sign",
        "-x is 0 - x",
        (_CORE + "zeros-have-signs-float32",),
        _by_rule(_zero_without_sign),
    ),
    (
        "gates-ignored",
        "loads happen whether or not their gate holds",
        ("minimal/kernels/pad-int32",),
        _by_rule(_ungated),
    ),
    (
        "barrier-dropped",
        "work-items read what others have not written yet",
        ("minimal/kernels/long-reduction-int32",),
        lambda inner: RewritingRenderer(inner, _no_barriers),
    ),
)

MUTANTS = tuple(Mutant(name, defect, killers, renderer=renderer) for name, defect, killers, renderer in _ROWS)
