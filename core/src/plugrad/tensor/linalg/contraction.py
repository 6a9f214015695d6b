"""Parse the notation of einsum and choose the order in which operands are joined.

Source: numpy.einsum for the notation; the order is that of Smith and Gray 2018, "opt_einsum", section
"greedy".
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.shapes import Dim, Shape, as_int, show

ELLIPSIS = "..."
Labels = tuple[str, ...]


@frozen
class Contraction:
    """Labels of the axes of each operand and the result, "..." expanded to one each."""

    operands: tuple[Labels, ...]
    output: Labels


def parse_contraction(formula: str, shapes: Sequence[Shape]) -> Contraction:
    """Parse `formula` for operands of the given shapes.

    The axes of an ellipsis are labelled from the last one, so that those of several operands line up.

    Example:
        >>> parse_contraction("ij,jk", [(2, 3), (3, 4)]).output
        ('i', 'k')
    """
    text = formula.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = [_parse_term(term, formula) for term in left.split(",")]
    if len(terms) != len(shapes):
        raise ArgumentError(
            f"einsum {formula!r} names {len(terms)} operands, {len(shapes)} came. Separate one term for each "
            "by commas."
        )
    operands = tuple(
        _expand_ellipsis(
            labels, len(shape) - len([name for name in labels if name != ELLIPSIS]), formula, shape
        )
        for labels, shape in zip(terms, shapes, strict=True)
    )
    every = [name for labels in operands for name in labels]
    others = {name for name in every if ELLIPSIS in name}
    spread = sorted(others, key=lambda name: int(name.removeprefix(ELLIPSIS)), reverse=True)
    if arrow:
        wanted = _parse_term(right, formula)
        output = tuple(x for name in wanted for x in (spread if name == ELLIPSIS else (name,)))
    else:
        once = sorted({name for name in every if every.count(name) == 1 and ELLIPSIS not in name})
        output = (*spread, *once)
    for name in output:
        if name not in every or output.count(name) > 1:
            why = "comes twice" if name in every else "is in no operand"
            raise ArgumentError(
                f"einsum {formula!r}: {name!r} of the result {why}. Name axes of operands once."
            )
    return Contraction(operands, output)


def formula_of_lists(lists: Sequence[Any], output: Any = None) -> str:
    """Return the formula for lists of integers and `...`, with letters in the same order.

    Example:
        >>> formula_of_lists([[0, 1], [1, 26]], [0, 26])
        'AB,Ba->Aa'
    """
    terms = ",".join(map(_term_of_list, lists))
    return terms if output is None else f"{terms}->{_term_of_list(output)}"


def _term_of_list(labels: Any) -> str:
    if not isinstance(labels, (list, tuple)):
        raise ArgumentError(
            f"einsum: {labels!r:.60} ({type(labels).__name__}) is no list of labels. Pass one of integers "
            "behind each tensor, or a formula, such as 'ij,jk->ik', before them."
        )
    every = cast("Sequence[Any]", labels)
    return "".join([_letter(label) for label in every])


def _letter(label: Any) -> str:
    if label is Ellipsis:
        return ELLIPSIS
    number = as_int(label, "einsum: label")
    if not 0 <= number < 52:
        raise ArgumentError(f"einsum: the label {number} is out of range. Labels are integers from 0 to 51.")
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _parse_term(term: str, formula: str) -> list[str]:
    before, dots, after = term.partition(ELLIPSIS)
    labels = [*before, *([ELLIPSIS] if dots else []), *after]
    for name in labels:
        if name != ELLIPSIS and not (name.isascii() and name.isalpha()):
            raise ArgumentError(
                f"einsum {formula!r}: {name!r} is no label. Labels are letters, other axes one '...' a term."
            )
    return labels


def _expand_ellipsis(labels: list[str], extra: int, formula: str, shape: Shape) -> Labels:
    """Replace "..." by one label for each of `extra` axes."""
    if extra < 0 or (extra and ELLIPSIS not in labels):
        raise ShapeError(
            f"einsum {formula!r}: the term {''.join(labels)!r} names {len(labels)} axes, its operand "
            f"has shape {show(shape)}. Name each axis, or the rest by '...'."
        )
    others = [f"{ELLIPSIS}{place}" for place in reversed(range(extra))]
    return tuple(x for name in labels for x in (others if name == ELLIPSIS else (name,)))


def sizes_of_labels(formula: str, operands: Sequence[Labels], shapes: Sequence[Shape]) -> dict[str, Dim]:
    """Return the size of each label; size 1 broadcasts.

    Example:
        >>> sizes_of_labels("ij,j", [("i", "j"), ("j",)], [(2, 1), (3,)])
        {'i': 2, 'j': 3}
    """
    sizes: dict[str, Dim] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        for name, size in zip(labels, shape, strict=True):
            known = sizes.get(name, 1)
            if isinstance(known, int) and known == 1:
                sizes[name] = size
            elif size is not known and size != known and not (isinstance(size, int) and size == 1):
                raise ShapeError(
                    f"einsum {formula!r} of shapes {' and '.join(map(show, shapes))}: {name!r} has sizes "
                    f"{show((known,))[1:-2]} and {show((size,))[1:-2]}. They must be equal, or one of them 1."
                )
    return sizes


def next_pair(terms: Sequence[Labels], output: Labels, sizes: Mapping[str, Dim]) -> tuple[int, int]:
    """Return the two terms to join next: the pair whose product grows least.

    Among equals, the pair with the fewest multiplications. Symbolic sizes count as 64.

    Example:
        >>> next_pair([("i", "j"), ("j", "k"), ("k",)], ("i",), {"i": 9, "j": 9, "k": 9})
        (1, 2)
    """
    best: tuple[Any, tuple[int, int]] | None = None
    for first in range(len(terms)):
        for second in range(first + 1, len(terms)):
            a, b = terms[first], terms[second]
            kept = kept_labels(terms, first, second, output)
            result = [name for name in dict.fromkeys((*a, *b)) if name in kept]
            growth = _element_count(result, sizes) - _element_count(a, sizes) - _element_count(b, sizes)
            cost = (growth, _element_count(dict.fromkeys((*a, *b)), sizes))
            if best is None or cost < best[0]:
                best = cost, (first, second)
    assert best is not None, "a pair needs two terms"
    return best[1]


def kept_labels(terms: Sequence[Labels], first: int, second: int, output: Labels) -> set[str]:
    """Return the labels that are still needed after two terms were joined.

    Example:
        >>> sorted(kept_labels([("i", "j"), ("j", "k"), ("k",)], 1, 2, ("i",)))
        ['i', 'j']
    """
    others = [labels for at, labels in enumerate(terms) if at not in (first, second)]
    return {*output, *[name for labels in others for name in labels]}


def _element_count(labels: Any, sizes: Mapping[str, Dim]) -> int:
    return math.prod(size if isinstance(size := sizes[name], int) else 64 for name in labels)
