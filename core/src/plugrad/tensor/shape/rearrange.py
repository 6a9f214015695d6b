"""The notation of einops: `"b (h w) c -> b c h w"`, understood as a split, a permutation and a join.

Source: Rogozhnikov 2022, "Einops: clear and reliable tensor manipulations with Einstein-like notation".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.errors import ArgumentError, ShapeError
from plugrad.tensor.shapes import Dim, Shape, as_dim, product, show

ELLIPSIS = "..."
# inside of parentheses: the axes that it stands for are joined
_JOINED = "(...)"
Group = tuple[str, ...]


@frozen
class Rearrangement:
    """Reshape to `split`, permute by `order`, reshape to `joined`."""

    split: Shape
    order: tuple[int, ...]
    joined: Shape


@frozen
class Formula:
    """Both sides of a formula: the groups of names of each axis."""

    text: str
    before: tuple[Group, ...]
    after: tuple[Group, ...]

    def for_shape(self, shape: Shape, sizes: Mapping[str, Dim]) -> Rearrangement:
        """Return the reshape, permutation and shape of this formula for a tensor of `shape`."""
        extra = len(shape) - (len(self.before) - ((ELLIPSIS,) in self.before))
        if extra < 0 or (extra and (ELLIPSIS,) not in self.before):
            raise ShapeError(
                f"{self.text!r} names {len(self.before)} axes before the arrow, the tensor has shape "
                f"{show(shape)}. Name each axis, or the rest by '...'."
            )
        others = tuple(f"...{number}" for number in range(extra))
        known = {name: as_dim(size) for name, size in sizes.items()}
        axes = iter(shape)
        split: list[Dim] = []
        names: list[str] = []
        for group in _expand_ellipsis(self.before, others):
            found = self._sizes_in(group, next(axes), known)
            known.update(zip(group, found, strict=True))
            split.extend(found)
            names.extend(group)
        after = _expand_ellipsis(self.after, others)
        order = tuple(names.index(name) for group in after for name in group)
        # axes that are not named again are empty groups: size 1
        order = (*order, *[at for at in range(len(names)) if at not in order])
        return Rearrangement(
            tuple(split), order, tuple(product(known[name] for name in group) for group in after)
        )

    def _sizes_in(self, group: Group, size: Dim, known: Mapping[str, Dim]) -> list[Dim]:
        """Return the sizes of the names of an axis of `size`, inferring at most one."""
        unknown = [name for name in group if name not in known]
        rest: Any = product(known[name] for name in group if name in known)
        if len(unknown) > 1:
            raise ArgumentError(
                f"{self.text!r}: the sizes of {' and '.join(unknown)} are not known. Pass all but one of "
                f"({' '.join(group)}), such as {unknown[0]}=2."
            )
        have: Any = size
        numbers = isinstance(have, int) and isinstance(rest, int)
        if numbers and (have != rest if not unknown else rest == 0 or have % rest):
            given = ", ".join(f"{name}={known[name]}" for name in group if name in known) or "no names"
            raise ShapeError(
                f"{self.text!r}: an axis of {have} elements is no ({' '.join(group)}) with {given}. Pass "
                "sizes whose product is that."
            )
        quotient = 1 if have is rest else have // rest
        return [known.get(name, quotient) for name in group]


def _expand_ellipsis(groups: Sequence[Group], others: tuple[str, ...]) -> list[Group]:
    """Replace "..." in groups by the axes it names."""
    out: list[Group] = []
    for group in groups:
        if group == (ELLIPSIS,):
            out.extend((other,) for other in others)
        elif _JOINED in group:
            at = group.index(_JOINED)
            out.append((*group[:at], *others, *group[at + 1 :]))
        else:
            out.append(group)
    return out


def parse_formula(text: str, given: Sequence[str] = ()) -> Formula:
    """Parse a formula.

    Example:
        >>> parse_formula("a (b c) -> (a b) c").before
        (('a',), ('b', 'c'))
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(
            f"{text!r} ({type(text).__name__}) is no formula. Pass 'names before -> names after'."
        )
    sides = text.split("->")
    if len(sides) != 2:
        raise ArgumentError(f"{text!r} has {len(sides) - 1} arrows. Write 'names before -> names after'.")
    before, after = (_groups(side, text) for side in sides)
    names = [[name.strip("()") for group in side for name in group] for side in (before, after)]
    for side in names:
        if twice := {name for name in side if side.count(name) > 1}:
            raise ArgumentError(f"{text!r} has {sorted(twice)[0]!r} twice on one side. Name each axis once.")
    if lonely := set(names[0]) ^ set(names[1]):
        raise ArgumentError(
            f"{text!r} has {sorted(lonely)[0]!r} on one side only. An axis neither goes nor comes: sum or "
            "expand before or after."
        )
    if any(_JOINED in group for group in before):
        raise ArgumentError(f"{text!r} has '...' in parentheses before the arrow. Join axes only after it.")
    if strange := [name for name in given if name not in names[0]]:
        raise ArgumentError(f"{text!r} has no {strange[0]!r}, whose size was passed. Leave it out.")
    return Formula(text, before, after)


def _groups(side: str, text: str) -> tuple[Group, ...]:
    groups: list[Group] = []
    inside: list[str] | None = None
    for token in side.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            groups.append(tuple(inside))
            inside = None
        elif token in ("(", ")"):
            raise ArgumentError(f"{text!r}: a {token!r} that belongs to no other. Groups do not nest.")
        else:
            name = _name(token, text)
            if inside is None:
                groups.append(name)
            else:
                inside.extend((_JOINED,) if name == (ELLIPSIS,) else name)
    if inside is not None:
        raise ArgumentError(f"{text!r}: a '(' is not closed.")
    return tuple(groups)


def _name(token: str, text: str) -> Group:
    if token == "1":
        return ()
    if token == ELLIPSIS or token.isidentifier():
        return (token,)
    raise ArgumentError(
        f"{text!r}: {token!r} is no name of an axis. Use identifiers, 1, '...' and one pair of parentheses."
    )
