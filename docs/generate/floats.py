"""The page docs/floats.md: what changes bits of floats, from the table next to the rules."""

from plugrad.uop.inexact import INEXACT

MADE = "<!-- made by `python docs/generate` from core/src/plugrad/uop/inexact.py -->"

TEXT = """\
# Floats

A program computes what it says: each operation of a graph is rounded once into its dtype, in the order in
which it is written. `(x + 12582912.0) - 12582912.0` rounds `x` to whole numbers, `(1 + 1e8) - 1e8` of float32
is 0, and `(x * 1e30) * 1e-30` overflows where `x * 1e30` does. Compilers may neither contract nor reorder.

What is given up is listed here, all of it: a test runs every rewrite rule on floats of all magnitudes and
compares bits, and fails for a rule that breaks more, or less, than its row says.

- **rounding**: the last digits differ, as far as the limit says.
- **overflow**: another value becomes infinite; where infinities are then subtracted, **NaN** follows.
- **-0.0**: the sign of a zero differs.

NaNs are alike: their sign and payload are not kept.

| what stands there | what is computed | breaks | limit | when | where |
|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    rows = (
        f"| {e.before} | {e.after} | {', '.join(e.breaks)} | {e.limit} | {e.setting} | `{e.where}` |"
        for e in INEXACT
    )
    return f"{MADE}\n\n{TEXT}" + "\n".join(rows) + "\n"
