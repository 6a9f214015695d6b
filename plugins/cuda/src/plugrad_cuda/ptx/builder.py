"""Keep one kernel while it is written: instructions, registers, operands of nodes."""

from collections import ChainMap, Counter
from typing import NamedTuple

from plugrad.dtype import DType, dtypes, is_bool
from plugrad.uop import Ops, UOp
from plugrad_cuda.ptx.isa import Isa
from plugrad_cuda.ptx.types import HALVES, is_literal, plain_type

_PREFIXES = {"pred": "p", "b16": "h", "b32": "r", "b64": "l", "f32": "f", "f64": "d"}


class Address(NamedTuple):
    """An address: a register and an offset in bytes, in a space such as `global.nc`."""

    space: str
    base: str
    offset: int


class PtxBuilder:
    """The instructions of one kernel. Each value gets registers of its own; only accumulators change.

    Args:
        isa: what the instructions are chosen from.
        is_unaligned: whether buffers may begin where wide accesses may not.

    Attributes:
        lines: the instructions.
        values: the operands of each node, one for each lane.
        places: the address of each INDEX, and of the buffers.
        labels: what the label of each RANGE and IF begins with.
        addresses: the registers that hold an address in this block or one around it, by buffer and index.
        words: those that hold small values together, by the operands of these.
    """

    def __init__(self, isa: Isa, *, is_unaligned: bool) -> None:
        self.isa = isa
        self.is_unaligned = is_unaligned
        self.lines: list[str] = []
        self.values: dict[UOp, tuple[str, ...]] = {}
        self.places: dict[UOp, Address] = {}
        self.labels: dict[UOp, str] = {}
        self.addresses: ChainMap[tuple[UOp, UOp], str] = ChainMap()
        self.words: ChainMap[tuple[str, ...], str] = ChainMap()
        self._counts: Counter[str] = Counter()

    def line(self, text: str) -> None:
        """Add an instruction, or a declaration."""
        self.lines.append(f"  {text};")

    def label(self, name: str) -> None:
        """Add a place that branches go to."""
        self.lines.append(f"{name}:")

    def fresh(self, prefix: str) -> str:
        """Return a name that nothing else has."""
        self._counts[prefix] += 1
        return f"{prefix}{self._counts[prefix]}"

    def register(self, dtype: DType) -> str:
        """Return a register that nothing has used."""
        return f"%{self.fresh(_PREFIXES[plain_type(dtype)])}"

    def declarations(self) -> list[str]:
        """Return the declarations of all registers."""
        return [
            f"  .reg .{kind} %{prefix}<{self._counts[prefix] + 1}>;"
            for kind, prefix in _PREFIXES.items()
            if self._counts[prefix]
        ]

    def value(self, dtype: DType, instruction: str, *operands: str) -> str:
        """Add an instruction and return the register of its result."""
        out = self.register(dtype)
        self.line(f"{instruction} {', '.join((out, *operands))}")
        return out

    def read(self, u: UOp) -> str:
        """Return the operand of a scalar, a register or a constant."""
        (operand,) = self.values[u]
        return operand

    def copied(self, u: UOp) -> str:
        """Return a copy of the scalar's present value; accumulators change later."""
        is_changing = u.op in (Ops.DEFINE_ACC, Ops.ACCUMULATE)
        return self.moved(u.dtype, self.read(u)) if is_changing else self.read(u)

    def moved(self, dtype: DType, operand: str) -> str:
        """Return a new register that holds an operand."""
        return self.value(dtype, f"mov.{plain_type(dtype)}", operand)

    def in_register(self, dtype: DType, operand: str) -> str:
        """Return the operand where no constant may stand."""
        return self.moved(dtype, operand) if is_literal(operand) else operand

    def select(self, dtype: DType, condition: str, x: str, y: str) -> str:
        """Return x where the predicate holds, else y, of numbers."""
        return self.value(dtype, f"selp.{plain_type(dtype)}", x, y, condition)

    def test(self, comparison: str, x: str, y: str) -> str:
        """Return the predicate that a comparison gives."""
        return self.value(dtypes.bool, f"setp.{comparison}", x, y)

    def open_block(self) -> None:
        """Begin a block that may run any number of times.

        Values computed in it are unknown after it.
        """
        self.addresses = self.addresses.new_child()
        self.words = self.words.new_child()

    def close_block(self) -> None:
        """End the innermost block."""
        self.addresses = self.addresses.parents
        self.words = self.words.parents

    def constant(self, dtype: DType, text: str) -> str:
        """Return the operand of a constant: in a register where no instruction takes it."""
        return self.moved(dtype, text) if is_bool(dtype) or dtype in HALVES else text
