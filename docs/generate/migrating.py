"""The page docs/migrating.md: what names of other libraries are called here, and what differs."""

from collections.abc import Iterable

from habits import FROM_TINYGRAD, NUMPY_MEANS
from names import ROWS
from otherwise import NOT_HERE, OTHERWISE
from surface import TENSOR_PAGES, elsewhere, of_tensor

ESCAPED = r"\|"
MADE = (
    "<!-- made by `python docs/generate`: change migrating.py, names/, habits.py and otherwise.py there -->"
)

TEXT = """\
# Coming from PyTorch, NumPy or tinygrad

`python -m plugrad.tinygrad script.py` runs a program for tinygrad as it is; to keep it here, another import
should be all that it needs (see below). From PyTorch and NumPy most names
carry over, as methods of `Tensor`; the tables below have all of them. `axis` may be called `dim`, and
`keepdim` `keepdims`. Dtypes of NumPy and PyTorch are taken as well, and a name that is not here says in its
error what to write.

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

**Order of arguments.** Convolutions have PyTorch's, `conv2d(w, b, stride, padding, dilation, groups)`, and
so have `var` and `std`: `std(axis, unbiased, keepdim)`. What follows the bias of a transposed convolution, or
the stride of a pooling, is given by name: PyTorch and tinygrad have it in different orders. So is what
`unique` returns besides, and all of `instance_norm`. `max` and `min` give values; asked for PyTorch's `dim`,
the places as well: `values, places = x.max(dim=1)`. `median` gives both along an axis. `Tensor.linear` takes
a weight of shape (in, out), `nn.Linear` stores (out, in) as PyTorch does. `transpose()` without axes is for
matrices.

**Padding.** A flat `pad((left, right, top, bottom))` begins at the last axis, as PyTorch's; pairs
`pad(((top, bottom), (left, right)))` are one for each axis from the first, as NumPy's.

**Dtypes.** Integers are int32 unless they need more (PyTorch and NumPy: int64), floats float32 (NumPy:
float64). Python numbers take the tensor's dtype. Sums and products of integers, running ones too, are int64
(uint64 of those without a sign), as PyTorch's and NumPy's. Positions and counts (`argmax`, `nonzero`, `sort`,
`bincount`) are int32. `dtypes.finfo` and `dtypes.iinfo` are those of PyTorch and NumPy.
`//` and `%` round down, as in Python; `fmod` has C's sign.

**Statistics.** `var` and `std` divide by n - 1, as PyTorch's; NumPy's divide by n: pass `correction=0`.
`median` is the lower of two middle elements, as PyTorch's. `gelu` is the tanh form unless asked for
`"none"`. `norm` is that of all elements, `matrix_norm` that of matrices. `dropout` drops while training
(`Tensor.train`), or when told to by `training=True`.

```python
import numpy as np

values = np.array([1.0, 2.0, 4.0, 9.0], np.float32)
assert np.isclose(Tensor(values).var(correction=0).item(), values.var())
assert Tensor(values).median().item() == 2.0
assert Tensor(values).sort(descending=True).indices.tolist() == [3, 2, 1, 0]
```

**Several results** that PyTorch names have its names, and are tuples: `x.sort().indices`, `x.aminmax().max`,
`x.eigh().eigenvalues`, `x.qr().R`, `x.slogdet().logabsdet`. `x.svd()` is that of `torch.linalg` and NumPy,
`U`, `S` and `Vh`; PyTorch's method has `V` instead, and the reduced form.

**NumPy's functions** take tensors on every device: `np.hypot(x, y)` computes on arrays and returns a tensor
without a gradient; `array + x` is a tensor, and `array += x` an array.

**Integers beside tensors in an index** are as in NumPy: where a slice separates them, the tensors' axes come
first. `x[0, :, i]` with three positions in `i` has the shape (3, n); PyTorch takes the integer first and has
(n, 3). `x[0][:, i]` is that everywhere.

**Positions in tensors are not checked.** An integer out of range is an error; elements of an index tensor
that are out of range read 0 and write nothing, since the device cannot raise; `CHECK=1` reports them.

**Complex numbers** are dtypes, and `z.real` and `z.imag` are values: writing to them does not write to `z`.
Fourier transforms take and return complex tensors, as in `torch.fft` and `numpy.fft`; there is no
complex32, so those of float16 are complex64.

**Random numbers** are the same bits on every device for a seed, and others than PyTorch's or NumPy's for
that seed. A draw is made once: a tensor that was drawn keeps its values.

**Gradients** are graphs like everything else. `backward()` adds to `.grad` of tensors with `requires_grad`;
`loss.gradient(x)` returns them and needs no flag. A mode without gradients is not needed: nothing is kept
for them.

**A jitted function** returns values through which no gradient flows. `torch.compile(model)` becomes a jitted
step, with `loss.backward()` and `optimizer.step()` in it.

**Parameters** of a model are its tensors with `requires_grad`, as in PyTorch; in tinygrad all its tensors
are. Of tensors of floats of which neither was said `get_parameters` warns (`PlainTensorWarning`), and does
not return them: call `.requires_grad_()` on those to be trained, `.requires_grad_(False)` on constants.
Activations that a layer keeps are neither parameters nor part of a state. `nn.Module` is an optional base
class: any class is a model. Before `model.train()` or `model.eval()`, layers behave as `Tensor.training`
says, which is False: call `model.train()` before training.

**Functions** at the top are those that make tensors or join them (`plugrad.zeros`, `cat`, `where`, ...), with
`no_grad`, `manual_seed`, `save` and `load`; `nn.functional` has those of layers. All else is a method of
`Tensor`. `nn.data.DataLoader` has PyTorch's names; its worker processes are started anew, so the data set and
its examples are pickled.

## Methods that NumPy means otherwise

Where PyTorch and NumPy have one name for two things, the method is PyTorch's:

{numpy_means}
## From tinygrad

Under `python -m plugrad.tinygrad script.py`, or `-m module`, imports of tinygrad give the names below in
tinygrad's order of arguments: those of layers and optimizers, not those of tensors' methods. All tensors of
floats that an optimizer is given are trained. What has no counterpart can be imported, and says so when it is
used.

{from_tinygrad}
Six things answer otherwise: `interpolate` is of mode `"nearest"` unless asked for another, as PyTorch's
(tinygrad's `"linear"`); `x.T` reverses all axes, as in PyTorch and NumPy; the mean of
`sparse_categorical_crossentropy` is over the labels that count, as in PyTorch; the `eps` of `nn.RMSNorm` is
what PyTorch takes, the distance of 1 to the next number, unless given; `nn.optim.Muon` makes the steps of
matrices with more rows than columns longer, as PyTorch's; and what a step of training returns was computed
before the optimizer's step, also when it is realized after it.

## Where the name is another
"""


def page() -> str:
    """Return the text of docs/migrating.md."""
    text = TEXT.replace("{numpy_means}", _table("here", "NumPy's is", [row[:2] for row in NUMPY_MEANS]))
    text = text.replace("{from_tinygrad}", _table("tinygrad", "here", [row[:2] for row in FROM_TINYGRAD]))
    otherwise = [(_listed(row.names), row.write) for row in OTHERWISE]
    lines = [MADE, "", text, _table("looking for", "write", otherwise)]
    without = [path for path, (*_, example) in ROWS.items() if not example]
    if without:
        raise ValueError(
            f"rows without an example: {without}. Write what shows that the names mean the same."
        )
    titles = {file: title for file, title, _ in TENSOR_PAGES}
    groups = {titles[file]: names for file, names in of_tensor().items()} | dict(elsewhere().values())
    for title, names in groups.items():
        rows = [(name.path, ROWS[name.path][:3]) for name in names if name.path in ROWS]
        if not rows:
            continue
        lines += ["", f"## {title}", "", "| plugrad | PyTorch | NumPy | tinygrad |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(_cell(name) for name in (ours, *others))} |" for ours, others in rows]
    lines += ["", "## What is not here", ""]
    lines += ["Methods that end in `_` are not either: `x.assign(y)` writes what other methods return.", ""]
    mapped = {name for row in ROWS.values() for name in row[:3]}
    for reason, names in NOT_HERE.items():
        left = " ".join(name for name in names.split() if name not in mapped)
        lines.append(f"- {reason}: {_listed(left)}")
    return "\n".join(lines) + "\n"


def _table(left: str, right: str, rows: Iterable[tuple[str, str]]) -> str:
    escaped = [
        f"| {first.replace('|', ESCAPED)} | {second.replace('|', ESCAPED)} |" for first, second in rows
    ]
    return "\n".join([f"| {left} | {right} |", "|---|---|", *escaped])


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
