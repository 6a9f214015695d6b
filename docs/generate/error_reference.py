"""The page docs/api/errors.md: every exception, from the docstrings of plugrad.errors."""

import builtins
import inspect
import textwrap
from collections.abc import Iterable

from plugrad import errors

MADE = "<!-- made by `python docs/generate` from core/src/plugrad/errors.py -->"

TEXT = """\
# Errors

Everything that plugrad refuses on purpose is a `PlugradError`. A message says what happened with the values,
why it is wrong, and how to fix it. Many errors can also be caught as what NumPy and PyTorch raise for the
same mistake.

```python
from plugrad import Tensor
from plugrad.errors import PlugradError, ShapeError

try:
    Tensor([1, 2, 3]) + Tensor([1, 2])
except ValueError as error:
    assert isinstance(error, ShapeError)
    assert isinstance(error, PlugradError)
```
"""

#: The names of the public exceptions.
NAMES = sorted(
    name
    for name, cls in vars(errors).items()
    if name[0] != "_" and getattr(cls, "__module__", "") == errors.__name__
)


def page() -> str:
    """Return the page."""
    parts = [MADE, "", TEXT]
    for name in NAMES:
        parts += [f"## {name}", "", *_described(getattr(errors, name)), ""]
    return "\n".join(parts).rstrip() + "\n"


def _described(cls: type[BaseException]) -> Iterable[str]:
    text, _, attributes = (inspect.getdoc(cls) or "").partition("\nAttributes:\n")
    yield text.strip()
    if attributes:
        yield from ("", "Attributes:", "")
        for line in textwrap.dedent(attributes).strip().split("\n"):
            yield f"  {line.strip()}" if line.startswith(" ") else f"- `{line.replace(':', '`:', 1)}"
    also = [base.__name__ for base in cls.__mro__[1:] if base.__name__ in NAMES or _is_pythons(base)]
    if also:
        yield from ("", f"Can be caught as: {', '.join(f'`{name}`' for name in also)}.")


def _is_pythons(cls: type) -> bool:
    return getattr(builtins, cls.__name__, None) is cls and cls not in (object, BaseException, Exception)
