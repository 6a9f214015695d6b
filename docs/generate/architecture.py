"""The picture docs/images/architecture.svg: from a tensor to a launch, in light and dark."""

from collections.abc import Iterable
from html import escape

WIDTH, ROW, TOP, BOX, LEFT = 880, 76, 56, 52, 24
COLUMN = 548
# what happens, the package that does it, and what comes out
STAGES = (
    ("Ask", "tensor/", "a graph of tensor operations", "core"),
    ("Differentiate", "autodiff/", "a larger graph, of the same operations", "core"),
    ("Schedule", "schedule/", "fused kernels and their memory, in order", "core"),
    ("Optimise and lower", "codegen/", "a linear program for each kernel", "core"),
    ("Render", "Renderer", "source", "plugin"),
    ("Compile", "Compiler", "bytes, kept on disk", "plugin"),
    ("Launch", "Runner, Allocator", "values in memory", "plugin"),
)
SIDE = (
    ("JIT", "jit/", "replays the launches of a function", 0, 1),
    ("Engine", "engine/", "joins the stages; caches kernels", 2, 3),
    ("Devices", "plugins", "CPU, OPENCL, CUDA, METAL, yours", 4, 6),
)
STYLE = """\
<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328; }
  .small { font-size: 15px; fill: #424a53; }
  .title { font-size: 18px; font-weight: 600; }
  .name { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 15px; fill: #424a53; }
  .core { fill: #ddf4ff; stroke: #0969da; }
  .plugin { fill: #fff1e5; stroke: #bc4c00; }
  .side { fill: #f6f8fa; stroke: #57606a; }
  .arrow { stroke: #57606a; stroke-width: 2; fill: none; marker-end: url(#head); }
  .head { fill: #57606a; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small, .name { fill: #c9d1d9; }
    .core { fill: #0c2d6b; stroke: #58a6ff; }
    .plugin { fill: #5a1e02; stroke: #f0883e; }
    .side { fill: #21262d; stroke: #8b949e; }
    .arrow { stroke: #8b949e; }
    .head { fill: #8b949e; }
    .ground { fill: #0d1117; }
  }
</style>"""


def picture() -> str:
    """Return the picture as SVG."""
    height = TOP + ROW * len(STAGES) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<!-- made by `python docs/generate` -->",
        "<title>From a tensor to a launch: what the core does, and what a plugin does</title>",
        STYLE,
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"',
        '  orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>',
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>',
        f'<text class="title" x="{LEFT}" y="34">A Python program of tensors</text>',
        *(line for number, stage in enumerate(STAGES) for line in _stage(number, *stage)),
        *(line for side in SIDE for line in _side(*side)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _stage(number: int, title: str, package: str, result: str, kind: str) -> Iterable[str]:
    y = TOP + number * ROW
    yield f'<path class="arrow" d="M{LEFT + 30} {y - (14 if number == 0 else ROW - BOX)} V{y - 1}"/>'
    yield f'<rect class="{kind}" x="{LEFT}" y="{y}" width="500" height="{BOX}" rx="6"/>'
    yield f'<text class="title" x="{LEFT + 14}" y="{y + 22}">{escape(title)}</text>'
    yield f'<text class="name" x="{LEFT + 486}" y="{y + 22}" text-anchor="end">{escape(package)}</text>'
    yield f'<text class="small" x="{LEFT + 14}" y="{y + 42}">gives {escape(result)}</text>'


def _side(title: str, package: str, text: str, first: int, last: int) -> Iterable[str]:
    y, height = TOP + first * ROW, (last - first) * ROW + BOX
    middle = y + height // 2
    yield f'<rect class="side" x="{COLUMN}" y="{y}" width="308" height="{height}" rx="6"/>'
    yield f'<text class="title" x="{COLUMN + 14}" y="{middle - 4}">{escape(title)}</text>'
    yield f'<text class="name" x="{COLUMN + 294}" y="{middle - 4}" text-anchor="end">{escape(package)}</text>'
    yield f'<text class="small" x="{COLUMN + 14}" y="{middle + 18}">{escape(text)}</text>'
