"""The MSL that stands before a kernel: small functions, each one paragraph."""

from collections.abc import Callable

from plugrad.target import TensorCore
from plugrad_metal.tensor_cores import MATRICES

Define = Callable[[str, str], str]

PROLOGUE = "#include <metal_stdlib>\nusing namespace metal;\n#pragma STDC FP_CONTRACT OFF"


def _function(define: Define, name: str, result: str, arguments: str, *body: str) -> str:
    return define(name, "\n".join((f"static inline {result} {name}({arguments}) {{", *body, "}")))


def float_from_bfloat(define: Define) -> str:
    """Define the float of a bfloat16's bits; return the function's name."""
    return _function(
        define, "float_from_bfloat", "float", "ushort x", "  return as_type<float>((uint)x << 16);"
    )


def bfloat_from_float(define: Define) -> str:
    """Define the bits of the bfloat16 nearest to a float; return the function's name."""
    return _function(
        define,
        "bfloat_from_float",
        "ushort",
        "float x",
        "  uint b = as_type<uint>(x), high = b >> 16;",
        "  uint rounded = (b + 0x7fffu + (high & 1u)) >> 16;",
        "  return (ushort)(x != x ? (high | 0x40u) : rounded);",
    )


def matrix_product(define: Define, core: TensorCore, factor: str, result: str) -> str:
    """Define the product of two 8x8 matrices, added to a third; return the function's name.

    Args:
        define: adds a paragraph to the source.
        core: the instruction.
        factor: the type of a thread's two elements of A and of B.
        result: that of its elements of C.
    """
    return _function(
        define,
        core.name,
        result,
        f"{factor} a, {factor} b, {result} c",
        f"  {MATRICES[core.dtype_in]} ma, mb;",
        f"  {MATRICES[core.dtype_out]} mc;",
        *(
            f"  m{name}.thread_elements()[{i}] = {name}.{lane};"
            for name in "abc"
            for i, lane in enumerate("xy")
        ),
        "  simdgroup_multiply_accumulate(mc, ma, mb, mc);",
        f"  return {result}(mc.thread_elements()[0], mc.thread_elements()[1]);",
    )
