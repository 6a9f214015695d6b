"""Text of tensors, and pictures of their graphs; values are shown if in memory."""

import math
from collections import Counter
from itertools import product
from typing import Any

from plugrad._util import html
from plugrad._util import numpy as np
from plugrad.dtype import to_numpy
from plugrad.engine import storage
from plugrad.engine.capture import current_capture
from plugrad.tensor.base import TensorBase
from plugrad.tensor.host.host_data import unpack
from plugrad.tensor.host.strided import is_whole_today, read_places
from plugrad.tensor.shapes import shape_today, show
from plugrad.uop import ELEMENTWISE, MOVEMENT, Ops, UOp

# values that are those of their source, which may lie in memory
_SAME = frozenset({Ops.COPY, Ops.CONTIGUOUS, Ops.DETACH})
# a screen: beyond these, the middle of axes is left out, and then lines
_MOST_ELEMENTS, _MOST_ROWS = 1000, 30
_MOST_KINDS = 6
_REDUCED = {Ops.ADD: "sum", Ops.MUL: "prod", Ops.MAX: "max"}
# pictures of graphs
_NUMBERS = frozenset({Ops.CONST, Ops.BIND})
_LEAVES = _NUMBERS | {Ops.IOTA}
_MOST_NODES = 60
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 36, 16, 28


def describe(t: TensorBase) -> str:
    """Return the shape, dtype, device and pending computation of a tensor in one line.

    Example:
        >>> x = Tensor([1.0, 2.0], device="PYTHON")
        >>> describe(x.exp() * 2)
        '<Tensor (2,) float32 on PYTHON, not computed: mul, exp of 1 buffer>'
    """
    u = t.uop
    missing = "" if storage.is_view(u) or u.op is Ops.CONST else f", not computed: {summary(u)}"
    value = f", {u.arg}" if u.op is Ops.CONST else ""
    grad = ", requires_grad" if t._is_leaf else ""
    return f"<Tensor {show(t.shape)} {t.dtype.name} on {t.device}{missing}{value}{grad}>"


def summary(u: UOp) -> str:
    """Return the operations of a graph, last first, and the number of its buffers.

    Example:
        >>> x = Tensor([1.0, 2.0], device="PYTHON").realize()
        >>> summary((x * x * 2).sum().uop)
        'sum, mul x2 of 1 buffer'
    """
    found: Counter[str] = Counter()
    buffers = 0
    for node in reversed(u.toposort()):
        if node.op is Ops.BUFFER:
            buffers += 1
        elif node.op is Ops.REDUCE_AXIS:
            found[_REDUCED[node.arg[0]]] += 1
        elif node.op in ELEMENTWISE or node.op in (Ops.COPY, Ops.ASSIGN, Ops.KERNEL, Ops.IOTA):
            found[node.op.name.lower()] += 1
    names = [name if count == 1 else f"{name} x{count}" for name, count in found.items()]
    if len(names) > _MOST_KINDS:
        rest = found.total() - sum(list(found.values())[:_MOST_KINDS])
        names = [*names[:_MOST_KINDS], f"{rest} more"]
    read = f" of {buffers} buffer{'s' if buffers != 1 else ''}" if buffers else ""
    return (", ".join(names) or u.op.name.lower()) + read


def text_of(t: TensorBase) -> str:
    """Return the values of a realized tensor as NumPy prints them, else `describe`.

    Example:
        >>> text_of(Tensor([[1.0, 2.5]], device="PYTHON"))
        "Tensor([[1. , 2.5]], dtype=float32, device='PYTHON')"
    """
    # what a traced function reads would be fixed in its replays
    array = None if current_capture() is not None else _visible_elements(t)
    if array is None:
        return describe(t)
    values, is_cut = array
    edge = _edge_items(shape_today(t.shape, "repr"))
    options: Any = {"threshold": 0, "edgeitems": edge} if is_cut else {"threshold": _MOST_ELEMENTS}
    lines = np.array2string(values, separator=", ", prefix="Tensor(", **options).splitlines()
    if len(lines) > 2 * _MOST_ROWS:
        lines = [*lines[:_MOST_ROWS], "       ..."]
    shape = f", shape={show(t.shape)}" if is_cut or 0 in t.shape else ""
    grad = ", requires_grad=True" if t._is_leaf else ""
    text = "\n".join(lines)
    return f"Tensor({text}, dtype={t.dtype.name}, device={t.device!r}{shape}{grad})"


def _edge_items(shape: tuple[int, ...]) -> int | None:
    """Return the number of elements to show at both ends of an axis, or None."""
    if math.prod(shape) <= _MOST_ELEMENTS and math.prod(shape[:-1]) <= _MOST_ROWS:
        return None
    rows = [(edge, math.prod(min(size, 2 * edge + 1) for size in shape[:-1])) for edge in (3, 2, 1)]
    return next((edge for edge, count in rows if count <= _MOST_ROWS), 1)


def _visible_elements(t: TensorBase) -> "tuple[Any, bool] | None":
    """Return the elements to show, and whether they are cut; None if not in memory."""
    if not all(isinstance(size, int) or size.vmin == size.vmax for size in t.shape):
        return None
    u, shape = _in_memory(t.uop), shape_today(t.shape, "repr")
    if is_whole_today(u) and u.base.shape == (math.prod(u.base.shape),) and u.base.dtype is u.dtype:
        u = u.base.shrink(((0, math.prod(shape)),)).reshape(shape)
    edge = _edge_items(shape)
    places = [
        list(range(size))
        if edge is None or size <= 2 * edge
        else [*range(edge + 1), *range(size - edge, size)]
        for size in shape
    ]
    cut = tuple(map(len, places))
    wanted = to_numpy(t.dtype) or np.float32
    if 0 in shape:
        return np.empty(shape, wanted), False
    if u.base.op is Ops.CONST and not any(node.op is Ops.PAD for node in u.toposort()):
        return np.full(cut, u.base.arg, wanted), edge is not None
    if (memory := read_places(u, list(product(*places)))) is None:
        return None
    return np.array(unpack(memoryview(memory), t.dtype), wanted).reshape(cut), edge is not None


def _in_memory(u: UOp) -> UOp:
    """Return `u` with copies between its movement ops left out."""
    above: list[UOp] = []
    while u.op in MOVEMENT or u.op in _SAME or u.op is Ops.BITCAST:
        if u.op not in _SAME:
            above.append(u)
        u = u.src[0]
    for node in reversed(above):
        u = UOp(node.op, node.dtype, (u, *node.src[1:]), node.arg)
    return u


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
