"""A small convolution network that learns patterns under the JIT, with its own weights beside layers."""

from collections.abc import Callable

import numpy as np
from tinygrad import Context, Tensor, TinyJit, dtypes, nn
from tinygrad.helpers import DEBUG, colored, dedup, trange
from tinygrad.nn.optim import SGD, Adam, OptimizerGroup
from tinygrad.nn.state import get_parameters

draw = np.random.default_rng(2)
images = draw.standard_normal((16, 1, 8, 8)).astype(np.float32)
labels = (images[:, 0, :4].sum((1, 2)) > images[:, 0, 4:].sum((1, 2))).astype(np.int32)


def weights(*shape):
    return Tensor(draw.standard_normal(shape).astype(np.float32) * 0.3)


class Model:
    def __init__(self):
        self.layers: list[Callable[[Tensor], Tensor]] = [
            nn.Conv2d(1, 4, 3),
            Tensor.relu,
            nn.BatchNorm(4),
            Tensor.max_pool2d,
            lambda x: x.flatten(1),
        ]
        self.layers[0].weight, self.layers[0].bias = weights(4, 1, 3, 3), weights(4)
        self.head, self.offset = weights(36, 2), Tensor.zeros(2).contiguous()

    def __call__(self, x):
        return x.sequential(self.layers) @ self.head + self.offset


model = Model()
params = dedup(get_parameters(model))
optimizer = OptimizerGroup(Adam(params[:2], 0.01, 0.9, 0.99), SGD(params[2:], 0.05, momentum=0.9))
X, Y = Tensor(images), Tensor(labels, dtype=dtypes.int32)


@TinyJit
@Context(TRAINING=1)
def step(samples):
    optimizer.zero_grad()
    loss = model(X[samples]).sparse_categorical_crossentropy(Y[samples]).backward()
    return loss.realize(*optimizer.schedule_step())


losses = []
for _ in (t := trange(6, disable=True)):
    losses.append(step(Tensor(draw.permutation(16)[:8].astype(np.int32))).item())
    t.set_description(colored(f"loss {losses[-1]:.2f}", "yellow"))
correct = (model(X).argmax(axis=1) == Y).sum()
RESULT = [losses, correct.item(), model.layers[2].running_mean.numpy(), model.head.numpy(), DEBUG >= 5]
