"""The node of the one IR: immutable, hash-consed, garbage-collected with its last user.

`UOp(op, dtype, src, arg, tag)` with the same five parts is the same object, so `is` compares graphs, and
dicts keyed by nodes need no deep hashing. Every walk is iterative: depth is limited by memory only.
"""

import itertools
import weakref
from _weakref import _remove_dead_weakref  # pyright: ignore
from collections.abc import Callable, Mapping
from math import copysign
from typing import Any, cast

from plugrad.dtype import COMPLEX, DType, Number, dtypes, truncate
from plugrad.errors import DtypeError, ShapeError
from plugrad.uop.node.bounds import bounds_of
from plugrad.uop.node.buffer_nodes import BufferNodes
from plugrad.uop.node.expression import ExpressionMixin
from plugrad.uop.node.operators import OperatorMixin
from plugrad.uop.node.order import Order, key_of, order_of
from plugrad.uop.node.pretty import pretty
from plugrad.uop.node.ranges import open_ranges
from plugrad.uop.node.structure import StructureMixin, constant
from plugrad.uop.node.walk import toposort
from plugrad.uop.ops import COMPARE, COMPLEX_ALU, MOVEMENT, Axis, AxisType, BufferArg, Ops
from plugrad.uop.shape import common_placement, placement_of

_Key = tuple[Ops, DType, "tuple[UOp, ...]", Any, Any]


class _Ref(weakref.ref["UOp"]):
    __slots__ = ("key",)
    key: _Key


_interned: dict[_Key, _Ref] = {}
_buffer_numbers = itertools.count()
_new_tuple = cast(Any, tuple).__new__
_buffers = BufferNodes()


def _forget(ref: Any) -> None:
    # another thread may have made the same node anew: only a dead entry goes, tested and deleted in one step
    _remove_dead_weakref(_interned, ref.key)


class _UnfrozenNode:
    """A node before freezing: plain assignment is five times as fast as `__setattr__`."""

    __slots__ = (
        "__weakref__",
        "_below",
        "_bounds",
        "_key",
        "_order",
        "_placement",
        "_ranges",
        "arg",
        "dtype",
        "normal_for",
        "op",
        "place",
        "src",
        "tag",
    )


class UOp(OperatorMixin, StructureMixin, ExpressionMixin, _UnfrozenNode):
    """One node: an operation on the nodes in `src`, with the static data in `arg`.

    Example:
        >>> x = UOp.variable("x", 0, 9)
        >>> (x + 1) is (x + 1)
        True
    """

    __slots__ = ()
    op: Ops
    dtype: DType
    src: "tuple[UOp, ...]"
    arg: Any
    tag: Any
    place: Any  # where the value is, kept by `plugrad.engine.storage`; no part of what the node is
    normal_for: Any  # the table that changes neither this node nor those below it, see `graph_rewrite`
    # found out when somebody asks; None before
    _below: Any  # of a SINK: all nodes but itself, sources first
    _bounds: Any
    _key: Any
    _order: Any
    _placement: Any
    _ranges: Any

    def __new__(
        cls,
        op: Ops,
        dtype: DType = dtypes.void,
        src: "tuple[UOp, ...]" = (),
        arg: Any = None,
        tag: Any = None,
        placement: Any = None,
    ) -> "UOp":
        """Return the one node of these parts; `placement` is known to be that of `placement_of`."""
        # -0.0 == 0.0, NaN != NaN and True == 1: their text tells them apart
        known_as = arg
        if arg is not None:
            if type(arg) is float:
                known_as = arg.hex()
            elif type(arg) is bool:
                known_as = repr(arg)
        key = (op, dtype, src, known_as, tag)
        ref = _interned.get(key)
        if ref is not None and (found := ref()) is not None:
            return found
        if op is Ops.BUFFER and (found := _buffers.find(dtype, src, arg, tag)) is not None:
            return found
        self: Any = _UnfrozenNode()
        self.op = op
        self.dtype = dtype
        self.src = src
        self.arg = arg
        self.tag = tag
        self._placement = placement
        self.place = self._bounds = self._ranges = self._order = self._key = None
        self.normal_for = self._below = None
        self.__class__ = UOp
        ref = _Ref(self, _forget)
        ref.key = key
        # atomic: of two threads that got here with equal parts, both return the node of the first
        while (known := _interned.setdefault(key, ref)) is not ref:
            if (found := known()) is not None:
                return found
            _remove_dead_weakref(_interned, key)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"UOp is immutable: cannot set {name}. Use .replace({name}=...).")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"UOp is immutable: cannot delete {name}. Use .replace({name}=None).")

    def __reduce__(self) -> tuple[object, ...]:
        # one flat list of nodes: pickle recurses into what it is given
        nodes = self.toposort()
        number = {node: i for i, node in enumerate(nodes)}
        return _from_list, (
            [(u.op, u.dtype, tuple([number[s] for s in u.src]), u.arg, u.tag) for u in nodes],
        )

    def __copy__(self) -> "UOp":
        return self

    def __deepcopy__(self, memo: object) -> "UOp":
        return self

    def __repr__(self) -> str:
        return pretty(self)

    # --- building ---

    @staticmethod
    def const(dtype: DType, value: Number) -> "UOp":
        """Return the constant `value`, rounded or wrapped into `dtype` (each lane of it)."""
        if dtype.kind == "complex":
            part = COMPLEX[dtype]
            return UOp(Ops.COMPLEX, dtype, (UOp.const(part, value.real), UOp.const(part, value.imag)))
        if type(value) is int or (type(value) is float and (value or copysign(1.0, value) > 0)):
            return constant(UOp, dtype, value)
        assert not isinstance(value, complex), f"{value} is no {dtype.name}"
        return UOp(Ops.CONST, dtype, (), truncate(value, dtype))

    @staticmethod
    def variable(name: str, lowest: int, highest: int, dtype: DType = dtypes.index) -> "UOp":
        """Return a symbolic integer that lies in `lowest..highest`, both included.

        Bound to a value, it is the size of an axis, the bound of a slice or an index; sums, products and
        quotients of it are as well. One set of kernels serves all values, also in a replay of a jitted
        function, which refuses values with which a slice would leave its axis. Work that has to look at all
        places at once, such as sorting, is done for as many elements as the axis may have at most.

        Random numbers of a symbolic shape are those of the shape of today; as many are drawn from the stream.

        What leaves the device (`numpy`, `tolist`) has the size of today, and so have results whose number
        depends on it (iteration, `unbind`, `split` into pieces that may be more or fewer, `combinations`): a
        replay refuses other values. Refused by name are steps, gaps and padding of windows, channels in
        several groups, and what Python keeps, such as `len` and pickles. A slice of fixed size, or the value
        itself, is the way out.

        Raises:
            ShapeError: no integer does.

        Example:
            >>> n = UOp.variable("n", 1, 10)
            >>> n.bind(3).op
            Ops.BIND
        """
        if highest < lowest:
            raise ShapeError(
                f"no integer lies in {lowest}..{highest}, so there is none for {name}. Pass the lowest first."
            )
        return UOp(Ops.DEFINE_VAR, dtype, (), (name, lowest, highest))

    @staticmethod
    def range(size: "int | UOp", ident: int | tuple[int, ...], kind: AxisType = AxisType.LOOP) -> "UOp":
        """Return the loop variable of an axis of `size` steps."""
        size = UOp.const(dtypes.index, size) if isinstance(size, int) else size
        return UOp(Ops.RANGE, size.dtype, (size,), Axis((ident,) if isinstance(ident, int) else ident, kind))

    @staticmethod
    def new_buffer(device: str, shape: tuple[int, ...], dtype: DType, place: Any = None) -> "UOp":
        """Return a BUFFER that no other call returned: memory for `shape` elements on `device`."""
        # the constructor of a named tuple is Python's, and takes twice as long
        number = next(_buffer_numbers)
        arg = _new_tuple(BufferArg, (number, device, shape))
        # as `__new__` does where it finds no such node: the number is new, so there is none
        self: Any = _UnfrozenNode()
        self.op = Ops.BUFFER
        self.dtype = dtype
        self.src = ()
        self.arg = arg
        self.place = place
        self.tag = self._bounds = self._ranges = self._order = self._key = None
        self.normal_for = self._below = None
        # as `placement_of` would find out
        self._placement = (shape, device)
        self.__class__ = UOp
        _buffers.add(number, self)
        return self

    @staticmethod
    def iota(size: "int | UOp", dtype: DType = dtypes.int32) -> "UOp":
        """Return the integers `0 .. size-1` with shape `(size,)`."""
        size = UOp.const(dtypes.index, size) if isinstance(size, int) else size
        return UOp(Ops.IOTA, dtype, (size,))

    @staticmethod
    def sink(*roots: "UOp", arg: Any = None) -> "UOp":
        """Return one node that keeps several roots together."""
        return UOp(Ops.SINK, dtypes.void, roots, arg)

    def const_like(self, value: Number) -> "UOp":
        """Return the constant `value` in this node's dtype (a scalar, which broadcasts against any shape)."""
        return UOp.const(self.dtype, value)

    def alu(self, op: Ops, *others: "UOp") -> "UOp":
        """Return the elementwise `op` of this node and `others`; comparisons give bool."""
        src = (self, *others)
        dtype = dtypes.bool if op in COMPARE else (others[0] if op is Ops.WHERE else self).dtype
        count, placement = 1, self._placement
        for s in src:
            if s.dtype.count > count:
                count = s.dtype.count
            if placement is not None and s._placement is not placement:
                placement = common_placement(placement, s._placement)
        if dtype.count != count:
            dtype = dtype.vec(count)
        if dtype is dtypes.index:
            placement = None
        if src[-1].dtype.kind == "complex" and op not in COMPLEX_ALU:
            raise DtypeError(
                f"{op.name} of {src[-1].dtype.name}: complex numbers have no such operation. Take .real, "
                ".imag or .abs() first."
            )
        # said to the class, it takes twice as long
        return UOp.__new__(UOp, op, dtype, src, None, None, placement)

    def replace(self, **parts: Any) -> "UOp":
        """Return this node with other parts (`op dtype src arg tag`)."""
        return UOp(
            parts.get("op", self.op),
            parts.get("dtype", self.dtype),
            parts.get("src", self.src),
            parts.get("arg", self.arg),
            parts.get("tag", self.tag),
        )

    def rtag(self, tag: Any = True) -> "UOp":
        """Return this node with another tag."""
        return UOp(self.op, self.dtype, self.src, self.arg, tag)

    def bind(self, value: int) -> "UOp":
        """Return this variable together with the value it has today.

        Raises:
            ShapeError: `value` is no integer of the variable's interval.
        """
        name, lowest, highest = self.arg
        is_integer = isinstance(value, int)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not is_integer or not lowest <= value <= highest:
            raise ShapeError(
                f"{name} is an integer in {lowest}..{highest}: cannot bind it to {value}. Pass one of "
                "those, or make the variable with other limits."
            )
        return UOp(Ops.BIND, self.dtype, (self, UOp.const(self.dtype, value)))

    def unbind(self) -> "tuple[UOp, int]":
        """Return the variable and the value of a BIND."""
        return self.src[0], self.src[1].arg

    # --- asking ---

    @property
    def shape(self) -> "tuple[int | UOp, ...]":
        """The shape in elements; symbolic dimensions are index nodes.

        Raises:
            ShapeError: this node has no shape, or its sources disagree.
        """
        known = self._placement
        # who asks has a node with a shape
        return (self._lazily("_placement", placement_of) if known is None else known)[0]

    @property
    def device(self) -> str | None:
        """The device this value lives on; None for constants, which live anywhere."""
        known = self._placement
        return (self._lazily("_placement", placement_of) if known is None else known)[1]

    @property
    def bounds(self) -> tuple[Any, Any]:
        """An interval that every value of this node lies in, both ends included."""
        known = self._bounds
        return self._lazily("_bounds", bounds_of) if known is None else known

    @property
    def base(self) -> "UOp":
        """The node below the movement ops of this one; itself where it is no view.

        Example:
            >>> x = UOp.new_buffer("PYTHON", (2, 3), dtypes.int32)
            >>> x.reshape((6,)).base is x
            True
        """
        node = self
        while node.op in MOVEMENT:
            node = node.src[0]
        return node

    @property
    def vmin(self) -> Any:
        """A lower bound of this node's values."""
        return self.bounds[0]

    @property
    def vmax(self) -> Any:
        """An upper bound of this node's values."""
        return self.bounds[1]

    @property
    def order(self) -> Order:
        """The place of this node among others, the same in every process (see `order_of`)."""
        known = self._order
        return self._lazily("_order", order_of) if known is None else known

    @property
    def ranges(self) -> "frozenset[UOp]":
        """The RANGEs whose loops this value is computed inside of."""
        known = self._ranges
        return self._lazily("_ranges", open_ranges) if known is None else known

    @property
    def key(self) -> bytes:
        """SHA-256 of the structure: equal in every process for equal graphs."""
        known = self._key
        return self._lazily("_key", key_of) if known is None else known

    def _lazily(self, slot: str, compute: "Callable[[UOp], Any]") -> Any:
        """Compute the missing value of `slot`, for this node and those below it."""
        for s in self.src:
            if getattr(s, slot) is None:
                break
        else:
            object.__setattr__(self, slot, value := compute(self))
            return value
        stack: list[UOp] = [node := self]
        while True:
            ready = True
            for s in node.src:
                if getattr(s, slot) is None:
                    stack.append(s)
                    ready = False
            if ready:
                stack.pop()
                object.__setattr__(node, slot, value := compute(node))
                # a node that many others use is on the stack once for each use
                while stack and getattr(stack[-1], slot) is not None:
                    stack.pop()
                if not stack:
                    return value
            node = stack[-1]

    def toposort(self, gate: "Callable[[UOp], bool] | None" = None) -> "dict[UOp, None]":
        """Return every node below and including this one, sources first, in a stable order.

        Args:
            gate: nodes for which it is false are left out together with what only they use.
        """
        return toposort(self, gate)

    def variables(self) -> "tuple[UOp, ...]":
        """Return the DEFINE_VARs of this graph, by name."""
        return tuple(
            sorted((u for u in self.toposort() if u.op is Ops.DEFINE_VAR), key=lambda u: str(u.arg[0]))
        )

    def substitute(self, replacements: "Mapping[UOp, UOp]") -> "UOp":
        """Return this graph with nodes exchanged; what a replacement brings along is not searched again."""
        done: dict[UOp, UOp] = dict(replacements)
        for node in self.toposort(lambda u: u not in done):
            src = tuple([done[s] for s in node.src])
            done[node] = node if src == node.src else UOp(node.op, node.dtype, src, node.arg, node.tag)
        return done[self]


def _from_list(nodes: list[tuple[Ops, DType, tuple[int, ...], Any, Any]]) -> UOp:
    made: list[UOp] = []
    for op, dtype, src, arg, tag in nodes:
        made.append(UOp(op, dtype, tuple([made[i] for i in src]), arg, tag))
    return made[-1]
