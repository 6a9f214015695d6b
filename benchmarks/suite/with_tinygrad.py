"""The work of the cases in tinygrad, on its CPU device with clang."""

from collections.abc import Callable
from typing import Any

from tinygrad import Context, Tensor, TinyJit, nn

from suite.data import floats, labels
from suite.timing import least_seconds

Thunk = Callable[[], Any]


def _tensor(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(floats(*shape, seed=seed)).clone().realize()


def _jitted(function: Callable[..., Tensor], *inputs: Tensor) -> Thunk:
    jitted = TinyJit(lambda *tensors: function(*tensors).realize())
    return lambda: jitted(*inputs)


def op_call(n: int) -> Thunk:
    a, b = _tensor(n), _tensor(n, seed=1)
    return lambda: (a + b).realize()


def jit_call(n: int) -> Thunk:
    return _jitted(lambda a, b: a + b, _tensor(n), _tensor(n, seed=1))


def chain(n: int) -> Thunk:
    return _jitted(lambda x: ((x + 1) * 2 - 0.5).relu() + 3, _tensor(n))


def total(n: int) -> Thunk:
    return _jitted(lambda x: x.sum(), _tensor(n))


def softmax(n: int) -> Thunk:
    return _jitted(lambda x: x.softmax(1), _tensor(n, n))


def layernorm(n: int) -> Thunk:
    return _jitted(lambda x: x.layernorm(), _tensor(n, n))


def matmul(n: int) -> Thunk:
    return _jitted(lambda a, b: a @ b, _tensor(n, n), _tensor(n, n, seed=1))


def matmul_transposed(n: int) -> Thunk:
    return _jitted(lambda a, b: a @ b.T, _tensor(n, n), _tensor(n, n, seed=1))


def gemv(n: int) -> Thunk:
    return _jitted(lambda a, x: a @ x, _tensor(n, n), _tensor(n, seed=1))


def attention(heads: int, tokens: int, size: int) -> Thunk:
    q, k, v = (_tensor(heads, tokens, size, seed=seed) for seed in range(3))
    return _jitted(lambda q, k, v: q.scaled_dot_product_attention(k, v), q, k, v)


def conv2d(batch: int, channels: int, size: int, filters: int) -> Thunk:
    x, w = _tensor(batch, channels, size, size), _tensor(filters, channels, 3, 3, seed=1)
    return _jitted(lambda x, w: x.conv2d(w, padding=1), x, w)


def train_step(batch: int) -> Thunk:
    layers: list[Callable[[Tensor], Tensor]] = [
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm(16),
        Tensor.relu,
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm(32),
        Tensor.relu,
        lambda x: x.max_pool2d(2).flatten(1),
        nn.Linear(512, 10),
    ]
    optimizer = nn.optim.Adam(nn.state.get_parameters(layers), lr=3e-3)
    return _training(layers, optimizer, _tensor(batch, 1, 8, 8))


def mlp_step(batch: int) -> Thunk:
    layers = [nn.Linear(784, 512), Tensor.relu, nn.Linear(512, 10)]
    optimizer = nn.optim.SGD(nn.state.get_parameters(layers), lr=0.1)
    return _training(layers, optimizer, _tensor(batch, 784))


def _training(layers: list[Any], optimizer: Any, x: Tensor) -> Thunk:
    y = Tensor(labels(x.shape[0])).realize()

    @TinyJit
    @Context(TRAINING=1)
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = x.sequential(layers).cross_entropy(y).backward()
        return loss.realize(*optimizer.schedule_step())

    return lambda: step(x, y)


def _transformer(x: Tensor, weights: list[Tensor]) -> Tensor:
    for w in weights:
        heads = (x @ w).reshape(2, 16, 4, 16).permute(0, 2, 1, 3)
        scores = (heads @ heads.transpose(2, 3) / 4).softmax(-1)
        x = x + (scores @ heads).permute(0, 2, 1, 3).reshape(2, 16, 64)
        x = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
        x = x + (x @ w).relu()
    return x


def building(layers: int, builds: int) -> float:
    """Return how many nodes of a transformer's graph are built in a second, at best."""
    x, weights = _tensor(2, 16, 64), [_tensor(64, 64, seed=i) for i in range(layers)]
    nodes = len(_transformer(x, weights).uop.toposort())
    return nodes / least_seconds(lambda: _transformer(x, weights), builds)
