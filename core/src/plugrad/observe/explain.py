"""Say in words what the scheduler decided."""

from collections.abc import Sequence

from plugrad.events import Event, PassEvent
from plugrad.observe.fusion_report import DECIDED, KernelReport, fusion_report
from plugrad.observe.user_lines import LINE_EVENTS, UserLines
from plugrad.schedule.create import ScheduleDraft
from plugrad.uop import Ops, UOp

EXPLAINED_EVENTS = LINE_EVENTS
# operations of a kernel that are named; the rest is counted
_MOST_NAMES = 12


class Explainer:
    """Observer of `EXPLAINED_EVENTS` that collects a text for each schedule.

    A schedule that was made before comes from a cache, and is not explained again.

    Example:
        explainer = Explainer()
        with subscribe(EXPLAINED_EVENTS, explainer):
            tensor.realize()
        print(*explainer.texts)
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._lines = UserLines()

    def __call__(self, event: Event) -> None:
        """Explain a schedule when its last pass is done; learn lines from other events."""
        self._lines(event)
        match event:
            case PassEvent(pipeline, name, _, ScheduleDraft() as draft) if (pipeline, name) == DECIDED:
                number = len(self.texts) + 1
                self.texts.append(explain(fusion_report(draft), self._lines, f"schedule {number}"))
            case _:
                pass


def explain(reports: Sequence[KernelReport], lines: UserLines, title: str) -> str:
    """Return a paragraph for each kernel: operations, source line, and the reason it ends."""
    kernels = dict.fromkeys(report.kernel for report in reports)
    copies = sum(kernel.ast.op is Ops.COPY for kernel in kernels)
    out = [f"{title}: {_count(len(kernels) - copies, 'kernel')}, {_count(copies, 'copy', 'copies')}"]
    numbers = {report.call.root: number for number, report in enumerate(reports, start=1)}
    for number, report in enumerate(reports, start=1):
        out += ["", *_paragraph(report, number, numbers, lines)]
    return "\n".join(out)


def _paragraph(report: KernelReport, number: int, numbers: dict[UOp, int], lines: UserLines) -> list[str]:
    call = report.call
    is_copy = call.ast.op is Ops.COPY
    name = "copy" if is_copy else report.kernel.ast.arg.name
    out = [f"{number:3d}. {name} on {call.device}, makes {_value(call.root)}"]
    if not is_copy:
        names = [u.op.name for u in report.computed]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        out.append(f"     fuses  {_count(len(names), 'operation')}: {' '.join(names[:_MOST_NAMES])}{more}")
    if call.root is not report.kernel.root:
        out.append(f"     with   the kernel of {numbers[report.kernel.root]}, over the same loops")
    if call.reads:
        read = dict.fromkeys(call.reads)
        sources = [f"the value of {numbers[u]}" if u in numbers else f"memory {_value(u)}" for u in read]
        out.append(f"     reads  {', '.join(sources)}")
    out.append(f"     why    {report.boundary}")
    places = dict.fromkeys(line for u in report.fused if (line := lines.of(u)))
    return out + [f"     {'lines' if first == 0 else '':6s} {line}" for first, line in enumerate(places)]


def _value(u: UOp) -> str:
    sizes = [str(size) if isinstance(size, int) else f"{size.vmin}..{size.vmax}" for size in u.shape or ()]
    return f"{u.dtype.name}({', '.join(sizes)})"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
