"""Tensors in notebooks: the values, and the graph as a picture behind a fold."""

from plugrad._util import html
from plugrad.tensor.base import TensorBase
from plugrad.tensor.host.display import summary, text_of
from plugrad.tensor.shapes import show
from plugrad.uop import MOVEMENT, Ops, UOp

_NUMBERS = frozenset({Ops.CONST, Ops.BIND})
_LEAVES = _NUMBERS | {Ops.IOTA}
_MOST_NODES = 60
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 36, 16, 28


def html_of(t: TensorBase) -> str:
    """Return the text of a tensor and a picture of its graph as HTML."""
    fold = (
        f"<summary>{html.escape(f'{show(t.shape)} {t.dtype.name} on {t.device}: {summary(t.uop)}')}</summary>"
    )
    return f"<pre>{html.escape(text_of(t))}</pre><details>{fold}{svg_of(t.uop)}</details>"


def svg_of(root: UOp) -> str:
    """Return a picture of a graph, sources above users, large graphs cut.

    Example:
        >>> x = Tensor([1, 2], device="PYTHON").realize()
        >>> svg_of((x * 3).uop).count("<rect")
        3
    """
    order = root.toposort()
    operands = {root, *(s for u in order for s in _sources(u))}
    nodes = [u for u in order if u in operands]
    shown = nodes[-_MOST_NODES:]
    rows: dict[UOp, int] = {}
    columns: dict[UOp, int] = {}
    taken: dict[int, int] = {}
    for u in shown:
        rows[u] = 1 + max((rows[s] for s in _sources(u) if s in rows), default=-1)
        columns[u] = taken.get(rows[u], 0)
        taken[rows[u]] = columns[u] + 1
    places = {u: (columns[u] * (_WIDTH + _GAP_X), rows[u] * (_HEIGHT + _GAP_Y)) for u in shown}
    lines = [_line(places[s], places[u]) for u in shown for s in _sources(u) if s in places]
    boxes = [_box(u, *places[u]) for u in shown]
    left_out = f"<p>{len(nodes) - len(shown)} nodes above are left out</p>" if len(nodes) > len(shown) else ""
    width, height = (max(taken.values()) * (_WIDTH + _GAP_X), len(taken) * (_HEIGHT + _GAP_Y))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="11"'
    return f'{left_out}{head} font-family="monospace">{"".join(lines)}{"".join(boxes)}</svg>'


def _sources(u: UOp) -> tuple[UOp, ...]:
    """Return the sources of `u` without the sizes of movement ops."""
    return u.src[:1] if u.op in MOVEMENT else u.src if u.op not in _LEAVES else ()


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1, x2, y2 = start[0] + _WIDTH // 2, start[1] + _HEIGHT, end[0] + _WIDTH // 2, end[1]
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#888"/>'


def _box(u: UOp, x: int, y: int) -> str:
    colour = "#cde" if u.op is Ops.BUFFER else "#eee" if u.op in _NUMBERS else "#fed"
    name = f"{u.op.name} {u.arg}" if u.op is Ops.CONST else u.op.name
    text = [f'<text x="{x + 6}" y="{y + 15}">{html.escape(name[:22])}</text>']
    text.append(
        f'<text x="{x + 6}" y="{y + 29}">{html.escape(f"{show(u.shape)} {u.dtype.name}"[:22])}</text>'
    )
    return f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" fill="{colour}"/>{"".join(text)}'
