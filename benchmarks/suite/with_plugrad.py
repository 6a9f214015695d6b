"""The work of the cases in plugrad."""

import time
from collections.abc import Callable
from typing import Any

from plugrad import Device, Tensor, nn
from plugrad.codegen.lower import lower
from plugrad.events import PassEvent, subscribe
from plugrad.jit import jit
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher, graph_rewrite
from plugrad.uop.symbolic import pm_symbolic
from plugrad.uop.uop import UOp
from suite.data import floats, labels
from suite.timing import least_seconds

Thunk = Callable[[], Any]
# From a batch to its loss and what an update of the parameters assigns.
_Losses = Callable[[Tensor, Tensor], tuple[Tensor, list[Tensor]]]


def _tensor(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(floats(*shape, seed=seed)).contiguous().realize()


def _jitted(function: Callable[..., Tensor], *inputs: Tensor) -> Thunk:
    jitted = jit(function)
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
    return _jitted(nn.LayerNorm(n, elementwise_affine=False), _tensor(n, n))


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
    return _training(_digits_losses(), *_batch(batch))


def mlp_step(batch: int) -> Thunk:
    layers = [nn.Linear(784, 512), Tensor.relu, nn.Linear(512, 10)]
    optimizer = nn.optim.SGD(nn.state.get_parameters(layers), lr=0.1)
    return _training(_losses(layers, optimizer), _tensor(batch, 784), _labels(batch))


def _training(losses: _Losses, x: Tensor, y: Tensor) -> Thunk:
    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, assigned = losses(x, y)
        return loss.realize(*assigned)

    return lambda: step(x, y)


def _labels(batch: int) -> Tensor:
    return Tensor(labels(batch)).contiguous().realize()


def _batch(batch: int) -> tuple[Tensor, Tensor]:
    return _tensor(batch, 1, 8, 8), _labels(batch)


def _digits_losses() -> _Losses:
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
    return _losses(layers, nn.optim.Adam(nn.state.get_parameters(layers), lr=3e-3))


def _losses(layers: list[Callable[[Tensor], Tensor]], optimizer: nn.optim.Optimizer) -> _Losses:
    def losses(x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
        with Tensor.train():
            optimizer.zero_grad()
            for layer in layers:
                x = layer(x)
            loss = x.cross_entropy(y)
            loss.backward()
            return loss, optimizer.schedule_step()

    return losses


# --- how fast the compiler is ---


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


def _kernels_of_the_training_step(batch: int) -> list[UOp]:
    """Return the kernels of one training step, each once."""
    loss, assigned = _digits_losses()(*_batch(batch))
    return list(dict.fromkeys(item.ast for item in loss.schedule(*assigned) if item.ast.op is Ops.SINK))


class _Counts(dict[Ops, Any]):
    """The matchers of a table, counting how often one is looked up: once a visit."""

    visits = 0

    def __getitem__(self, op: Ops) -> Any:
        self.visits += 1
        return super().__getitem__(op)


def lowering(batch: int) -> float:
    """Return how many kernels are lowered and rendered in a second."""
    kernels = _kernels_of_the_training_step(batch)
    device = Device[Device.DEFAULT]
    started = time.perf_counter()
    for ast in kernels:
        lowered = lower(ast, device.capabilities)
        device.renderer.render(lowered.program, lowered.name)
    return len(kernels) / (time.perf_counter() - started)


def rewriting(batch: int) -> float:
    """Return how many nodes `graph_rewrite` visits in a second, on the graphs that lowering rewrites."""
    kernels = _kernels_of_the_training_step(batch)
    capabilities = Device[Device.DEFAULT].capabilities
    graphs: list[UOp] = []
    with subscribe(PassEvent, lambda event: graphs.append(event.before)):
        for ast in kernels:
            lower(ast, capabilities)
    graphs = [graph for graph in dict.fromkeys(graphs) if isinstance(graph, UOp)]
    started = time.perf_counter()
    for graph in graphs:
        graph_rewrite(graph, pm_symbolic)
    seconds = time.perf_counter() - started
    counting = PatternMatcher(*pm_symbolic.rules)
    counting._by_op = counts = _Counts()
    for graph in graphs:
        graph_rewrite(graph, counting)
    return counts.visits / seconds
