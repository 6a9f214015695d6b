"""The pages of docs/internals that are made from the code: passes, operations, costs."""

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import Any

from plugrad import Tensor, dtypes, events
from plugrad.cli.passes import find_pipelines
from plugrad.codegen.lower import lower
from plugrad.schedule.create import create_schedule
from plugrad.schedule.fusion import CostModel
from plugrad.target import Capabilities
from plugrad.uop import ops
from plugrad.uop.op_cost import op_cost
from plugrad.uop.ops import Ops
from plugrad.uop.passes import Stage
from plugrad.uop.uop import UOp

MADE = "<!-- made by `python docs/generate` from {}: change that -->"

PASSES = """\
# Passes

A pipeline is a tuple of passes. That tuple is the only place where order is decided; `plugrad passes` prints
it on a terminal. Each pass has a reason for its place, and what it leaves is verified by a spec (`SPEC=1`).

Below each pass is what it does to an example, the mean of each row, centred and padded, for a target with
vectors of four floats and no division of integers:

```text
{example}
```

It is written as the operations that a graph has more (+) or fewer (-) of afterwards.
"""

EXAMPLE = "x = Tensor.empty(6, 64)\n(x - x.mean(axis=1, keepdim=True)).pad(((1, 1), (0, 0))) // 3"

OPERATIONS = """\
# Operations of the IR

One intermediate representation goes from the tensor graph down to the linear program of a kernel. A node, a
`UOp`, has an operation, a dtype, sources and an argument; equal nodes are one object. In parentheses are an
operation's sources.
"""

COSTS = """\
# The cost model

One model decides what is fused and how kernels are optimised. It reads `Capabilities`, the data that a device
declares, and never a device's name.

**Fusion.** A value that is not stored is computed again for each use; a value that is stored is written once
and read for each use, by another kernel. The model compares the operations of the one with the bytes of the
other: a byte of memory traffic is worth {per_byte} plain operations, or what the device's own rates say. A
kernel that reads what the value is made of anyway, such as the derivative of a polynomial each of its steps,
adds only the operations in between.

```python
from plugrad import Tensor

x = Tensor.empty(1024, 1024, device="PYTHON")
cheap, dear = x + 1, x.sin()
print(len((cheap * cheap.T).schedule()), len((dear * dear.T).schedule()))
```

```output
{printed}
```

**Optimisations.** The heuristic makes lists of `Opt`s and chooses by vectors, registers, bytes at each level
of memory, and the parallelism that is left; `BEAM` measures instead. Both write the same `Opt`s.

## What an operation costs

In plain operations, of which an addition is one. A function counts what it is made of on a target with plain
arithmetic only. Movement costs nothing.

| operation | cost |
|---|---|
"""


def pages() -> dict[str, str]:
    """Return the text of each page by its path in docs/."""
    return {
        "internals/passes.md": _passes(),
        "internals/uops.md": _operations(),
        "internals/cost-model.md": _costs(),
    }


def _passes() -> str:
    changes = _changes()
    parts = [MADE.format("the pipelines"), "", PASSES.format(example=EXAMPLE)]
    for pipeline in find_pipelines():
        parts += [f"## {pipeline.name}", ""]
        for number, stage in enumerate(pipeline.stages, start=1):
            parts += [
                f"### {number}. {stage.name}",
                "",
                *_pass(stage, changes[pipeline.name, stage.name]),
                "",
            ]
    return "\n".join(parts).rstrip() + "\n"


def _pass(stage: Stage[Any], change: str) -> Iterable[str]:
    _, _, details = inspect.getdoc(stage.run).partition("\n\n") if stage.run.__doc__ else ("", "", "")
    yield stage.summary
    if details:
        yield from ("", "```text", textwrap.dedent(details).rstrip(), "```")
    module = stage.run.__module__.replace(".", "/").removeprefix("plugrad/")
    yield from ("", f"- Why there: {stage.why}", f"- In the example: {change}", f"- Code: `{module}.py`")


def _changes() -> dict[tuple[str, str], str]:
    """Return what each pass changes in the example, by pipeline and pass."""
    numbers = frozenset({dtypes.bool, dtypes.int32, dtypes.int64, dtypes.float32})
    target = Capabilities(
        numbers,
        numbers,
        vector_bits=128,
        vector_registers=16,
        max_load_bits=128,
        native_ops=frozenset({"FDIV", "MAX", "CMPNE", "CMPLT", "WHERE", "MUL"}),
    )
    x = Tensor.empty(6, 64, device="PYTHON")
    y = (x - x.mean(axis=1, keepdim=True)).pad(((1, 1), (0, 0))) // 3
    seen: dict[tuple[str, str], Counter[Ops]] = {}

    def note(event: events.PassEvent) -> None:
        change = seen.setdefault((event.pipeline, event.name), Counter())
        change.update(_count(event.after))
        change.subtract(_count(event.before))

    with events.subscribe(events.PassEvent, note):
        schedule = create_schedule(UOp.sink(y.uop), {"PYTHON": CostModel.of(target)}, "PYTHON")
        for call in schedule.calls:
            lower(call.ast, target)
    return {name: _as_text(change) for name, change in seen.items()}


def _count(state: Any) -> Counter[Ops]:
    graphs = [state] if isinstance(state, UOp) else state.graphs
    return Counter(u.op for graph in graphs for u in graph.toposort() if u.op is not Ops.CONST)


def _as_text(change: Counter[Ops]) -> str:
    signed = [f"`{count:+} {op.name}`" for op, count in sorted(change.items()) if count]
    return ", ".join(signed) or "the same operations"


def _operations() -> str:
    source = inspect.getsource(Ops)
    found = re.finditer(
        r"^    # (?P<group>.+)$|^    (?P<op>\w+) = (?:auto\(\)|\(\s*auto\(\)\s*\))  # (?P<text>.+)$",
        source,
        re.MULTILINE,
    )
    lines = [MADE.format("core/src/plugrad/uop/ops.py"), "", OPERATIONS]
    described: set[str] = set()
    for match in found:
        if match["group"]:
            lines += [
                "",
                f"## {match['group'][0].upper()}{match['group'][1:]}",
                "",
                "| operation | |",
                "|---|---|",
            ]
        else:
            described.add(match["op"])
            lines.append(f"| `{match['op']}` | {_cell(match['text'])} |")
    assert described == {op.name for op in Ops}, f"no comment on {set(Ops.__members__) - described}"
    lines += ["", "## Kinds of axes", "", "| axis | |", "|---|---|"]
    kinds = re.finditer(r"^    (\w+) = auto\(\)  # (.+)$", inspect.getsource(ops.AxisType), re.MULTILINE)
    lines += [f"| `{kind[1]}` | {_cell(kind[2])} |" for kind in kinds]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _costs() -> str:
    x = Tensor.empty(1024, 1024, device="PYTHON")
    printed = " ".join(str(len((y * y.T).schedule())) for y in (x + 1, x.sin()))
    costs = sorted(((op_cost(op), op.name) for op in Ops if op_cost(op) > 1), reverse=True)
    rows = "".join(f"| `{name}` | {cost} |\n" for cost, name in costs)
    per_byte = CostModel.of(Capabilities(frozenset(), frozenset())).operations_per_byte
    text = COSTS.format(per_byte=per_byte, printed=printed)
    return f"{MADE.format('core/src/plugrad/uop/op_cost.py')}\n\n{text}{rows}| other arithmetic | 1 |\n"
