"""PyTorch's functions of `torch.nn.functional`, on tensors.

Most are methods of `Tensor` under the same name, which say what they compute. Functions of their own are
those whose arguments or defaults PyTorch has otherwise.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal

from plugrad.tensor import Tensor


def _with_order(method: Callable[..., Any], order: str) -> Callable[..., Any]:
    """Return a method as a function that takes its settings in PyTorch's order."""
    names = order.split()

    @functools.wraps(method)
    def call(input: Tensor, *given: Any, **named: Any) -> Any:
        if len(given) > len(names):
            raise TypeError(f"{method.__name__}() takes {order}, and got {len(given)} arguments.")
        return method(input, **dict(zip(names, given, strict=False)), **named)

    return call


_CONV = "weight bias stride padding dilation groups"
_CONV_TRANSPOSE = "weight bias stride padding output_padding groups dilation"
_MAX_POOL = "kernel_size stride padding dilation ceil_mode return_indices"
_AVG_POOL = "kernel_size stride padding ceil_mode count_include_pad divisor_override"
_MAX_UNPOOL = "indices kernel_size stride padding output_size"

avg_pool1d = _with_order(Tensor.avg_pool1d, _AVG_POOL)
avg_pool2d = _with_order(Tensor.avg_pool2d, _AVG_POOL)
avg_pool3d = _with_order(Tensor.avg_pool3d, _AVG_POOL)
conv1d = _with_order(Tensor.conv1d, _CONV)
conv2d = _with_order(Tensor.conv2d, _CONV)
conv3d = _with_order(Tensor.conv3d, _CONV)
conv_transpose1d = _with_order(Tensor.conv_transpose1d, _CONV_TRANSPOSE)
conv_transpose2d = _with_order(Tensor.conv_transpose2d, _CONV_TRANSPOSE)
conv_transpose3d = _with_order(Tensor.conv_transpose3d, _CONV_TRANSPOSE)
cross_entropy = _with_order(Tensor.cross_entropy, "y weight")
max_pool1d = _with_order(Tensor.max_pool1d, _MAX_POOL)
max_pool2d = _with_order(Tensor.max_pool2d, _MAX_POOL)
max_pool3d = _with_order(Tensor.max_pool3d, _MAX_POOL)
max_unpool1d = _with_order(Tensor.max_unpool1d, _MAX_UNPOOL)
max_unpool2d = _with_order(Tensor.max_unpool2d, _MAX_UNPOOL)
max_unpool3d = _with_order(Tensor.max_unpool3d, _MAX_UNPOOL)

adaptive_avg_pool1d = Tensor.adaptive_avg_pool1d
adaptive_avg_pool2d = Tensor.adaptive_avg_pool2d
adaptive_avg_pool3d = Tensor.adaptive_avg_pool3d
adaptive_max_pool1d = Tensor.adaptive_max_pool1d
adaptive_max_pool2d = Tensor.adaptive_max_pool2d
adaptive_max_pool3d = Tensor.adaptive_max_pool3d
batch_norm = Tensor.batch_norm
binary_cross_entropy = Tensor.binary_cross_entropy
binary_cross_entropy_with_logits = Tensor.binary_cross_entropy_with_logits
celu = Tensor.celu
cosine_embedding_loss = Tensor.cosine_embedding_loss
cosine_similarity = Tensor.cosine_similarity
ctc_loss = Tensor.ctc_loss
elu = Tensor.elu
glu = Tensor.glu
grid_sample = Tensor.grid_sample
group_norm = Tensor.group_norm
hardshrink = Tensor.hardshrink
hardsigmoid = Tensor.hardsigmoid
hardswish = Tensor.hardswish
hardtanh = Tensor.hardtanh
huber_loss = Tensor.huber_loss
interpolate = Tensor.interpolate
kl_div = Tensor.kl_div
l1_loss = Tensor.l1_loss
layer_norm = Tensor.layer_norm
leaky_relu = Tensor.leaky_relu
log_softmax = Tensor.log_softmax
logsigmoid = Tensor.logsigmoid
mish = Tensor.mish
mse_loss = Tensor.mse_loss
nll_loss = Tensor.nll_loss
normalize = Tensor.normalize
one_hot = Tensor.one_hot
pad = Tensor.pad
pairwise_distance = Tensor.pairwise_distance
pixel_shuffle = Tensor.pixel_shuffle
pixel_unshuffle = Tensor.pixel_unshuffle
prelu = Tensor.prelu
relu6 = Tensor.relu6
rms_norm = Tensor.rms_norm
scaled_dot_product_attention = Tensor.scaled_dot_product_attention
selu = Tensor.selu
sigmoid = Tensor.sigmoid
silu = Tensor.silu
smooth_l1_loss = Tensor.smooth_l1_loss
softmax = Tensor.softmax
softmin = Tensor.softmin
softplus = Tensor.softplus
softshrink = Tensor.softshrink
softsign = Tensor.softsign
tanh = Tensor.tanh
tanhshrink = Tensor.tanhshrink
threshold = Tensor.threshold
triplet_margin_loss = Tensor.triplet_margin_loss


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the larger one of 0 and the element: `Tensor.relu`. `inplace` changes nothing.

    Example:
        >>> relu(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return input.relu()


def gelu(input: Tensor, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """Return `Tensor.gelu`, exact unless asked.

    Example:
        >>> gelu(Tensor([0.0])).tolist()
        [0.0]
    """
    return input.gelu(approximate)


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Return `Tensor.dropout`, which drops elements unless told not to.

    Example:
        >>> dropout(Tensor.ones(3), 0.5, training=False).tolist()
        [1.0, 1.0, 1.0]
    """
    return input.dropout(p, training)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input @ weight.T + bias`: (..., in), (out, in) -> (..., out).

    Example:
        >>> linear(Tensor([1.0, 2.0]), Tensor([[3.0, 4.0]]), Tensor([0.5])).tolist()
        [11.5]
    """
    out = input @ weight.transpose(-2, -1)
    return out if bias is None else out + bias


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Return the rows of a table by number: (...), (rows, size) -> (..., size).

    Raises:
        DtypeError: the numbers are no integers.

    Example:
        >>> embedding(Tensor([1, 0]), Tensor([[1.0], [2.0]])).tolist()
        [[2.0], [1.0]]
    """
    return weight[input]
