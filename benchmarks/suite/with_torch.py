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
    x, y = _tensor(batch, 1, 8, 8), torch.from_numpy(labels(batch))

    def run() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return run
