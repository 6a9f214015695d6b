"""The rules and passes that change bits of floats.

Everything else gives the bits that the operations of the graph give one by one, in their order, each rounded
once into its dtype. All NaNs count as one: no rule keeps the sign or the payload of a NaN.

A test runs every rule on floats of all magnitudes: a rule that changes them and is not listed fails it, and
so does one that breaks more or less than is listed. `docs/floats.md` is made from this table.
"""

from typing import Literal

from plugrad._frozen import frozen

Damage = Literal["rounding", "overflow", "-0.0", "NaN"]


@frozen
class Inexact:
    """A rule or pass that changes bits of floats.

    Attributes:
        where: module and name of its function, below `plugrad`.
        before: what stands in the graph.
        after: what is computed instead.
        breaks: what may differ: digits, which values are infinite, the sign of a zero, which values are NaN.
        limit: how much it may differ.
        setting: what turns it on or off.
    """

    where: str
    before: str
    after: str
    breaks: tuple[Damage, ...]
    limit: str
    setting: str = "always on"


_LACKS = "where the renderer's `native_ops` lack "
_ORDER = "each addition rounds as before"

INEXACT = (
    # --- rules of every graph ---
    Inexact(
        "uop.symbolic._add_constants",
        "`(x + a) + b`",
        "`x + (a + b)`, `a` and `b` of one sign and their sum exact",
        ("rounding",),
        "the rounding of `x + a` is left out",
    ),
    Inexact(
        "uop.symbolic._mul_constants",
        "`(x * a) * b`",
        "`x * (a * b)`, both at least 1 or both at most 1 in magnitude, their product a normal number",
        ("rounding",),
        "`a * b` is rounded instead of `x * a`",
    ),
    Inexact(
        "uop.symbolic._fold",
        "an operation on constants",
        "its value, computed in float64 and rounded; the device's own may be some ULPs off",
        ("-0.0",),
        "of two zeros, either is the greater one",
    ),
    Inexact(
        "uop.symbolic._constant_right",
        "`max(c, x)`",
        "`max(x, c)`",
        ("-0.0",),
        "of two zeros, either is the greater one",
    ),
    Inexact(
        "uop.symbolic._drop_single_steps",
        "the sum over one step, `0 + x`",
        "`x`",
        ("-0.0",),
        "the sum of -0.0 alone is -0.0",
    ),
    # --- sums: order and grouping ---
    Inexact(
        "codegen.prepare.ranges.fold_reduce",
        "the sum of `x` over `n` steps that it does not depend on",
        "`x * n`, `n` a number of the dtype; of one nonzero step: that step",
        ("rounding", "-0.0"),
        "one rounding instead of `n`",
    ),
    Inexact(
        "codegen.pairwise_sum.split_long_sums",
        "the sum of more than 256 values",
        "the sum of sums of about 64, or of 256 in a tile",
        ("rounding", "overflow", "NaN"),
        "the error grows with the number of pieces, not of values",
    ),
    Inexact(
        "schedule.prepare.normalize._split_long_reduce",
        "a long sum or product with a small result",
        "one of partial results, so that every core has work",
        ("rounding", "overflow", "NaN"),
        _ORDER,
    ),
    Inexact(
        "codegen.combine.combine",
        "the steps of an unrolled sum or product, and lanes of vectors",
        "a balanced tree of them",
        ("rounding", "overflow", "NaN"),
        _ORDER,
        "`NOOPT=1` turns it off",
    ),
    Inexact(
        "codegen.reduces.share_reduces",
        "a sum or product over a group of work-items",
        "one of each work-item's part",
        ("rounding", "overflow", "NaN"),
        _ORDER,
        "`NOOPT=1` turns it off",
    ),
    Inexact(
        "codegen.prepare.lower_scatter.scatter",
        "the sum over all places that name an element",
        "additions to the element in the order of the places",
        ("rounding", "-0.0"),
        "zeros of other places are not added",
    ),
    Inexact(
        "schedule.scatter.update_atomically",
        "the sum over all places that name an element, on a grid",
        "atomic additions to the element, in another order each time",
        ("rounding", "overflow", "-0.0", "NaN"),
        _ORDER,
        "where the renderer's `atomic_ops` have ADD of the dtype; `DETERMINISTIC=1` turns it off",
    ),
    Inexact(
        "codegen.combine.sum_products",
        "a sum of products that is written out",
        "chains of eight MULACC, which are added up by pairs",
        ("rounding", "overflow", "NaN"),
        _ORDER + ", and the roundings of the products are left out",
        "where the renderer's `native_ops` have MULACC",
    ),
    Inexact(
        "codegen.linearizer.linearize",
        "`total + x * y` in a sum",
        "one MULACC",
        ("rounding", "overflow", "NaN"),
        "the rounding of `x * y` is left out",
        "where the renderer's `native_ops` have MULACC",
    ),
    Inexact(
        "codegen.opt.tensor_core.tiled",
        "a sum of products",
        "one by matrix instructions, in their order",
        ("rounding", "overflow", "NaN"),
        _ORDER
        + "; instructions that drop digits of float32 only where the user allowed them; VDPBF16PS of x86 "
        "takes numbers below the normal ones for 0",
        "where the renderer's `tensor_cores` have one",
    ),
    # --- operations that a target lacks ---
    Inexact(
        "codegen.decompositions.arithmetic._divide",
        "`x / y`",
        "`x * (1 / y)`",
        ("rounding", "overflow", "NaN"),
        "1.5 ULP, and all digits where `y` or `1 / y` is below the normal numbers",
        _LACKS + "FDIV",
    ),
    Inexact(
        "codegen.decompositions.arithmetic.square_root",
        "`sqrt(x)`",
        "Newton's iteration",
        ("rounding",),
        "1 ULP",
        _LACKS + "SQRT",
    ),
    Inexact(
        "codegen.decompositions.arithmetic._maximum",
        "`max(x, y)`",
        "a comparison and a choice",
        ("-0.0",),
        "of two zeros, either is the greater one",
        _LACKS + "MAX",
    ),
    Inexact(
        "codegen.decompositions.arithmetic._multiply_add",
        "MULACC(x, y, z)",
        "`x * y + z`",
        ("rounding", "overflow", "-0.0", "NaN"),
        "`x * y` is rounded too",
        _LACKS + "MULACC",
    ),
    Inexact(
        "codegen.decompositions.transcendental._pow_of_constant",
        "`x ** c`, c in 2, 3, 4",
        "products of `x`",
        ("rounding",),
        "1.5 ULP",
        _LACKS + "POW",
    ),
    *(
        Inexact(
            f"codegen.decompositions.{module}.{function}",
            f"`{name}`",
            "integer and float arithmetic",
            ("rounding",),
            f"{ulps} ULP",
            f"{_LACKS}{op}",
        )
        for module, function, name, ulps, op in (
            ("exp_log", "exp", "e ** x", "1", "EXP"),
            ("exp_log", "exp2", "2 ** x", "1.2", "EXP2"),
            ("exp_log", "log2", "log2(x)", "1.5", "LOG2"),
            ("sine", "sin", "sin(x)", "1.6", "SIN"),
            ("sine", "cos", "cos(x)", "1.6", "COS"),
            ("power", "pow_", "x ** y", "1.25", "POW"),
        )
    ),
    Inexact(
        "codegen.decompositions.transcendental.in_float32",
        "an operation on floats of at most 16 bits",
        "the same in float32, rounded back",
        ("rounding", "-0.0"),
        "0.51 ULP for EXP, LOG2, SIN and their like, nothing for `+ - * /` and SQRT; MAX gives either zero",
        _LACKS + "the operation, or its `compute_dtypes` the dtype",
    ),
    Inexact(
        "codegen.decompositions.small_floats._reduce_in_float32",
        "a reduction of floats of at most 16 bits",
        "one in float32, rounded at its end",
        ("rounding", "overflow", "NaN"),
        "only the last rounding is left",
        "where the renderer's `compute_dtypes` lack the dtype",
    ),
    # --- what is asked for ---
    Inexact(
        "tensor.functional.winograd.winograd",
        "a convolution by windows of 3 x 3",
        "Winograd's products of transformed tiles",
        ("rounding", "overflow", "NaN"),
        "some digits, by the spread of the magnitudes",
        "`WINO=1` turns it on",
    ),
)
