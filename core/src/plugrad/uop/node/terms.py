"""Taking sums, and trees of one associative op, apart."""

from typing import TYPE_CHECKING

from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

Terms = dict["UOp", int]


def terms_of(u: "UOp") -> tuple[Terms, int]:
    """Return a sum as a dict from terms to constant factors, and its constant."""
    terms: Terms = {}
    constant = 0
    stack = [(u, 1)]
    while stack:
        node, factor = stack.pop()
        while node.op is Ops.ADD:
            node, other = node.src
            stack.append((other, factor))
        while node.op is Ops.MUL and node.src[1].op is Ops.CONST:
            node, other = node.src
            factor *= other.arg
        if node.op is Ops.CONST:
            constant += node.arg * factor
        elif node.op is Ops.ADD:
            stack.append((node, factor))
        elif node.op is Ops.MUL and node.src[0].op is Ops.CONST:
            stack.append((node.src[1], factor * node.src[0].arg))
        else:
            factor += terms.get(node, 0)
            if factor:
                terms[node] = factor
            else:
                terms.pop(node, None)
    return terms, constant


def operands_of(u: "UOp", op: Ops) -> "list[UOp]":
    """Return the operands of a tree of one associative op, in order."""
    out: list[UOp] = []
    stack = [u]
    while stack:
        node = stack.pop()
        if node.op is op:
            stack.extend(node.src[::-1])
        else:
            out.append(node)
    return out
