"""A function while it is written: lines, names of values, the open block."""

from plugrad.dtype import ConstType, DType
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_llvm.types import literal, type_name


class Body:
    """The function of one kernel.

    Attributes:
        entry: lines of its first block, where registers that change are made.
        lines: all others.
        block: the label of the block that is open; a PHI names the blocks that it comes from.
        names: what each node is written as: a value, an address, or a register that is read where it is used.
    """

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.block = "entry"
        self.names: dict[UOp, str] = {}
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """Return a name that nothing else has."""
        self._count += 1
        return f"{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Add an instruction that gives nothing."""
        self.lines.append(f"  {text}")

    def value(self, text: str) -> str:
        """Add an instruction and return the name of what it gives."""
        name = f"%{self.fresh('v')}"
        self.line(f"{name} = {text}")
        return name

    def open(self, label: str) -> None:
        """End the open block by going on in the block `label`."""
        self.line(f"br label %{label}")
        self.enter(label)

    def enter(self, label: str) -> None:
        """Begin the block `label`; the one before has ended."""
        self.lines.append(f"{label}:")
        self.block = label

    def read(self, u: UOp) -> str:
        """Return the value of `u` at this point of the program."""
        if u.op is Ops.ACCUMULATE:
            u = u.src[0]
        if u.op is Ops.DEFINE_ACC:
            return self.value(f"load {type_name(u.dtype)}, ptr {self.names[u]}")
        return self.names[u]

    def typed(self, u: UOp) -> str:
        """Return type and value of `u`, as most instructions want them."""
        return f"{type_name(u.dtype)} {self.read(u)}"

    def constant(self, dtype: DType, value: ConstType) -> str:
        """Return type and value of a constant."""
        return f"{type_name(dtype)} {literal(dtype, value)}"
