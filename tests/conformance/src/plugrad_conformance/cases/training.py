"""Core: a small network is trained to a known loss, plainly and replayed."""

import numpy as np

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.jit import jit
from plugrad.nn.optim import SGD, Adam
from plugrad_conformance.case import Case
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.values import tensor_of

_STEPS = 12


class _Net:
    """Two layers on a fixed problem: in which quarter of a plane a point is."""

    def __init__(self, device: str) -> None:
        rng = np.random.default_rng(7)
        self.x = rng.standard_normal((48, 2))
        self.labels = ((self.x[:, 0] > 0) * 2 + (self.x[:, 1] > 0)).astype(np.int32)
        self.start = [rng.standard_normal(shape) * 0.5 for shape in ((2, 16), (16,), (16, 4), (4,))]
        self.parameters = [tensor_of(v, dtypes.float32, device) for v in self.start]
        for p in self.parameters:
            p.requires_grad = True
        self.inputs = tensor_of(self.x, dtypes.float32, device).realize()
        self.targets = tensor_of(self.labels, dtypes.int32, device).realize()

    def loss(self) -> Tensor:
        w1, b1, w2, b2 = self.parameters
        out = (self.inputs @ w1 + b1).tanh() @ w2 + b2
        return out.sparse_categorical_crossentropy(self.targets)


def _reference(net: _Net, rate: float) -> list[float]:
    """Return the losses of plain gradient descent in float64."""
    w1, b1, w2, b2 = (v.copy() for v in net.start)
    wanted = np.eye(4)[net.labels]
    losses: list[float] = []
    for _ in range(_STEPS):
        hidden = np.tanh(net.x @ w1 + b1)
        out = hidden @ w2 + b2
        p = np.exp(out - out.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        losses.append(float(-np.log((p * wanted).sum(1)).mean()))
        d_out = (p - wanted) / len(wanted)
        d_hidden = d_out @ w2.T * (1 - hidden**2)
        for value, gradient in (
            (w2, hidden.T @ d_out),
            (b2, d_out.sum(0)),
            (w1, net.x.T @ d_hidden),
            (b1, d_hidden.sum(0)),
        ):
            value -= rate * gradient
    return losses


def sgd_follows_float64(bench: Bench) -> str:
    """Gradient descent in float32 follows the same in float64, step by step."""
    net = _Net(bench.name)
    wanted = _reference(net, 0.5)
    optimizer = SGD(net.parameters, lr=0.5)
    found: list[float] = []
    with Tensor.train():
        for _ in range(_STEPS):
            optimizer.zero_grad()
            loss = net.loss()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    worst = max(abs(a - b) for a, b in zip(found, wanted, strict=True))
    assert worst < 1e-4, f"the losses {found} are off by {worst:.2g} from those in float64, {wanted}"
    return f"loss {found[0]:.4f} to {found[-1]:.4f}"


def replayed_adam_equals_plain(bench: Bench) -> str:
    """A replayed training step gives the losses of the plain one, bit for bit."""

    def losses(replayed: bool) -> list[float]:
        net = _Net(bench.name)
        optimizer = Adam(net.parameters, lr=0.05)

        def step() -> Tensor:
            optimizer.zero_grad()
            loss = net.loss()
            loss.backward()
            optimizer.step()
            return loss.realize()

        run = jit(step) if replayed else step
        with Tensor.train():
            return [run().item() for _ in range(_STEPS)]

    plain, replayed = losses(False), losses(True)
    assert plain == replayed, f"plain: {plain}; replayed: {replayed}"
    assert plain[-1] < plain[0] / 2, f"twelve steps took the loss from {plain[0]:.4f} to {plain[-1]:.4f} only"
    return f"loss {plain[0]:.4f} to {plain[-1]:.4f}"


CASES = (
    Case("core/training/sgd-follows-float64", run=sgd_follows_float64),
    Case("core/training/replayed-adam-equals-plain", run=replayed_adam_equals_plain),
)
