"""A block of a language model: norms by root mean square, grouped heads, a gated unit, cached keys."""

import numpy as np
from tinygrad import Device, Tensor, UOp, dtypes, nn
from tinygrad.engine.jit import TinyJit
from tinygrad.helpers import getenv
from tinygrad.nn.state import get_state_dict, load_state_dict

DIM, HEADS, GROUPS, HIDDEN, LONGEST = 16, 4, 2, 24, getenv("LONGEST", 8)
draw = np.random.default_rng(3)


def repeated(x, times):
    batch, length, heads, size = x.shape
    return x.repeat((1, 1, 1, times)).reshape(batch, length, heads * times, size) if times > 1 else x


class Attention:
    def __init__(self):
        size = DIM // HEADS
        self.wq, self.wo = nn.Linear(DIM, DIM, bias=False), nn.Linear(DIM, DIM, bias=False)
        self.wk, self.wv = (nn.Linear(DIM, GROUPS * size, bias=False) for _ in range(2))

    def __call__(self, x, start):
        batch, length, _ = x.shape
        size = DIM // HEADS
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q = q.reshape(batch, length, HEADS, size)
        k, v = (y.reshape(batch, length, GROUPS, size) for y in (k, v))
        if not hasattr(self, "cache_kv"):
            shape = (2, batch, LONGEST, GROUPS, size)
            self.cache_kv = Tensor.zeros(*shape, dtype=x.dtype, device=Device.DEFAULT).contiguous().realize()
        self.cache_kv[:, :, start : start + length, :, :].assign(Tensor.stack(k, v)).realize()
        keys = self.cache_kv[0, :, 0 : start + length, :, :]
        values = self.cache_kv[1, :, 0 : start + length, :, :]
        keys, values = repeated(keys, HEADS // GROUPS), repeated(values, HEADS // GROUPS)
        q, keys, values = q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        scores = (q @ keys.transpose(-2, -1)) / size**0.5
        if length > 1:
            scores = scores + Tensor.full((1, 1, length, length), float("-inf"), dtype=x.dtype).triu(1)
        out = scores.softmax(-1) @ values
        return self.wo(out.transpose(1, 2).reshape(batch, length, DIM))


class FeedForward:
    def __init__(self):
        self.w1, self.w3 = nn.Linear(DIM, HIDDEN, bias=False), nn.Linear(DIM, HIDDEN, bias=False)
        self.w2 = nn.Linear(HIDDEN, DIM, bias=False)

    def __call__(self, x):
        return self.w2(self.w1(x).silu() * self.w3(x))


class Block:
    def __init__(self):
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(DIM), nn.RMSNorm(DIM)

    def __call__(self, x, start):
        h = x + self.attention(self.attention_norm(x), start)
        return (h + self.feed_forward(self.ffn_norm(h))).contiguous()


block = Block()
state = {
    name: Tensor(draw.standard_normal(x.shape).astype(np.float32)).cast(dtypes.float32)
    for name, x in get_state_dict(block).items()
}
load_state_dict(block, state, verbose=False)
prompt, *steps = (Tensor(draw.standard_normal((1, n, DIM)).astype(np.float32)) for n in (3, 1, 1, 1, 1))
RESULT = [block(prompt.realize(), 0).numpy()]
replayed = TinyJit(lambda x, start: block(x, start).realize())
position = UOp.variable("start_pos", 1, LONGEST - 1)
for at, token in enumerate(steps, 3):
    RESULT.append(replayed(token.realize(), position.bind(at)).numpy())
RESULT.append(sorted(get_state_dict(block.feed_forward)) == ["w1.weight", "w2.weight", "w3.weight"])
