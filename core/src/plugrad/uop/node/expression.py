"""Write a graph down as an expression for people: `i*4+2`, `p1[i] if i < n else 0`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugrad.uop.ops import Ops

if TYPE_CHECKING:
    from plugrad.uop.uop import UOp

# the text, and how tightly its outermost operator binds
_Text = tuple[str, int]
_LOOSEST, _UNARY, _ATOM = 0, 12, 13
# sign and binding of operators, as in Python
_INFIX = {
    Ops.OR: ("|", 4),
    Ops.XOR: ("^", 5),
    Ops.AND: ("&", 6),
    Ops.CMPLT: ("<", 3),
    Ops.CMPNE: ("!=", 3),
    Ops.CMPEQ: ("==", 3),
    Ops.SHL: ("<<", 7),
    Ops.SHR: (">>", 7),
    Ops.ADD: ("+", 8),
    Ops.SUB: ("-", 8),
    Ops.MUL: ("*", 9),
    Ops.FDIV: ("/", 9),
    Ops.FLOORDIV: ("//", 9),
    Ops.FLOORMOD: ("%", 9),
}
_STORED = {None: "=", Ops.ADD: "+=", Ops.MAX: "max="}
_REDUCED = {Ops.ADD: "sum", Ops.MUL: "prod", Ops.MAX: "max"}
# what is used twice is written twice: beyond this many characters it is left out
_LONGEST = 1000
# what `simplify` calls: the rules are written with nodes, so their module adds itself
_simplifiers: "list[Callable[[UOp], UOp]]" = []


class ExpressionMixin:
    """Nodes as expressions."""

    __slots__ = ()

    def simplify(self) -> "UOp":
        """Return this graph simplified as far as the symbolic rules go.

        Example:
            >>> i = UOp.variable("i", 0, 9)
            >>> (i * 2 + i * 3).simplify() is i * 5
            True
        """
        return _simplifiers[-1](self)  # pyright: ignore[reportArgumentType] - only UOp mixes this in

    def render(self, simplify: bool = True) -> str:
        """Return this graph, by default simplified, as an expression for people.

        Example:
            >>> i = UOp.variable("i", 0, 9)
            >>> (i * 2 + i * 3).render(), (i * 2 + i * 3).render(simplify=False)
            ('i*5', 'i*2+i*3')
        """
        return expression(self.simplify() if simplify else self)  # pyright: ignore[reportArgumentType]


def set_simplifier(simplify: "Callable[[UOp], UOp]") -> None:
    """Let `UOp.simplify` call `simplify`."""
    _simplifiers[:] = [simplify]


def expression(root: "UOp") -> str:
    """Return a graph as one line of text, cut where it gets long.

    Example:
        >>> i = UOp.variable("i", 0, 9)
        >>> expression((i + 1) * 4 + i // 2)
        '(i+1)*4+i//2'
    """
    texts: dict[UOp, _Text] = {}
    for u in root.toposort():
        text, binding = _render_node(u, [texts[s] for s in u.src])
        texts[u] = (text, binding) if len(text) <= _LONGEST or u is root else ("...", _ATOM)
    return texts[root][0]


def _render_node(u: "UOp", src: list[_Text]) -> _Text:
    if u.op in _INFIX:
        sign, binding = _INFIX[u.op]
        spaced = f" {sign} " if binding < _INFIX[Ops.ADD][1] else sign
        # to the right, what binds as tightly needs parentheses: a-(b-c)
        return _inside(src[0], binding) + spaced + _inside(src[1], binding + 1), binding
    plain = [text for text, _ in src]
    match u.op:
        case Ops.CONST:
            return str(u.arg), _UNARY if str(u.arg).startswith("-") else _ATOM
        case Ops.DEFINE_VAR | Ops.BIND:
            return (str(u.arg[0]) if u.op is Ops.DEFINE_VAR else plain[0]), _ATOM
        case Ops.SPECIAL:
            return str(u.arg), _ATOM
        case Ops.RANGE:
            return "r" + "_".join(map(str, u.arg.ident)), _ATOM
        case Ops.PARAM:
            return f"p{u.arg[0]}", _ATOM
        case Ops.BUFFER:
            return f"b{u.arg.ident}", _ATOM
        case Ops.INDEX:
            return f"{_inside(src[0], _ATOM)}[{plain[1]}]", _ATOM
        case Ops.LOAD if len(src) == 1:
            return src[0]
        case Ops.STORE:
            return f"{plain[0]} {_STORED[u.arg]} {plain[1]}", _LOOSEST
        case Ops.NEG:
            return f"-{_inside(src[0], _UNARY)}", _UNARY
        case Ops.WHERE:
            return f"{_inside(src[1], 2)} if {_inside(src[0], 2)} else {_inside(src[2], 1)}", 1
        case Ops.CAST:
            return f"{u.dtype.name}({plain[0]})", _ATOM
        case Ops.REDUCE:
            return f"{_REDUCED[u.arg[0]]}({', '.join(plain)})", _ATOM
        case Ops.SINK:
            return "; ".join(plain), _LOOSEST
        case _:
            return f"{u.op.name.lower()}({', '.join(plain)})", _ATOM


def _inside(text: _Text, binding: int) -> str:
    return text[0] if text[1] >= binding else f"({text[0]})"
