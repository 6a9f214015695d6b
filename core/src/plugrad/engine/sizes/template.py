"""One kernel for several sizes: numbers that differ between graphs of a skeleton become variables.

With its variables at their values a template is the graph that was asked for, node by node.
"""

from collections.abc import Mapping, Sequence

from plugrad._frozen import frozen
from plugrad.engine.sizes.skeleton import Filling, Hole, Number, Skeleton, fill
from plugrad.uop.uop import UOp

Numbers = tuple[Number, ...]

_NAME = "_size"
# Each is an argument of the kernel.
_MOST_VARIABLES = 8
# A float32 holds every integer up to this one, and index arithmetic of two such sizes has 64 bits.
_GREATEST = 1 << 24
# Values of a variable that a later graph may have: few programs need a second template.
_LEAST_ROOM = 1 << 10
_ROOM = 4
# Kinds that may be anything; others have to follow from one of these.
_FREE = frozenset({Hole.INDEX, Hole.NUMEL})


@frozen
class Term:
    """The number `factor * n + offset` of a variable n."""

    variable: UOp
    factor: int = 1
    offset: int = 0

    @property
    def expression(self) -> UOp:
        """The number as a node."""
        scaled = self.variable if self.factor == 1 else self.variable * self.factor
        return scaled + self.offset if self.offset else scaled

    def at(self, values: Mapping[str, int]) -> int:
        """Return the number with the variable at its value."""
        return self.factor * values[self.variable.arg[0]] + self.offset


@frozen
class Template:
    """A kernel with variables, and where in a graph their values stand.

    Attributes:
        kernel: the graph with variables.
        fillings: for each number of the skeleton, what stands in its place.
        holes: the kind of each.
        places: from each variable to the number that is its value.
    """

    kernel: UOp
    fillings: "tuple[Number | Term | str, ...]"
    holes: tuple[Hole, ...]
    places: Mapping[UOp, int]

    def bind(self, numbers: Sequence[Number]) -> dict[str, int] | None:
        """Return the variables' values that make the template the graph of `numbers`, if any."""
        values: dict[str, int] = {}
        for variable, place in self.places.items():
            name, lowest, highest = variable.arg
            number = numbers[place]
            if not isinstance(number, int) or not lowest <= number <= highest:
                return None
            values[name] = number
        for kind, filling, number in zip(self.holes, self.fillings, numbers, strict=True):
            if not _fits(kind, filling, number, values):
                return None
        return values


def template_of(skeleton: Skeleton, examples: Sequence[Numbers]) -> Template | None:
    """Return the least general template of which all graphs with these numbers are instances.

    Numbers that are equal in each graph stay, those that are equal to each other in each are one variable,
    and multiples of a variable, or numbers at a fixed distance, are expressions of it. None: there would be
    too many variables, or a value differs that no size decides.
    """
    columns = list(zip(*examples, strict=True))
    free = {
        column: place
        for place, (kind, column) in reversed(list(enumerate(zip(skeleton.holes, columns, strict=True))))
        if kind in _FREE and len(set(column)) > 1
    }
    terms: dict[Numbers, Term] = {}
    places: dict[UOp, int] = {}
    # the smallest first: others are multiples of these
    for column in sorted(free, key=_magnitude):
        if (term := _term_of(column, places, columns)) is None:
            if _magnitude(column) > _GREATEST or len(places) == _MOST_VARIABLES:
                return None
            term = Term(UOp.variable(f"{_NAME}{len(places)}", *_limits(column)))
            places[term.variable] = free[column]
        terms[column] = term
    fillings: list[Number | Term | str] = []
    for kind, column in zip(skeleton.holes, columns, strict=True):
        filling = _filling(kind, column, terms.get(column) or _term_of(column, places, columns))
        if filling is None:
            return None
        fillings.append(filling)
    made: list[Filling] = [f.expression if isinstance(f, Term) else f for f in fillings]
    return Template(fill(skeleton, made), tuple(fillings), skeleton.holes, places)


def _fits(kind: Hole, filling: Number | Term | str, number: Number, values: Mapping[str, int]) -> bool:
    if isinstance(filling, str):
        return True
    if isinstance(filling, Term):
        return filling.at(values) == number
    # a variable of the user's lies within the template's limits
    if kind is Hole.LOWEST:
        return filling <= number
    if kind is Hole.HIGHEST:
        return number <= filling
    return filling == number


def _filling(kind: Hole, column: Numbers, term: Term | None) -> Number | Term | str | None:
    if len(set(column)) == 1:
        return column[0]
    if kind is Hole.NAME:
        return "n"
    if kind is Hole.LOWEST:
        return _limits(column)[0]
    if kind is Hole.HIGHEST:
        return _limits(column)[1]
    return term


def _term_of(column: Numbers, places: Mapping[UOp, int], columns: Sequence[Numbers]) -> Term | None:
    """Return numbers as a multiple of a variable or at a fixed distance, or None."""
    for variable, place in places.items():
        pairs = list(zip(column, columns[place], strict=True))
        if len(distances := {number - value for number, value in pairs}) == 1:
            return Term(variable, offset=int(distances.pop()))
        factor = next((number // value for number, value in pairs if value), 0)
        if factor and all(number == factor * value for number, value in pairs):
            return Term(variable, factor=int(factor))
    return None


def _magnitude(column: Numbers) -> int:
    return int(max([abs(number) for number in column]))


def _limits(column: Numbers) -> tuple[int, int]:
    """Return limits in which later numbers are likely to lie; sizes stay above 0."""
    least = min(column)
    highest = max(_LEAST_ROOM, _ROOM << _magnitude(column).bit_length())
    return (1 if least > 0 else 0 if least == 0 else -highest), highest
