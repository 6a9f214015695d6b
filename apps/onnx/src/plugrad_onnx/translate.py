"""Translate graphs of tensor operations to nodes of ONNX, one operation at a time."""

# functions of onnx take types that have no stubs
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx.helper
import onnx.numpy_helper
from onnx import NodeProto, TensorProto, ValueInfoProto

from plugrad import Ops, UOp, dtypes
from plugrad.dtype import DType, is_float, is_unsigned
from plugrad.tensor.graph_access import tensor_of
from plugrad.uop.shape import pairs_of
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.sizes import is_symbolic, shown, simplified
from plugrad_onnx.values import ELEMENT_TYPES, Array

# whose numbers are shapes and places
_SHAPED = {Ops.RESHAPE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.IOTA}
_SAME = {Ops.CONTIGUOUS, Ops.DETACH, Ops.COPY, Ops.DISPATCH, Ops.LATER}  # the value is the first source
_NAMES = {
    Ops.NEG: "Neg",
    Ops.RECIP: "Reciprocal",
    Ops.EXP: "Exp",
    Ops.SIN: "Sin",
    Ops.COS: "Cos",
    Ops.SQRT: "Sqrt",
    Ops.ADD: "Add",
    Ops.SUB: "Sub",
    Ops.MUL: "Mul",
    Ops.FDIV: "Div",
    Ops.CDIV: "Div",
    Ops.MAX: "Max",
    Ops.POW: "Pow",
    Ops.CMPLT: "Less",
    Ops.CMPEQ: "Equal",
    Ops.WHERE: "Where",
    Ops.AND: "BitwiseAnd",
    Ops.OR: "BitwiseOr",
    Ops.XOR: "BitwiseXor",
}
_NAMES_OF_BOOLS = {
    Ops.ADD: "Or",
    Ops.MAX: "Or",
    Ops.MUL: "And",
    Ops.AND: "And",
    Ops.OR: "Or",
    Ops.XOR: "Xor",
    Ops.CMPNE: "Xor",
}
_REDUCTIONS = {Ops.ADD: "ReduceSum", Ops.MUL: "ReduceProd", Ops.MAX: "ReduceMax"}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Translation:
    """Collect the nodes and initializers that compute values of a graph.

    Attributes:
        nodes: in the order in which they run.
        initializers: constants, and the values of buffers that are no inputs.
        used_inputs: names of inputs that something depends on.
    """

    def __init__(self, inputs: dict[UOp, str], device: str) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.used_inputs: set[str] = set()
        self._inputs = inputs
        self._places = {
            size.src[0]: (name, axis)
            for u, name in inputs.items()
            for axis, size in enumerate(_dims(u))
            if isinstance(size, UOp) and size.op is Ops.BIND
        }
        self._device = device
        self._names: dict[UOp, str] = dict(inputs)
        self._constants: dict[tuple[str, bytes, tuple[int, ...]], str] = {}

    def add_output(self, name: str, value: UOp) -> None:
        """Translate a value, and call it so."""
        self.nodes.append(onnx.helper.make_node("Identity", [self.name_of(value)], [name]))

    def port(self, name: str, value: UOp) -> ValueInfoProto:
        """Return the declaration of an input or output."""
        sizes = [size if isinstance(size, int) else shown(size) for size in map(simplified, _dims(value))]
        return onnx.helper.make_tensor_value_info(name, _element_type(value.dtype), sizes)

    def name_of(self, root: UOp) -> str:
        """Return the name of a value, with all that it needs translated before.

        Raises:
            Untranslated: ONNX has nothing for a node.
        """
        for u in (*root.toposort(lambda u: u not in self._inputs), root):
            self.used_inputs.update(self._inputs[s] for s in (u, *u.src) if s in self._inputs)
            if u not in self._names and u.dtype != dtypes.index and u.op is not Ops.FUNCTION:
                try:
                    self._names[u] = self._translate(u)
                except Untranslated:
                    raise
                except OnnxError as error:
                    raise Untranslated(str(error), u) from error
        return self._names[root]

    def sizes(self, sizes: Sequence[Any]) -> str:
        """Return the name of whole numbers; those of Variables come from shapes of inputs."""
        if not is_symbolic(sizes):
            return self.ints(sizes)
        return self.node("Concat", *(self._size(simplified(size)) for size in sizes), axis=0)

    def _size(self, size: Any) -> str:
        """Return the name of one number along one axis."""
        if isinstance(size, int) or size.op is Ops.CONST:
            return self.ints([size if isinstance(size, int) else size.arg])
        if size not in self._names:
            self._names[size] = self._computed_size(size)
        return self._names[size]

    def _computed_size(self, size: UOp) -> str:
        if size.op is Ops.BIND:
            name, axis = self._places[size.src[0]]
            self.used_inputs.add(name)
            return self.node("Gather", self.node("Shape", name), self.ints([axis]), axis=0)
        parts = [self._size(part) for part in size.src]
        if size.op is Ops.FLOORDIV or size.op is Ops.CDIV:
            return self.node("Div", *parts)  # of sizes, which are not negative
        if size.op is Ops.FLOORMOD or size.op is Ops.CMOD:
            return self.node("Mod", *parts)
        if size.op not in _NAMES:
            raise OnnxError(f"ONNX has no operator for {size.op.name} of sizes, which a shape depends on")
        return self.node(_NAMES[size.op], *parts)

    def _translate(self, u: UOp) -> str:
        if u.op in _SAME:
            return self._names[u.src[0]]
        if u.op is Ops.OUTPUT:
            return self._names[u.src[0].src[u.arg]]
        sources = [self._names[s] for s in u.src if s.dtype != dtypes.index and s in self._names]
        if u.op not in _SHAPED and any(s.dtype == dtypes.index for s in u.src):
            scalars = [self.node("Squeeze", self._size(s)) if s.dtype == dtypes.index else "" for s in u.src]
            sources = [scalar or self._names[s] for scalar, s in zip(scalars, u.src, strict=True)]
        if rule := _RULES.get(u.op):
            return rule(self, u, sources)
        table = (
            _NAMES_OF_BOOLS
            if u.src and u.src[-1].dtype == dtypes.bool and u.op in _NAMES_OF_BOOLS
            else _NAMES
        )
        if u.op not in table:
            raise OnnxError(
                f"ONNX has no operator for {u.op.name} of {u.dtype.name}, which the function uses"
            )
        return self.node(table[u.op], *sources)

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array: Array) -> str:
        """Add an initializer, unless there is an equal one, and return its name."""
        key = (array.dtype.name, array.tobytes(), array.shape)
        if key not in self._constants:
            self._constants[key] = name = f"c{len(self.initializers)}"
            self.initializers.append(onnx.numpy_helper.from_array(array, name))
        return self._constants[key]

    def reshaped(self, name: str, sizes: Sequence[Any]) -> str:
        """Add a change of shape and return the name of its result."""
        dynamic = [i for i, size in enumerate(sizes) if isinstance(size, UOp)]
        if len(dynamic) == 1 and 0 not in sizes:
            wanted = self.ints([-1 if i in dynamic else size for i, size in enumerate(sizes)])
        else:
            wanted = self.sizes(sizes)
        # 0 is a size, not "as before"
        return self.node("Reshape", name, wanted, allowzero=int(0 in sizes or len(dynamic) > 1))

    def ints(self, numbers: Sequence[int]) -> str:
        """Add an initializer of integers and return its name."""
        return self.constant(np.array(numbers, np.int64))

    def buffer(self, u: UOp) -> str:
        """Add the value of memory as an initializer."""
        array = tensor_of(u, self._device).numpy()
        return self.constant(np.asarray(array).astype(_numpy_type(u.dtype)))


class Untranslated(OnnxError):
    """A node has nothing in ONNX that computes it.

    Attributes:
        node: of the graph.
    """

    def __init__(self, message: str, node: UOp) -> None:
        super().__init__(message)
        self.node = node


Rule = Callable[[Translation, UOp, list[str]], str]


def _element_type(dtype: DType) -> int:
    if dtype not in ELEMENT_TYPES:
        raise OnnxError(f"ONNX has no element type for {dtype}")
    return ELEMENT_TYPES[dtype]


def _numpy_type(dtype: DType) -> Any:
    if dtype == dtypes.bfloat16:
        return ml_dtypes.bfloat16
    return onnx.helper.tensor_dtype_to_np_dtype(_element_type(dtype))


def _dims(u: UOp) -> tuple[Any, ...]:
    return tuple(u.shape)


def _const(t: Translation, u: UOp, _: list[str]) -> str:
    return t.constant(np.array(u.arg).astype(_numpy_type(u.dtype)))


def _iota(t: Translation, u: UOp, _: list[str]) -> str:
    (count,) = _dims(u)
    if isinstance(count, int):
        return t.constant(np.arange(count).astype(_numpy_type(u.dtype)))
    end = t.node("Squeeze", t.sizes([count]))
    line = t.node("Range", t.constant(np.array(0)), end, t.constant(np.array(1)))
    return t.node("Cast", line, to=_element_type(u.dtype))


def _reshape(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.reshaped(sources[0], _dims(u))


def _expand(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("Expand", sources[0], t.sizes(_dims(u)))


def _permute(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("Transpose", sources[0], perm=list(u.arg))


def _pad(t: Translation, u: UOp, sources: list[str]) -> str:
    pairs: Any = pairs_of(u)
    widths = t.sizes([*(low for low, _ in pairs), *(high for _, high in pairs)])
    if u.dtype != dtypes.bool:
        return t.node("Pad", sources[0], widths)
    wide = t.node("Pad", t.node("Cast", sources[0], to=TensorProto.INT32), widths)
    return t.node("Cast", wide, to=TensorProto.BOOL)


def _shrink(t: Translation, u: UOp, sources: list[str]) -> str:
    pairs: Any = pairs_of(u)
    return t.node(
        "Slice", sources[0], t.sizes([low for low, _ in pairs]), t.sizes([high for _, high in pairs])
    )


def _flip(t: Translation, u: UOp, sources: list[str]) -> str:
    axes = list(u.arg)
    lowest = t.ints([np.iinfo(np.int64).min] * len(axes))
    return t.node(
        "Slice", sources[0], t.ints([-1] * len(axes)), lowest, t.ints(axes), t.ints([-1] * len(axes))
    )


def _reduce(t: Translation, u: UOp, sources: list[str]) -> str:
    op, axes = u.arg
    (x,) = u.src
    if op is Ops.ADD and x.op is Ops.MUL and (product := _product(t, u, x, axes)):
        return product
    if x.dtype == dtypes.bool:
        kind = "ReduceProd" if op is Ops.MUL else "ReduceMax"
        wide = t.node(kind, t.node("Cast", sources[0], to=TensorProto.INT32), t.ints(axes))
        return t.node("Cast", wide, to=TensorProto.BOOL)
    return t.node(_REDUCTIONS[op], sources[0], t.ints(axes))


def _product(t: Translation, u: UOp, x: UOp, axes: Sequence[int]) -> str | None:
    """Return a sum of products as an Einsum, or None."""
    shape = _dims(x)
    operands = [_without_expansion(s) for s in x.src]
    wide = {i for i, size in enumerate(shape) if not _is_one(size)}
    have = [{i for i in wide if not _is_one(_dims(base)[i])} for base in operands]
    if not any(s.op is Ops.EXPAND for s in x.src) or have[0] | have[1] != wide or not is_float(u.dtype):
        return None
    terms = ["".join(_LETTERS[i] for i in sorted(axes_)) for axes_ in have]
    squeezed = [
        t.reshaped(t.name_of(base), [shape[i] for i in sorted(axes_)])
        for base, axes_ in zip(operands, have, strict=True)
    ]
    kept = "".join(_LETTERS[i] for i in sorted(wide - set(axes)))
    out = t.node("Einsum", *squeezed, equation=f"{','.join(terms)}->{kept}")
    return t.reshaped(out, _dims(u))


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def _without_expansion(u: UOp) -> UOp:
    return u.src[0] if u.op is Ops.EXPAND else u


def _cast(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("Cast", sources[0], to=_element_type(u.dtype))


def _bit_cast(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("BitCast", sources[0], to=_element_type(u.dtype))


def _not_equal(t: Translation, u: UOp, sources: list[str]) -> str:
    kind = u.src[0].dtype
    return t.node("Xor", *sources) if kind == dtypes.bool else t.node("Not", t.node("Equal", *sources))


def _less(t: Translation, u: UOp, sources: list[str]) -> str:
    if u.src[0].dtype == dtypes.bool:
        return t.node("And", t.node("Not", sources[0]), sources[1])
    return t.node("Less", *sources)


def _negated(t: Translation, u: UOp, sources: list[str]) -> str:
    if is_unsigned(u.dtype):
        return t.node("Sub", t.constant(np.zeros((), _numpy_type(u.dtype))), sources[0])
    return t.node("Neg", sources[0])


def _trunc(t: Translation, u: UOp, sources: list[str]) -> str:
    zero = t.constant(np.zeros((), _numpy_type(u.dtype)))
    up, down = t.node("Ceil", sources[0]), t.node("Floor", sources[0])
    return t.node("Where", t.node("Less", sources[0], zero), up, down)


def _floor_div(t: Translation, u: UOp, sources: list[str]) -> str:
    x, y = sources
    return t.node("Div", t.node("Sub", x, t.node("Mod", x, y)), y)


def _mod(fmod: int) -> Rule:
    return lambda t, u, sources: t.node("Mod", *sources, fmod=fmod)


def _exp2(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("Pow", t.constant(np.full((), 2, _numpy_type(u.dtype))), sources[0])


def _log2(t: Translation, u: UOp, sources: list[str]) -> str:
    scale = t.constant(np.array(1 / np.log(2)).astype(_numpy_type(u.dtype)))
    return t.node("Mul", t.node("Log", sources[0]), scale)


def _drawn(t: Translation, u: UOp, sources: list[str]) -> str:
    raise OnnxError(
        "ONNX has no generator that draws the same numbers as THREEFRY, which the function uses. Parameters "
        "that are drawn when they are first needed become constants if they are realized before."
    )


def _mul_add(t: Translation, u: UOp, sources: list[str]) -> str:
    return t.node("Add", t.node("Mul", *sources[:2]), sources[2])


def _shift(direction: str) -> Rule:
    def shift(t: Translation, u: UOp, sources: list[str]) -> str:
        if not is_unsigned(u.dtype):
            raise OnnxError(f"ONNX shifts unsigned integers only, and the function shifts {u.dtype.name}")
        return t.node("BitShift", *sources, direction=direction)

    return shift


def _buffer(t: Translation, u: UOp, _: list[str]) -> str:
    return t.buffer(u)


_RULES: dict[Ops, Rule] = {
    Ops.BUFFER: _buffer,
    Ops.CONST: _const,
    Ops.IOTA: _iota,
    Ops.RESHAPE: _reshape,
    Ops.EXPAND: _expand,
    Ops.PERMUTE: _permute,
    Ops.PAD: _pad,
    Ops.SHRINK: _shrink,
    Ops.FLIP: _flip,
    Ops.REDUCE_AXIS: _reduce,
    Ops.CAST: _cast,
    Ops.BITCAST: _bit_cast,
    Ops.CMPNE: _not_equal,
    Ops.CMPLT: _less,
    Ops.NEG: _negated,
    Ops.TRUNC: _trunc,
    Ops.FLOORDIV: _floor_div,
    Ops.FLOORMOD: _mod(0),
    Ops.CMOD: _mod(1),
    Ops.FMOD: _mod(1),
    Ops.EXP2: _exp2,
    Ops.LOG2: _log2,
    Ops.THREEFRY: _drawn,
    Ops.MULACC: _mul_add,
    Ops.SHL: _shift("LEFT"),
    Ops.SHR: _shift("RIGHT"),
}
