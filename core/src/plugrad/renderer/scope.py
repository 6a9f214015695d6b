"""Keep the state of a renderer during one kernel: names, lines, and variables.

A value gets a variable when it is used more than once, or when its expression read later would give something
else: memory and accumulators change while the kernel runs. All others are written where they are used.
"""

from bisect import bisect
from collections.abc import Sequence
from functools import cached_property

from plugrad.renderer.facts import addresses, group_size
from plugrad.uop import Ops, UOp

_NAMES_ITS_SOURCES = frozenset({Ops.GEP, Ops.MAX})  # languages write their sources twice, or index them
_REGISTERS = frozenset({Ops.DEFINE_ACC, Ops.ACCUMULATE})
_MEMORY = frozenset({Ops.PARAM, Ops.DEFINE_LOCAL})
_OF_INTEREST = (Ops.PARAM, Ops.DEFINE_VAR, Ops.RANGE, Ops.END, Ops.STORE, Ops.ACCUMULATE)
_NONE: frozenset[UOp] = frozenset()
MAX_NESTING = (
    12  # of expressions written inside each other; deeper ones are hard to read and upset some compilers
)


class Scope:
    """The state of one `render` call.

    Attributes:
        names: the expression or variable of each node written so far.
        lines: the kernel's body, indented.
        definitions: paragraphs that stand before the kernel (types, helpers), by name, in order.
        params: the kernel's buffers by slot.
        written: slots of the buffers that the kernel stores to.
        variables: the kernel's scalars, by name.
    """

    def __init__(self, uops: Sequence[UOp]) -> None:
        self.names: dict[UOp, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.definitions: dict[str, str] = {}
        self._uops = uops
        self._taken: dict[str, UOp] = {}
        self._counts: dict[str, int] = {}
        self._nesting: dict[UOp, int] = {}
        self._registers_read: dict[UOp, frozenset[UOp]] = {}
        self._position = dict(zip(uops, range(len(uops)), strict=True))
        # the only user of each node that is used; None where there are several
        self._user: dict[UOp, UOp | None] = {}
        self._changes: dict[UOp, list[int]] = {}
        of_interest: dict[Ops, list[UOp]] = {op: [] for op in _OF_INTEREST}
        user = self._user
        for u in uops:
            for s in u.src:
                user[s] = None if s in user else u
            if u.op in of_interest:
                of_interest[u.op].append(u)
        self.params = {u.arg[0]: u for u in sorted(of_interest[Ops.PARAM], key=lambda u: u.arg[0])}
        stored = map(buffer_of, of_interest[Ops.STORE])
        self.written = {root.arg[0] for root in stored if root.op is Ops.PARAM}
        self.variables = sorted(of_interest[Ops.DEFINE_VAR], key=lambda u: str(u.arg[0]))
        self._edges = sorted(self._position[u] for op in (Ops.RANGE, Ops.END) for u in of_interest[op])
        for u in of_interest[Ops.ACCUMULATE]:
            self._changes.setdefault(u.src[0], []).append(self._position[u])

    @cached_property
    def addresses(self) -> set[UOp]:
        """The arithmetic that is nothing but parts of addresses and of loops' sizes."""
        return addresses(self._uops)

    @cached_property
    def group_size(self) -> int:
        """The work-items of a group, at most."""
        return group_size(self._uops)

    def line(self, text: str) -> None:
        """Add a line to the body."""
        self.lines.append("  " * self.depth + text)

    def open_block(self, text: str) -> None:
        """Add a line that opens a block."""
        self.line(text)
        self.depth += 1

    def close_block(self) -> None:
        """Close the innermost block."""
        self.depth -= 1
        self.line("}")

    def define(self, name: str, paragraph: str) -> str:
        """Add a definition that stands before the kernel, once; return its name."""
        self.definitions.setdefault(name, paragraph)
        return name

    def fresh(self, prefix: str) -> str:
        """Return a variable name that no other node has: the prefix with a number."""
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def claim(self, name: str, u: UOp) -> str:
        """Return `name`, or a variation of it where another node has that name already."""
        while self._taken.setdefault(name, u) is not u:
            name += "_"
        return name

    def is_used(self, u: UOp) -> bool:
        """Say whether any node of the program uses `u`."""
        return u in self._user

    def inline(self, u: UOp, expression: str) -> None:
        """Write `u` as `expression` wherever it is used."""
        self._inline(u, expression, *self._below(u))

    def inline_at_use(self, u: UOp, expression: str) -> bool:
        """Write `u` as `expression` at its only use, unless its value is another there."""
        user = self._user.get(u)
        if user is None or user.op in _NAMES_ITS_SOURCES:
            return False
        nesting, registers = self._below(u)
        if nesting >= MAX_NESTING or (registers and self._may_change(registers, u, user)):
            return False
        self._inline(u, expression, nesting, registers)
        return True

    def declare(self, u: UOp, prefix: str, type_name: str, expression: str) -> None:
        """Give `u` a variable that holds `expression`."""
        self.names[u] = self.fresh(prefix)
        self.line(f"{type_name} {self.names[u]} = {expression};")

    def _inline(self, u: UOp, expression: str, nesting: int, registers: frozenset[UOp]) -> None:
        self.names[u] = expression
        self._nesting[u] = nesting + 1
        if registers:
            self._registers_read[u] = registers

    def _below(self, u: UOp) -> tuple[int, frozenset[UOp]]:
        """Return the nesting of expressions inside of `u`, and the registers they read."""
        deepest, registers = 0, _NONE
        for s in u.src:
            if s.op in _REGISTERS:
                registers |= {s if s.op is Ops.DEFINE_ACC else s.src[0]}
            elif (nesting := self._nesting.get(s)) is not None:
                deepest = max(deepest, nesting)
                registers |= self._registers_read.get(s, _NONE)
        return deepest, registers

    def _may_change(self, registers: frozenset[UOp], u: UOp, user: UOp) -> bool:
        """Say whether a register may change between `u` and its user."""
        here, there = self._position[u], self._position[user]
        # in another loop the register may have changed by the next turn, wherever the change is written
        if bisect(self._edges, here) != bisect(self._edges, there):
            return True
        return any(here < at < there for r in registers for at in self._changes.get(r, ()))


def buffer_of(u: UOp) -> UOp:
    """Return the PARAM or DEFINE_LOCAL that a LOAD, STORE or INDEX is about."""
    while u.op not in _MEMORY:
        u = u.src[0]
    return u
