"""The operations of the one IR, a documented line each, and their groups.

The comment behind each op lists its sources and the type of its `arg`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from plugrad._frozen import frozen
from plugrad.dtype import ConstType, DType, dtype_min

if TYPE_CHECKING:
    from enum import Enum, auto
else:
    from plugrad._enum import Enum, auto


class Ops(Enum):
    """Every kind of node, from the tensor graph down to the linear kernel."""

    # values
    CONST = auto()  # (): a Python bool, int or float as arg; every lane of a vector dtype holds it
    IOTA = auto()  # (size): the integers 0 .. size-1, shape (size,)
    BUFFER = auto()  # (): BufferArg(ident, device, shape); memory that exists or will
    DEFINE_VAR = auto()  # (): (name, lowest, highest); a symbolic integer
    BIND = auto()  # (DEFINE_VAR, CONST): the variable together with today's value

    # tensor structure
    RESHAPE = auto()  # (x, *dims): same elements in row-major order, new shape
    EXPAND = auto()  # (x, *dims): axes of size 1 repeated
    PERMUTE = auto()  # (x): axes in the order of arg
    PAD = auto()  # (x, b0, e0, b1, e1, ...): zeros before and after each axis
    SHRINK = auto()  # (x, b0, e0, b1, e1, ...): the half-open interval [b, e) of each axis
    FLIP = auto()  # (x): the axes in arg, reversed
    REDUCE_AXIS = auto()  # (x): (Ops.ADD | MUL | MAX, axes); reduced axes stay with size 1
    CONTIGUOUS = auto()  # (x): x, in memory of its own
    DETACH = auto()  # (x): x, without a gradient
    COPY = auto()  # (x): x on the device named by arg
    ASSIGN = auto()  # (target, value): None, ADD or MAX; target's memory with value put or combined there
    KERNEL = auto()  # (*buffers): arg is the kernel's SINK, or COPY; runs it on those buffers, slot by slot
    AFTER = auto()  # (x, *effects): None, or how many STOREs of the kernel come before; x, after all these
    SINK = auto()  # (*roots): KernelInfo or None; keeps several roots as one graph

    # elementwise, unary
    NEG = auto()  # (x): -x
    RECIP = auto()  # (x): 1/x
    EXP = auto()  # (x): e**x
    EXP2 = auto()  # (x): 2**x
    LOG2 = auto()  # (x): base-2 logarithm
    SIN = auto()  # (x): sine of radians
    COS = auto()  # (x): cosine of radians
    SQRT = auto()  # (x): square root, correctly rounded
    TRUNC = auto()  # (x): towards zero, still a float
    CAST = auto()  # (x): the value in another dtype; float to int truncates, undefined outside of its range
    BITCAST = auto()  # (x): the bits in another dtype of the same size

    # elementwise, binary
    ADD = auto()  # (x, y): x + y; or for bool
    SUB = auto()  # (x, y): x - y
    MUL = auto()  # (x, y): x * y; and for bool
    FDIV = auto()  # (x, y): x / y of floats
    FMOD = auto()  # (x, y): C's fmod of floats: x less a whole multiple of y, with the sign of x; exact
    FLOORDIV = auto()  # (x, y): Python's // of integers
    FLOORMOD = auto()  # (x, y): Python's % of integers
    CDIV = auto()  # (x, y): C's / of integers (towards zero)
    CMOD = auto()  # (x, y): C's % of integers (sign of x)
    MAX = auto()  # (x, y): the greater; NaN if either is
    POW = auto()  # (x, y): x ** y of floats
    CMPLT = auto()  # (x, y): x < y
    CMPNE = auto()  # (x, y): x != y
    CMPEQ = auto()  # (x, y): x == y
    AND = auto()  # (x, y): bitwise and
    OR = auto()  # (x, y): bitwise or
    XOR = auto()  # (x, y): bitwise exclusive or
    SHL = auto()  # (x, y): x << y, for 0 <= y < width
    SHR = auto()  # (x, y): x >> y, arithmetic for signed x, for 0 <= y < width
    THREEFRY = auto()  # (counter, key): Threefry-2x32 of two uint64

    # elementwise, ternary
    WHERE = auto()  # (cond, x, y): x where cond holds, else y
    MULACC = auto()  # (x, y, z): x*y + z; may round once or twice

    # kernels
    PARAM = auto()  # (): (slot, numel, maybe symbolic); the kernel's buffer argument number slot
    DEFINE_LOCAL = auto()  # (): (ident, numel); memory shared by a workgroup
    DEFINE_ACC = auto()  # (initial): int; a register that ACCUMULATE changes
    ACCUMULATE = auto()  # (acc, value): acc := value; later users read acc
    SPECIAL = auto()  # (size): "gidx0", "lidx1", "thread"; this work-item's place on a launch axis
    RANGE = auto()  # (size): Axis; the loop variable of one axis
    END = auto()  # (range): closes that loop
    IF = auto()  # (cond): opens a conditional block
    ENDIF = auto()  # (if): closes it
    BARRIER = auto()  # (*effects, *ranges): None, or how many COMMITs may go on; all work-items wait
    REDUCE = (
        auto()
    )  # (*values, *ranges): (Ops.ADD | MUL | MAX, number of values); values over ranges, combined
    INDEX = auto()  # (buffer, idx[, gate]): the place of element idx; with a gate, only where it holds
    LOAD = auto()  # (INDEX[, alt, gate]): the element(s) there
    STORE = auto()  # (INDEX, value, *ranges): None, ADD or MAX; write or update atomically, end the ranges
    VECTORIZE = auto()  # (*scalars): one vector of them
    GEP = auto()  # (vector): a tuple of lanes; one lane gives a scalar

    # tensor structure that gradients ask for
    FUNCTION = auto()  # (*outputs, *inputs): FunctionArg; outputs with a gradient rule of their own
    OUTPUT = auto()  # (FUNCTION): the number of the output that this is
    LATER = auto()  # (x, *before): x, another node, for kernels that run once the values before are there
    DISPATCH = auto()  # (x, *inputs): DispatchArg; x, or what its rule makes of the inputs for a device

    # complex numbers, in tensor graphs only (see plugrad.schedule.prepare.lower_complex)
    COMPLEX = auto()  # (x, y): x + iy of two floats
    REAL = auto()  # (z): the real part
    IMAG = auto()  # (z): the imaginary part

    # kernels, by the threads of a warp together
    WMMA = auto()  # (a, b, c): TensorCore; (a + its offset) @ b + c of a tile, as each thread's fragments
    LOAD_MATRIX = auto()  # (INDEX of local memory): FragmentLoad; a fragment of rows, of which each names one

    # kernels, copies that go on while others are read
    COMMIT = auto()  # (*STOREs, *COMMITs): what a BARRIER later waits for as one
    COPY_ASYNC = auto()  # (INDEX of local memory, INDEX[, gate]): int; copy so many lanes, or zeros

    # tensors on devices that run loops: what a DISPATCH chooses for them
    FOURIER = auto()  # (x, *roots): FourierArg; x transformed along an axis, in memory
    FACTOR = auto()  # (x): FactorArg; matrices x, changed in memory until they hold factors

    def __lt__(self, other: "Ops") -> bool:
        return self.value < other.value


class AxisType(Enum):
    """The kinds of loops and launch axes that an axis of a kernel becomes."""

    LOOP = auto()  # an output axis, run as a loop
    GLOBAL = auto()  # an output axis spread over the launch grid
    LOCAL = auto()  # an output axis spread over the work-items of a group
    THREAD = auto()  # an output axis spread over CPU threads
    UPCAST = auto()  # an output axis unrolled into registers
    REDUCE = auto()  # a reduced axis, run as a loop
    UNROLL = auto()  # a reduced axis unrolled inside the loop body
    GROUP_REDUCE = auto()  # a reduced axis spread over the work-items of a group
    PARTIAL = auto()  # a reduced axis unrolled into separate accumulators
    LANE = auto()  # an unrolled axis whose steps are the lanes of vector values
    WARP = auto()  # the work-items that share matrix instructions: neighbours in a group
    COPY = auto()  # an axis of a copy that the work-items of a group make together
    ORDERED = auto()  # steps of a store one after the other: each may read what those before it wrote


@frozen
class Axis:
    """The identity of an axis: splitting (2,) gives (2, 0) and (2, 1)."""

    ident: tuple[int, ...]
    kind: AxisType


class BufferArg(NamedTuple):
    """The argument of a BUFFER: its number, device and shape in elements.

    The number is unique in the process.

    A tuple, since one is made for each result of each jitted call: that takes a third of the time.
    """

    ident: int
    device: str
    shape: tuple[int, ...]


GradientRule = Callable[..., Sequence[Any]]
DispatchRule = Callable[[str, bool, tuple[Any, ...]], Any]
# the rules of functions that were printed: a function of Python has no other text that gives it back; and
# rules that are values with slots, which have no weak references
_rules: "WeakValueDictionary[int, Callable[..., Any]]" = WeakValueDictionary()
_rule_values: dict[int, Callable[..., Any]] = {}


def _printed(rule: Callable[..., Any]) -> str:
    try:
        _rules[id(rule)] = rule
    except TypeError:
        _rule_values[id(rule)] = rule
    return f"rule_of({id(rule)})"


class FunctionArg(NamedTuple):
    """The argument of a FUNCTION: the number of its outputs, and their gradient rule.

    `rule(gradients, function)` takes the gradient of each output, None where none flows, and the node; it
    returns that of each input, None where none flows.
    """

    outputs: int
    rule: GradientRule

    def __repr__(self) -> str:
        return f"FunctionArg(outputs={self.outputs}, rule={_printed(self.rule)})"


class FourierArg(NamedTuple):
    """The argument of a FOURIER.

    Attributes:
        sign: of the exponent.
        factors: of the size, one for each step; `roots` has what is multiplied by between the steps.
        axis: which axis, from the end.
        parts: which axis has real and imaginary parts, from the end.
        half: whether the numbers are neighbours out of twice as many real ones. These have one frequency
            more, for which the last place of `x` is left; further roots tell them apart.
    """

    sign: int
    factors: tuple[int, ...]
    axis: int = -2
    parts: int = -1
    half: bool = False

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes whose elements depend on each other."""
        return (self.axis, self.parts)


class FactorArg(NamedTuple):
    """The argument of a FACTOR.

    Attributes:
        kind: which factors the last two axes become, see `plugrad.codegen.factors`.
        shape: of these axes. Kernels of other shapes are others.
    """

    kind: str
    shape: tuple[int, int]

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes whose elements depend on each other."""
        return (-2, -1)


class DispatchArg(NamedTuple):
    """The argument of a DISPATCH: the rule that makes its graph for some devices.

    `rule(device, runs_loops, inputs)` takes the device's name, whether its kernels run loops in order, and
    the inputs; it returns another graph for the same value, or None to keep the first. Equal rules make equal
    nodes.
    """

    rule: DispatchRule

    def __repr__(self) -> str:
        return f"DispatchArg(rule={_printed(self.rule)})"


def rule_of(number: int) -> Callable[..., Any]:
    """Return the rule of a printed FUNCTION or DISPATCH, as long as it lives.

    Raises:
        KeyError: no printed node has that rule, or none that is still there.
    """
    return _rule_values[number] if number in _rule_values else _rules[number]


@frozen
class KernelInfo:
    """The argument of a kernel's SINK: its name and its optimisations."""

    name: str = "kernel"
    opts: tuple[object, ...] = ()


UNARY = frozenset({Ops.NEG, Ops.RECIP, Ops.EXP, Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.SQRT, Ops.TRUNC})
COMPARE = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})
BINARY = COMPARE | {
    Ops.ADD,
    Ops.SUB,
    Ops.MUL,
    Ops.FDIV,
    Ops.FMOD,
    Ops.FLOORDIV,
    Ops.FLOORMOD,
    Ops.CDIV,
    Ops.CMOD,
    Ops.MAX,
    Ops.POW,
    Ops.AND,
    Ops.OR,
    Ops.XOR,
    Ops.SHL,
    Ops.SHR,
    Ops.THREEFRY,
}
TERNARY = frozenset({Ops.WHERE, Ops.MULACC})
ALU = UNARY | BINARY | TERNARY
PARTS = frozenset({Ops.COMPLEX, Ops.REAL, Ops.IMAG})
ELEMENTWISE = ALU | {Ops.CAST, Ops.BITCAST} | PARTS
# arithmetic that complex numbers have; other functions of them are formulas of their parts
COMPLEX_ALU = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.WHERE, Ops.CMPEQ, Ops.CMPNE})
COMMUTATIVE = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPNE, Ops.CMPEQ, Ops.AND, Ops.OR, Ops.XOR})
MOVEMENT = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.PAD, Ops.SHRINK, Ops.FLIP})
REDUCING = frozenset({Ops.ADD, Ops.MUL, Ops.MAX})
UPDATING = frozenset({Ops.ADD, Ops.MAX})


def identity_of(op: Ops, dtype: DType) -> ConstType:
    """Return the neutral value of a reducing `op`, the result of reducing nothing.

    Example:
        >>> identity_of(Ops.MUL, dtypes.uint8)
        1
    """
    identities = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtype_min(dtype)}
    return identities[op]
