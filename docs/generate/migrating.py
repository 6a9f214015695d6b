"""The page docs/migrating.md: what names of other libraries are called here, and what differs."""

from names import ROWS
from otherwise import NOT_HERE, OTHERWISE
from surface import TENSOR_PAGES, elsewhere, of_tensor

MADE = "<!-- made by `python docs/generate`: change docs/generate/migrating.py, names.py and otherwise.py -->"

TEXT = """\
# Coming from PyTorch, NumPy or tinygrad

A program for tinygrad should need no more than another import. From PyTorch and NumPy most names carry
over, as methods of `Tensor`; the tables below have all of them. `axis` may be
called `dim`, and `keepdim` `keepdims`.

## What differs

**Nothing runs until a value is needed.** `x + y` is a graph; `realize`, `numpy`, `tolist`, `item` compute
it. An assertion on a value therefore computes everything before it.

**Changing a tensor.** `x += y`, `x[index] = y` and `x.assign(y)` write in place, and views (basic indices,
`reshape`, `permute`, `flip`, `detach`) see it, as in NumPy and PyTorch. Everything else is a value that keeps
what it was computed from. What gradients flow through is not overwritten: there `x += y` makes a new tensor.
There are no methods that end in `_`.

```python
from plugrad import Tensor

x = Tensor([[1, 2], [3, 4]])
row, doubled = x[0], x * 2
row += 10
x[1, 0] = 0
assert x.tolist() == [[11, 12], [0, 4]]
assert doubled.tolist() == [[2, 4], [6, 8]]
```

**Order of arguments.** Convolutions and pooling take theirs in tinygrad's order, which is not PyTorch's:
pass them by name. `conv2d(weight, bias, groups, stride, dilation, padding)`, `max_pool2d(kernel_size,
stride, dilation, padding)`.
`max`, `min` and `median` give values only, and so take `axis` but not PyTorch's `dim`, with which it
gives places too: `argmax` has those. `Tensor.linear` takes a weight of shape (in, out), `nn.Linear`
stores (out, in) as PyTorch does.

**Padding.** A flat `pad((left, right, top, bottom))` begins at the last axis, as PyTorch's; pairs
`pad(((top, bottom), (left, right)))` are one for each axis from the first, as NumPy's.

**Dtypes.** Integers are int32 unless they need more (PyTorch and NumPy: int64), floats float32 (NumPy:
float64). Python numbers take the tensor's dtype. Sums of small integers widen to 32 bits. Positions
(`argmax`, `nonzero`, `sort`) are int32. `//` and `%` round down, as in Python; `fmod` has C's sign.

**Statistics.** `var` and `std` divide by n - 1, as PyTorch's; NumPy's divide by n: pass `correction=0`.
`median` is the lower of two middle elements, as PyTorch's. `max(axis)` returns no positions. `gelu` is the
tanh form unless asked for `"none"`.

```python
import numpy as np

values = np.array([1.0, 2.0, 4.0, 9.0], np.float32)
assert np.isclose(Tensor(values).var(correction=0).item(), values.var())
assert Tensor(values).median().item() == 2.0
assert Tensor(values).sort(descending=True)[1].tolist() == [3, 2, 1, 0]
```

**Positions in tensors are not checked.** An integer out of range is an error; elements of an index tensor
that are out of range read 0 and write nothing, since the device cannot raise.

**Complex numbers** are no dtype: Fourier transforms take and return a last axis of two, real and imaginary
part, as `torch.view_as_real` gives.

**Random numbers** are the same bits on every device for a seed, and others than PyTorch's or NumPy's for
that seed. A draw is made once: a tensor that was drawn keeps its values.

**Gradients** are graphs like everything else. `backward()` adds to `.grad` of tensors with `requires_grad`;
`loss.gradient(x)` returns them and needs no flag. A mode without gradients is not needed: nothing is kept
for them.

## Where the name is another
"""


def page() -> str:
    """Return the text of docs/migrating.md."""
    lines = [MADE, "", TEXT, "| looking for | write |", "|---|---|"]
    lines += [f"| {_listed(names)} | {write.replace('|', chr(92) + '|')} |" for names, write in OTHERWISE]
    titles = {file: title for file, title, _ in TENSOR_PAGES}
    groups = {titles[file]: names for file, names in of_tensor().items()} | dict(elsewhere().values())
    for title, names in groups.items():
        rows = [(name.path, ROWS[name.path]) for name in names if name.path in ROWS]
        if not rows:
            continue
        lines += ["", f"## {title}", "", "| plugrad | PyTorch | NumPy | tinygrad |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(_cell(name) for name in (ours, *others))} |" for ours, others in rows]
    lines += ["", "## What is not here", ""]
    lines += ["Methods that end in `_` are not either: `x.assign(y)` writes what other methods return.", ""]
    mapped = {name for row in ROWS.values() for name in row}
    for reason, names in NOT_HERE.items():
        left = " ".join(name for name in names.split() if name not in mapped)
        lines.append(f"- {reason}: {_listed(left)}")
    return "\n".join(lines) + "\n"


def _listed(names: str) -> str:
    return ", ".join(f"`{_short(name)}`" for name in names.split())


def _cell(name: str) -> str:
    return f"`{_short(name)}`" if name else ""


def _short(name: str) -> str:
    """Return a name as programs write it."""
    for long, short in (
        ("torch.nn.functional.", "F."),
        ("torch.Tensor.", "Tensor."),
        ("np.ndarray.", "ndarray."),
        ("tinygrad.", ""),
    ):
        name = name.replace(long, short)
    return name
