"""What NumPy means otherwise by a name of PyTorch's, and what programs for tinygrad write otherwise.

`migrating.py` makes tables of both. The parts in backticks are code that runs, as in `otherwise.py`.
"""

from otherwise import Row

#: What a name means here, and what has NumPy's meaning; `theirs` is for the parts of both.
NUMPY_MEANS: tuple[Row, ...] = (
    Row(
        "`x.repeat(2, 3)`: the whole, side by side",
        "`x.repeat_interleave(2)`",
        ("torch.Tensor.repeat(x, 2, 3)", "np.repeat(x, 2)"),
    ),
    Row(
        "`x.split(2)`: parts of two elements",
        "`x.tensor_split(2)`: two parts; `x.tensor_split([1, 3])` at places",
        ("torch.Tensor.split(x, 2)", "np.split(x, 2)", "np.split(x, [1, 3])"),
        "x=v",
    ),
    Row(
        "`x.nonzero()`, and so `np.nonzero(x)`: one row for each element, (n, ndim)",
        "`x.nonzero(as_tuple=True)`",
        ("torch.Tensor.nonzero(x)", "torch.nonzero(x)", "np.nonzero(x)"),
        "x=b",
    ),
    Row("`x.sort()`: values and places", "`x.sort().values`", ("torch.Tensor.sort(x)", "np.sort(x)")),
    Row(
        "`x.var()`, `x.std()`: n - 1",
        "`x.var(correction=0)`, or `x.var(ddof=0)`",
        ("torch.var(x)", "torch.std(x)", "np.var(x)", "np.var(x)"),
    ),
    Row("`x.median()`: an element", "`x.quantile(0.5)`", ("torch.median(x)", "np.median(x)"), "x=v"),
    Row(
        '`Tensor.meshgrid(x, y)`: by "ij"',
        '`Tensor.meshgrid(x, y, indexing="xy")`',
        ('torch.meshgrid(x, y, indexing="ij")', "np.meshgrid(x, y)"),
        "x=v, y=w[:3]",
    ),
    Row(
        "`x.cumsum()`, `x.cumprod()`: along axis 0, as tinygrad's first",
        "`x.cumsum(None)`",
        ("tinygrad.Tensor.cumsum(x)", "np.cumprod(x, 0)", "np.cumsum(x)"),
    ),
    Row(
        "`x.dot(y)` of more than two axes: `x @ y`",
        "`x.tensordot(y, ([-1], [-2]))`",
        ("tinygrad.Tensor.dot(x, y)", "tinygrad.Tensor.matmul(x, y)", "np.dot(x, y)"),
        "x=image[0], y=image[1]",
    ),
    Row(
        "`x.trace()`, `x.diagonal()`: of the first two axes",
        "`x.diagonal(0, -2, -1)`: of the last two, as NumPy's linalg",
        ("np.trace(x)", "np.diagonal(x)", "np.linalg.diagonal(x)"),
        "x=u",
    ),
    Row("`x.equal(y)`: one bool", "`x == y`", ("torch.equal(x, y)", "np.equal(x, y)"), "y=x"),
    Row(
        '`x.qr("r")`: an empty Q as well',
        '`x.qr("r").R`',
        ("torch.linalg.qr", 'np.linalg.qr(x, "r")'),
        "x=s",
    ),
    Row(
        "`Tensor.uniform(0, 1, 5)`: a shape (0, 1, 5), as in tinygrad",
        "`Tensor.uniform(5, low=0, high=1)`",
        ("tinygrad.Tensor.uniform(0, 1, 5)", "np.random.uniform"),
    ),
)

#: What tinygrad takes, and what is taken here; `theirs` is for the parts of the second.
FROM_TINYGRAD: tuple[Row, ...] = (
    *(
        Row(f"`from {there} import {names}`", f"`from {here} import {names}`", (there,))
        for there, here, names in (
            ("tinygrad", "plugrad", "Tensor, TinyJit, nn, dtypes, Device, Variable"),
            ("tinygrad", "plugrad", "Context, GlobalCounters, getenv"),
            ("tinygrad.helpers", "plugrad.helpers", "Timing, fetch, flatten, prod"),
        )
    ),
    Row("`from tinygrad.helpers import trange, tqdm, colored`", "the packages tqdm and rich", ()),
    Row(
        "`from tinygrad.helpers import DEBUG, BEAM, JIT`",
        "`settings.DEBUG` after `from plugrad.settings import settings`",
        ("tinygrad.helpers.DEBUG", "tinygrad.helpers"),
    ),
    *(
        Row(f"`from {there} import {names}`", f"`from {here} import {names}`", (there,))
        for there, here, names in (
            ("tinygrad.nn.state", "plugrad.nn.state", "safe_load, safe_save"),
            ("tinygrad.engine.jit", "plugrad", "TinyJit"),
            ("tinygrad.tensor", "plugrad.tensor", "Tensor"),
            ("tinygrad.dtype", "plugrad.dtype", "dtypes"),
        )
    ),
    Row(
        "`with Context(TRAINING=1): ...`",
        "the same, or `with Tensor.train(): ...`, which is also a decorator",
        ("tinygrad.Context",),
    ),
    Row(
        "`w = Tensor.rand(3, 4)` of a model, to be trained",
        "`w = Tensor.rand(3, 4, requires_grad=True)`; see above",
        ("tinygrad.Tensor.rand",),
    ),
    Row("`d.min`, `d.max`", "`dtypes.min(d)`, `dtypes.max(d)`", ("d.min", "d.max"), "d=int32"),
    Row(
        "`x.sum()`, `x.prod()`, `x.cumsum()` of integers: 32 bits or more",
        "64 bits; or `x.sum(dtype=dtypes.int32)`",
        ("x.sum()",),
        "x=i",
    ),
    Row(
        "`Tensor(data, device, dtype)`",
        "`Tensor(data, device=device, dtype=dtype)`",
        ("Tensor(data, device, dtype)",),
        "data=[1, 2], device='PYTHON', dtype=float32",
    ),
    Row(
        "`Adam(params, lr, 0.9, 0.999)`",
        "`Adam(params, lr, b1=0.9, b2=0.999)`, or `Adam(params, lr, betas=(0.9, 0.999))`",
        ("tinygrad.nn.optim.Adam", "tinygrad.nn.optim.Adam"),
        "Adam=nn.optim.Adam, params=[leaf()], lr=0.1",
    ),
    Row(
        "`BatchNorm(4, 1e-5, False)`",
        "`BatchNorm(4, 1e-5, affine=False)`: PyTorch's order and names",
        ("BatchNorm(4, 1e-5, False)",),
        "BatchNorm=nn.BatchNorm",
    ),
    Row(
        "`Embedding(vocab_size=5, embed_size=3)`",
        "`Embedding(num_embeddings=5, embedding_dim=3)`",
        ("tinygrad.nn.Embedding",),
        "Embedding=nn.Embedding",
    ),
    Row(
        "`ConvTranspose2d(4, 2, 3, 2, 0, 1, 1)`",
        "`ConvTranspose2d(4, 2, 3, 2, 0, output_padding=1, dilation=1)`: PyTorch's order is another",
        ("tinygrad.nn.ConvTranspose2d",),
        "ConvTranspose2d=nn.ConvTranspose2d",
    ),
    Row("`x.allclose(y).item()`", "`x.allclose(y)`: a bool", ("x.allclose(y).item()",), "y=x"),
    Row(
        "`x.conv2d(w, b, groups, stride)`",
        "`x.conv2d(w, b, groups=groups, stride=stride)`: PyTorch's order is another",
        ("x.conv2d(w, b, groups, stride)",),
        "x=image, w=image[:, :2, :2, :2], b=v[:2], groups=2, stride=1",
    ),
    Row(
        "`x.std(0, True)`, where True is keepdim",
        "`x.std(0, keepdim=True)`: PyTorch's second is `unbiased`",
        ("x.std(0, True)", "tinygrad.Tensor.std"),
        "unbiased=True",
    ),
    Row("`x.shard(devices)`", "a tensor lives on one device", (), "devices=('PYTHON:0', 'PYTHON:1')"),
)
