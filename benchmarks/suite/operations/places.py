"""Reading and writing by position, and moving elements."""

# lambdas take whatever the inputs of their case are

import numpy as np
import torch
import torch.nn.functional as F

from plugrad import Tensor
from suite.operations.operation import Operation, both, floats, whole


def _indexing() -> list[Operation]:
    x, at = floats(10000, 100), whole(10000, 50000)
    columns = whole(100, 10000, 50)
    return [
        both("x[positions] (10000 x 100, 50000)", [x, at], lambda x, at: x[at]),
        both("x[positions] backward (10000 x 100, 50000)", [x, at], lambda x, at: x[at], backward=True),
        both(
            "x[:, positions] (1000 x 1000, 500)",
            [floats(1000, 1000), whole(1000, 500)],
            lambda x, at: x[:, at],
        ),
        both(
            "x[i, j] (10000 x 100, 100000)",
            [x, whole(10000, 100000), whole(100, 100000)],
            lambda x, i, j: x[i, j],
        ),
        both("gather along 1 (10000 x 100)", [x, columns], lambda x, at: x.gather(1, at)),
        both(
            "gather backward along 1 (10000 x 100)",
            [x, columns],
            lambda x, at: x.gather(1, at),
            backward=True,
        ),
        both("gather along 0 (10000 x 100)", [x, whole(10000, 5000, 100)], lambda x, at: x.gather(0, at)),
        both("take_along_dim (10000 x 100)", [x, columns], lambda x, at: x.take_along_dim(at, 1)),
        both(
            "scatter along 1 (10000 x 100)",
            [x, np.argsort(x)[:, :50].copy(), floats(10000, 50)],
            lambda x, at, v: x.scatter(1, at, v),
        ),
        both(
            "scatter_add along 0 (1000 x 100, 50000)",
            [x[:1000], whole(1000, 50000, 100), floats(50000, 100)],
            lambda x, at, v: x.scatter_add(0, at, v),
        ),
        both(
            "scatter_reduce amax along 0 (1000 x 100, 5000)",
            [x[:1000], whole(1000, 5000, 100), floats(5000, 100)],
            lambda x, at, v: x.scatter_reduce(0, at, v, "amax"),
        ),
        both(
            "index_add (1000 x 100, 50000)",
            [x[:1000], whole(1000, 50000), floats(50000, 100)],
            lambda x, at, v: x.index_add(0, at, v),
        ),
        both(
            "index_copy (10000 x 100, 5000)",
            [x, np.random.default_rng(1).permutation(10000)[:5000], floats(5000, 100)],
            lambda x, at, v: x.index_copy(0, at, v),
        ),
        both(
            "index_put (10000 x 100, 50000)",
            [x, whole(10000, 50000), whole(100, 50000), floats(50000)],
            lambda x, i, j, v: x.index_put((i, j), v, accumulate=True),
        ),
        both(
            "embedding (32000 x 256, 2048)",
            [floats(32000, 256), whole(32000, 2048)],
            lambda w, at: w[at],
            lambda w, at: F.embedding(at, w),
        ),
        both(
            "embedding backward (32000 x 256, 2048)",
            [floats(32000, 256), whole(32000, 2048)],
            lambda w, at: w[at],
            lambda w, at: F.embedding(at, w),
            backward=True,
        ),
        both(
            "one_hot (10000, 100)",
            [whole(100, 10000)],
            lambda x: x.one_hot(100),
            lambda x: F.one_hot(x, 100),
        ),
        both(
            "one-hot lookup by a mask (1024 x 1000)",
            [floats(1024, 1000), whole(1000, 1024)],
            lambda x, at: (at.reshape(-1, 1) == Tensor.arange(1000)).where(x, 0).sum(1),
            lambda x, at: torch.where(at.reshape(-1, 1) == torch.arange(1000), x, 0).sum(1),
        ),
        both(
            "masked_fill (1000 x 1000)",
            [floats(1000, 1000), floats(1000, 1000) > 0],
            lambda x, m: x.masked_fill(m, 0.0),
        ),
    ]


def _movement() -> list[Operation]:
    x, odd = floats(1000, 1000), floats(1000, 1001)
    images = floats(16, 16, 64, 64)
    return [
        both("x.T, stored (1000 x 1000)", [x], lambda x: x.T.contiguous()),
        both("x.T, stored (1000 x 1001)", [odd], lambda x: x.T.contiguous()),
        both(
            "permute to channels last, stored (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.permute(0, 2, 3, 1).contiguous(),
        ),
        both(
            "permute of three axes, stored (100 x 101 x 99)",
            [floats(100, 101, 99)],
            lambda x: x.permute(2, 0, 1).contiguous(),
        ),
        both("flip along 1 (1000 x 1001)", [odd], lambda x: x.flip(1).contiguous()),
        both("roll along 1 (1000 x 1001)", [odd], lambda x: x.roll(100, 1).contiguous()),
        both("roll along 0 (1000 x 1001)", [odd], lambda x: x.roll(100, 0).contiguous()),
        both("roll of all (1000 x 1001)", [odd], lambda x: x.roll(100).contiguous()),
        both(
            "cat of three along 1 (1000 x 333)",
            [floats(1000, 333)],
            lambda x: x.cat(x + 1, x * 2, dim=1),
            lambda x: torch.cat([x, x + 1, x * 2], 1),
        ),
        both(
            "cat of three along 0 (333 x 1000)",
            [floats(333, 1000)],
            lambda x: x.cat(x + 1, x * 2, dim=0),
            lambda x: torch.cat([x, x + 1, x * 2], 0),
        ),
        both(
            "stack of two along 2 (1000 x 500)",
            [floats(1000, 500)],
            lambda x: x.stack(x + 1, dim=2),
            lambda x: torch.stack([x, x + 1], 2),
        ),
        both(
            "pad by zeros (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((1, 1, 1, 1)).contiguous(),
            lambda x: F.pad(x, (1, 1, 1, 1)),
        ),
        both(
            "pad by reflection (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="reflect"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="reflect"),
        ),
        both(
            "pad around (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="circular"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="circular"),
        ),
        both(
            "pad by edges (16 x 16 x 64 x 64)",
            [images],
            lambda x: x.pad((3, 3, 3, 3), mode="replicate"),
            lambda x: F.pad(x, (3, 3, 3, 3), mode="replicate"),
        ),
        both(
            "repeat_interleave (1000 x 500) along 1",
            [floats(1000, 500)],
            lambda x: x.repeat_interleave(2, 1),
        ),
        both("tile (1000 x 250)", [floats(1000, 250)], lambda x: x.tile((1, 4)).contiguous()),
        both("x[:, ::2] (1000 x 2000)", [floats(1000, 2000)], lambda x: x[:, ::2].contiguous()),
        both("triu (1000 x 1000)", [x], lambda x: x.triu()),
        both("diagonal, summed (1000 x 1000)", [x], lambda x: x.diagonal().sum()),
        both("unfold (1000 x 1000)", [x], lambda x: x.unfold(1, 10, 5).contiguous()),
        both(
            "pixel_shuffle (16 x 64 x 32 x 32)",
            [floats(16, 64, 32, 32)],
            lambda x: x.pixel_shuffle(2).contiguous(),
            lambda x: F.pixel_shuffle(x, 2),
        ),
    ]


OPERATIONS = (
    *_indexing(),
    *_movement(),
)
