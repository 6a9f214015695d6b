"""The work of the cases in PyTorch, eager, on the CPU."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from suite.data import floats, labels

Thunk = Callable[[], Any]


def _tensor(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(floats(*shape, seed=seed))


def _without_gradients(function: Thunk) -> Thunk:
    return torch.inference_mode()(function)


def op_call(n: int) -> Thunk:
    a, b = _tensor(n), _tensor(n, seed=1)
    return lambda: a + b


jit_call = op_call


def chain(n: int) -> Thunk:
    x = _tensor(n)
    return lambda: ((x + 1) * 2 - 0.5).relu() + 3


def total(n: int) -> Thunk:
    x = _tensor(n)
    return x.sum


def softmax(n: int) -> Thunk:
    x = _tensor(n, n)
    return lambda: x.softmax(1)


def layernorm(n: int) -> Thunk:
    x = _tensor(n, n)
    return lambda: F.layer_norm(x, (n,))


def matmul(n: int) -> Thunk:
    a, b = _tensor(n, n), _tensor(n, n, seed=1)
    return lambda: a @ b


def matmul_transposed(n: int) -> Thunk:
    a, b = _tensor(n, n), _tensor(n, n, seed=1)
    return lambda: a @ b.T


def gemv(n: int) -> Thunk:
    a, x = _tensor(n, n), _tensor(n, seed=1)
    return lambda: a @ x


def attention(heads: int, tokens: int, size: int) -> Thunk:
    q, k, v = (_tensor(1, heads, tokens, size, seed=seed) for seed in range(3))
    return _without_gradients(lambda: F.scaled_dot_product_attention(q, k, v))


def conv2d(batch: int, channels: int, size: int, filters: int) -> Thunk:
    x, w = _tensor(batch, channels, size, size), _tensor(filters, channels, 3, 3, seed=1)
    return _without_gradients(lambda: F.conv2d(x, w, padding=1))


def train_step(batch: int) -> Thunk:
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    return _training(model, optimizer, _tensor(batch, 1, 8, 8))


def mlp_step(batch: int) -> Thunk:
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    return _training(model, torch.optim.SGD(model.parameters(), lr=0.1), _tensor(batch, 784))


def _training(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> Thunk:
    y = torch.from_numpy(labels(len(x)))

    def run() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return run
