"""Layers and functions that programs use, one by one."""

import numpy as np
from tinygrad import Tensor, dtypes, nn

draw = np.random.default_rng(2)


def numbers(*shape):
    return Tensor(draw.standard_normal(shape).astype(np.float32))


def filled(layer):
    shapes = {name: x.shape for name, x in nn.state.get_state_dict(layer).items() if x.ndim}
    state = {name: numbers(*shape).abs() * 0.3 for name, shape in shapes.items()}
    nn.state.load_state_dict(layer, state, strict=False, verbose=False)
    return layer


images, rows = numbers(2, 4, 6, 6), numbers(2, 4, 8)
cell = filled(nn.LSTMCell(8, 5))
hidden = None
for at in range(4):
    hidden = cell(rows[:, at], hidden)
shared = images.contiguous()
shared[:, 1:3, ::2] = 0.5
q, k, v = (numbers(2, 3, 4, 5) for _ in range(3))
RESULT = [
    hidden[0],
    filled(nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2))(images),
    filled(nn.Conv1d(4, 6, 3, padding=1))(rows),
    filled(nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1))(images),
    filled(nn.BatchNorm(4))(images),
    filled(nn.GroupNorm(2, 4))(images),
    filled(nn.InstanceNorm(4))(images),
    filled(nn.LayerNorm2d(4))(images),
    filled(nn.Embedding(7, 3))(Tensor([[1, 2], [6, 0]])),
    images.max_pool2d((2, 2), stride=1).avg_pool2d(2),
    images.interpolate((9, 4), mode="linear"),
    images.pad((1, 2, 0, 1), mode="reflect"),
    images.rearrange("b c (h p) w -> b (c p) h w", p=2),
    Tensor.einsum("bhqk,bhkd->bhqd", (Tensor.einsum("bhqd,bhkd->bhqk", q, k) / 5**0.5).softmax(), v),
    q.scaled_dot_product_attention(k, v, is_causal=True),
    images.flatten(1).topk(3, dim=1)[0],
    images.flip(axis=1).transpose(dim0=1, dim1=2).cumsum(axis=1),
    images.reshape(None, 2, 2, None, -1).permute(order=(0, 2, 1, 3, 4)),
    rows.gather(dim=2, index=Tensor([[[0, 1]] * 4] * 2)),
    rows.sum(axis=(0, 2), keepdim=True).cast(dtypes.int32).float(),
    Tensor([1, 0, 3]).one_hot(4).float(),
    shared,
]
RESULT = [x.numpy() for x in RESULT]
