"""A perceptron that learns under the JIT, and goes through a file."""

import os
import tempfile

import numpy as np
from tinygrad import Context, GlobalCounters, Tensor, TinyJit, getenv, nn
from tinygrad.helpers import Timing, prod
from tinygrad.nn.optim import AdamW
from tinygrad.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save

draw = np.random.default_rng(0)


class Net:
    def __init__(self):
        self.layers = [nn.Linear(6, 8), Tensor.relu, nn.LayerNorm(8), nn.Linear(8, 3)]

    def __call__(self, x):
        return x.sequential(self.layers)


net = Net()
state = {
    name: Tensor(draw.standard_normal(x.shape).astype(np.float32)) for name, x in get_state_dict(net).items()
}
load_state_dict(net, state, strict=True, verbose=False, consume=False)
optimizer = AdamW(get_parameters(net), lr=0.01, b1=0.9, b2=0.95, weight_decay=0.1)
examples = Tensor(draw.standard_normal((12, 6)).astype(np.float32))
labels = Tensor(draw.integers(0, 3, 12).astype(np.int32))


@TinyJit
def step(x, y):
    with Context(TRAINING=1):
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())


GlobalCounters.reset()
with Timing("training: ", enabled=False):
    RESULT = [step(examples, labels).item() for _ in range(getenv("STEPS_OF_TRAIN", 4))]
RESULT += [GlobalCounters.kernel_count > 0, prod(net.layers[0].weight.shape)]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.safetensors")
    safe_save(get_state_dict(net), path)
    again = Net()
    load_state_dict(again, safe_load(path), verbose=False)
    RESULT.append((net(examples).argmax(axis=1) == again(examples).argmax(axis=1)).mean().item())
    RESULT.append(again(examples).softmax().numpy())
