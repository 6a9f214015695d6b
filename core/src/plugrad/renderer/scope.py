"""Keep the state of a renderer during one kernel: names, lines, and variables.

A value gets a variable when it is used more than once, or when its expression read later would give something
else: memory and accumulators change while the kernel runs. All others are written where they are used.
"""

from bisect import bisect
from collections.abc import Sequence

from plugrad.renderer.facts import addresses, group_size
from plugrad.uop import Ops, UOp

_NAMES_ITS_SOURCES = frozenset({Ops.GEP, Ops.MAX})  # languages write their sources twice, or index them
_REGISTERS = frozenset({Ops.DEFINE_ACC, Ops.ACCUMULATE})
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
        addresses: arithmetic that is nothing but parts of addresses and of loops' sizes.
        group_size: work-items of a group, at most.
    """

    def __init__(self, uops: Sequence[UOp]) -> None:
        self.names: dict[UOp, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.definitions: dict[str, str] = {}
        params = [u for u in uops if u.op is Ops.PARAM]
        self.params = {u.arg[0]: u for u in sorted(params, key=lambda u: u.arg[0])}
        self.written = {
            root.arg[0] for u in uops if u.op is Ops.STORE and (root := buffer_of(u)).op is Ops.PARAM
        }
        self.variables = sorted((u for u in uops if u.op is Ops.DEFINE_VAR), key=lambda u: str(u.arg[0]))
        self.addresses = addresses(uops)
        self.group_size = group_size(uops)
        self._taken: dict[str, UOp] = {}
        self._counts: dict[str, int] = {}
        self._nesting: dict[UOp, int] = {}
        self._registers_read: dict[UOp, frozenset[UOp]] = {}
        self._position = {u: i for i, u in enumerate(uops)}
        # the only user of each node that is used; None where there are several
        self._user: dict[UOp, UOp | None] = {}
        self._changes: dict[UOp, list[int]] = {}
        self._edges = [i for i, u in enumerate(uops) if u.op in (Ops.RANGE, Ops.END)]
        for i, u in enumerate(uops):
            for s in u.src:
                self._user[s] = None if s in self._user else u
            if u.op is Ops.ACCUMULATE:
                self._changes.setdefault(u.src[0], []).append(i)

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
        self.names[u] = expression
        self._nesting[u] = 1 + max((self._nesting.get(s, 0) for s in u.src), default=0)
        if registers := self._reads(u):
            self._registers_read[u] = registers

    def declare(self, u: UOp, prefix: str, type_name: str, expression: str) -> None:
        """Give `u` a variable that holds `expression`."""
        self.names[u] = self.fresh(prefix)
        self.line(f"{type_name} {self.names[u]} = {expression};")

    def may_inline(self, u: UOp) -> bool:
        """Return whether writing `u` at its only use leaves its value the same."""
        user = self._user.get(u)
        if user is None or user.op in _NAMES_ITS_SOURCES:
            return False
        if max((self._nesting.get(s, 0) for s in u.src), default=0) >= MAX_NESTING:
            return False
        registers = self._reads(u)
        if not registers:
            return True
        here, there = self._position[u], self._position[user]
        # in another loop the register may have changed by the next turn, wherever the change is written
        same_loop = bisect(self._edges, here) == bisect(self._edges, there)
        return same_loop and not any(here < at < there for r in registers for at in self._changes.get(r, ()))

    def _reads(self, u: UOp) -> frozenset[UOp]:
        registers = _NONE
        for s in u.src:
            if s.op in _REGISTERS:
                registers |= {s if s.op is Ops.DEFINE_ACC else s.src[0]}
            elif s in self._registers_read:
                registers |= self._registers_read[s]
        return registers


def buffer_of(u: UOp) -> UOp:
    """Return the PARAM or DEFINE_LOCAL that a LOAD, STORE or INDEX is about."""
    while u.op not in (Ops.PARAM, Ops.DEFINE_LOCAL):
        u = u.src[0]
    return u
