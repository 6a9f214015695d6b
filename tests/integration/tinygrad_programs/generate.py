"""A decoder with rotary positions and a cache of keys, whose position is a Variable under the JIT."""

import numpy as np
from tinygrad import Tensor, TinyJit, Variable, nn

LONGEST, WIDTH, HEADS, WORDS = 16, 16, 4, 20
draw = np.random.default_rng(1)


def rotations(size):
    speeds = 1.0 / (10000.0 ** (Tensor.arange(0, size, 2)[: size // 2] / size))
    angles = Tensor.arange(LONGEST).unsqueeze(dim=1) * speeds.unsqueeze(dim=0)
    return Tensor.stack(angles.cos(), angles.sin(), dim=-1).reshape(1, LONGEST, 1, size // 2, 2)


def rotated(x, turns):
    x = x.reshape(*x.shape[:-1], -1, 2)
    a, b, c, d = x[..., 0:1], x[..., 1:2], turns[..., 0:1], turns[..., 1:2]
    return (a * c - b * d).cat(a * d + b * c, dim=-1).flatten(3)


class Block:
    def __init__(self):
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.norm = nn.RMSNorm(WIDTH, 1e-5)

    def attend(self, x, start, turns, mask):
        batch, length, _ = x.shape
        parts = self.qkv(x).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = rotated(parts[:, :, 0], turns), rotated(parts[:, :, 1], turns), parts[:, :, 2]
        if not hasattr(self, "cache"):
            self.cache = (
                Tensor.zeros(2, batch, LONGEST, HEADS, WIDTH // HEADS, dtype=x.dtype).contiguous().realize()
            )
        place = (start, start + length)
        self.cache.shrink((None, None, place, None, None)).assign(Tensor.stack(k, v)).realize()
        keys, values = (self.cache[i].shrink((None, (0, start + length), None, None)) for i in range(2))
        q, keys, values = (t.transpose(1, 2) for t in (q, keys, values))
        found = q.scaled_dot_product_attention(keys, values, mask)
        return self.out(found.transpose(1, 2).reshape(batch, length, -1))

    def __call__(self, x, start, turns, mask):
        x = x + self.attend(self.norm(x), start, turns, mask)
        return x + self.down(self.up(self.norm(x)).gelu())


class Decoder:
    def __init__(self):
        self.words, self.blocks = nn.Embedding(WORDS, WIDTH), [Block(), Block()]
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.turns = rotations(WIDTH // HEADS).contiguous()
        self.replayed = TinyJit(self.forward)

    def forward(self, tokens, start):
        length = tokens.shape[1]
        turns = self.turns.shrink((None, (start, start + length), None, None, None))
        mask = None
        if length > 1:
            mask = Tensor.full((1, 1, length, start + length), float("-inf")).triu(start + 1)
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, start, turns, mask)
        return self.head(x)[:, -1, :].argmax(-1).flatten().realize()

    def __call__(self, tokens, start):
        if not start:
            return self.forward(tokens, start)
        return self.replayed(tokens, Variable("start", 1, LONGEST - 1).bind(start))


decoder = Decoder()
shapes = {name: x.shape for name, x in nn.state.get_state_dict(decoder).items() if name != "turns"}
state = {name: Tensor(draw.standard_normal(shape).astype(np.float32)) for name, shape in shapes.items()}
nn.state.load_state_dict(decoder, state, strict=False, verbose=False)
tokens, start = [3, 1, 2], 0
for _ in range(6):
    found = decoder(Tensor([tokens[start:]]), start).item()
    start = len(tokens)
    tokens.append(found)
RESULT = [tokens]
