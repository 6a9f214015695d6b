"""Names of other libraries for each name of plugrad, with an example that a test runs in each library.

A row is written in the module of the page of docs/api that describes the name: that of `Tensor.exp` in
elementwise.py, since `Tensor.exp` is in docs/api/elementwise.md. In its example
`f` is the name; `f` alone says that there is no value to compare. "f(x, 1); np: f(x, axis=1)" has another
form in NumPy, and what `x` stands for is in tests/integration/test_migrating.py.
"""

from names import (
    activations,
    creation,
    data,
    dtypes,
    elementwise,
    functional,
    gradients,
    helpers,
    images,
    indexing,
    init,
    jit,
    layers,
    linalg,
    losses,
    movement,
    nn,
    optim,
    plugrad,
    reductions,
    schedulers,
    state,
    tensor,
    transforms,
)

#: By page, in their order: plugrad: (PyTorch, NumPy, tinygrad, example), names empty where there is none.
PAGES: dict[str, dict[str, tuple[str, str, str, str]]] = {
    "tensor": tensor.ROWS,
    "creation": creation.ROWS,
    "elementwise": elementwise.ROWS,
    "activations": activations.ROWS,
    "reductions": reductions.ROWS,
    "movement": movement.ROWS,
    "indexing": indexing.ROWS,
    "linalg": linalg.ROWS,
    "images": images.ROWS,
    "layers": layers.ROWS,
    "losses": losses.ROWS,
    "gradients": gradients.ROWS,
    "plugrad": plugrad.ROWS,
    "dtypes": dtypes.ROWS,
    "transforms": transforms.ROWS,
    "jit": jit.ROWS,
    "nn": nn.ROWS,
    "functional": functional.ROWS,
    "init": init.ROWS,
    "data": data.ROWS,
    "optim": optim.ROWS,
    "schedulers": schedulers.ROWS,
    "state": state.ROWS,
    "helpers": helpers.ROWS,
}

#: All rows.
ROWS = {name: row for rows in PAGES.values() for name, row in rows.items()}
