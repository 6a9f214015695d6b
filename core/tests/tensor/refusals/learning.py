"""Errors of losses, normalizations, attention and gradients."""

from plugrad import Tensor
from plugrad.errors import ArgumentError, AxisError, DeviceError, DtypeError, GradientError, ShapeError
from refusals.case import Case, trained


def _channel_axes(name: str) -> int:
    """Return how many axes behind the channels a dropout takes; 1 where any number will do."""
    return int(name[-2]) if name[-2:-1].isdigit() else 1


CASES: list[Case] = [
    (
        "sequential",
        ArgumentError,
        lambda t: t.floats.sequential([None]),
        "sequential: None (NoneType) is no layer",
    ),
    ("sequential", ArgumentError, lambda t: t.floats.sequential(3), "sequential: 3 (int) are no layers"),
    (
        "scaled_dot_product_attention",
        ShapeError,
        lambda t: t.floats.scaled_dot_product_attention(Tensor.ones(2, 4), Tensor.ones(2, 4)),
        "scaled_dot_product_attention of queries (2, 3), keys (2, 4) and values (2, 4): it",
    ),
    (
        "scaled_dot_product_attention",
        DtypeError,
        lambda t: t.ints.scaled_dot_product_attention(t.ints, t.ints),
        "scaled_dot_product_attention of int32, int32 and int32: it takes floats of one dtype",
    ),
    (
        "scaled_dot_product_attention",
        ArgumentError,
        lambda t: t.floats.scaled_dot_product_attention(
            t.floats, t.floats, Tensor.ones(2, 2), is_causal=True
        ),
        "scaled_dot_product_attention: both attn_mask and is_causal",
    ),
    ("one_hot", DtypeError, lambda t: t.floats.one_hot(3), "one_hot of float32: it takes integers"),
    ("one_hot", ShapeError, lambda t: t.ints.one_hot(0), "one_hot with 0 classes"),
    (
        "sparse_categorical_crossentropy",
        ShapeError,
        lambda t: t.floats.sparse_categorical_crossentropy(Tensor([1, 2, 0])),
        "sparse_categorical_crossentropy: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "sparse_categorical_crossentropy",
        ArgumentError,
        lambda t: t.floats.sparse_categorical_crossentropy(t.row, label_smoothing=2.0),
        "sparse_categorical_crossentropy: label_smoothing=2.0 lies outside of 0..1",
    ),
    (
        "sparse_categorical_crossentropy",
        DtypeError,
        lambda t: t.floats.sparse_categorical_crossentropy(Tensor([0.5, 1.0])),
        "sparse_categorical_crossentropy of float32: it takes integers",
    ),
    (
        "cross_entropy",
        ShapeError,
        lambda t: t.floats.cross_entropy(Tensor([1, 2, 0])),
        "cross_entropy: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "cross_entropy",
        ArgumentError,
        lambda t: t.floats.cross_entropy(t.row, "all"),
        "cross_entropy: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "cross_entropy",
        ArgumentError,
        lambda t: t.floats.cross_entropy(t.row, Tensor.ones(3)),
        "cross_entropy: reduction is a tensor of shape (3,): the classes' weights are given by name, weight=",
    ),
    (
        "cross_entropy",
        DtypeError,
        lambda t: t.ints.cross_entropy(t.row),
        "cross_entropy of int32: it takes floats as logits",
    ),
    (
        "nll_loss",
        ShapeError,
        lambda t: t.floats.nll_loss(Tensor([1, 2, 0])),
        "nll_loss: logits (2, 3) take labels of shape (2,), not (3,)",
    ),
    (
        "nll_loss",
        ArgumentError,
        lambda t: t.floats.nll_loss(t.row, reduction="all"),
        "nll_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "nll_loss",
        DtypeError,
        lambda t: t.floats.nll_loss(Tensor([0.5, 1.0])),
        "nll_loss of float32: it takes integers",
    ),
    (
        "ctc_loss",
        ShapeError,
        lambda t: t.floats.ctc_loss(t.ints, [2], [1]),
        "ctc_loss of shape (2, 3) with labels of shape (2, 3): it takes (T, N, C) and (N,",
    ),
    (
        "ctc_loss",
        DtypeError,
        lambda t: Tensor.ones(4, 2, 3).ctc_loss(t.floats, [4, 4], [1, 1]),
        "ctc_loss of float32 with labels of float32: it takes log-probabilities and a",
    ),
    (
        "ctc_loss",
        ArgumentError,
        lambda t: Tensor.ones(4, 2, 3).ctc_loss(t.ints[:, :1], [4, 4], [1, 1], reduction="all"),
        "ctc_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("dropout", ArgumentError, lambda t: t.floats.dropout(1.5), "dropout: p=1.5 lies outside of 0..1"),
    (
        "dropout",
        DtypeError,
        lambda t: trained(lambda: t.ints.dropout(0.5)),
        "dropout of int32: it takes floats",
    ),
    *[
        case
        for name in ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
        for case in (
            (
                name,
                ArgumentError,
                lambda t, name=name: getattr(Tensor.ones(1, 1, *[2] * _channel_axes(name)), name)(-0.5),
                f"{name}: p=-0.5 lies outside of 0..1",
            ),
            (
                name,
                DtypeError,
                lambda t, name=name: getattr(Tensor.ones(1, 1, *[2] * _channel_axes(name)).int(), name)(),
                f"{name} of int32: it takes floats",
            ),
            (
                name,
                ShapeError,
                lambda t, name=name: getattr(t.vector, name)(),
                f"{name} of shape (3,): it takes (N, C, ",
            ),
        )
        if case[:2] != ("alpha_dropout", ShapeError)
    ],
    ("gradient", GradientError, lambda t: t.floats.sum().gradient(t.vector), "does not depend on"),
    (
        "gradient",
        ShapeError,
        lambda t: t.floats.gradient(t.floats, gradient=t.vector),
        "gradient of shape (3,) for a tensor of shape (2, 3)",
    ),
    (
        "gradient",
        DtypeError,
        lambda t: t.floats.sum().gradient(3),
        "gradient for 3 (int), which is no tensor",
    ),
    (
        "gradient",
        DeviceError,
        lambda t: t.tracked.gradient(t.tracked, gradient=t.floats.to(t.elsewhere).contiguous()),
        "tensors on",
    ),
    ("backward", GradientError, lambda t: t.floats.sum().backward(), "does not depend on"),
    (
        "backward",
        ShapeError,
        lambda t: t.tracked.backward(t.vector),
        "gradient of shape (3,) for a tensor of shape (2, 3)",
    ),
    ("backward", DtypeError, lambda t: t.tracked.backward(3), "gradient=3 (int) is no tensor"),
    (
        "backward",
        DeviceError,
        lambda t: t.tracked.backward(t.floats.to(t.elsewhere).contiguous()),
        "tensors on",
    ),
    (
        "mse_loss",
        ShapeError,
        lambda t: t.floats.mse_loss(t.vector),
        "mse_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "mse_loss",
        ArgumentError,
        lambda t: t.floats.mse_loss(t.floats, "all"),
        "mse_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "mse_loss",
        DtypeError,
        lambda t: t.ints.mse_loss(t.ints),
        "mse_loss of int32 and int32: it takes floats",
    ),
    (
        "l1_loss",
        ShapeError,
        lambda t: t.floats.l1_loss(t.vector),
        "l1_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "l1_loss",
        ArgumentError,
        lambda t: t.floats.l1_loss(t.floats, "all"),
        "l1_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("l1_loss", DtypeError, lambda t: t.ints.l1_loss(t.ints), "l1_loss of int32 and int32: it takes floats"),
    (
        "smooth_l1_loss",
        ShapeError,
        lambda t: t.floats.smooth_l1_loss(t.vector),
        "smooth_l1_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "smooth_l1_loss",
        ArgumentError,
        lambda t: t.floats.smooth_l1_loss(t.floats, beta=-1.0),
        "smooth_l1_loss: beta=-1.0 is negative",
    ),
    (
        "smooth_l1_loss",
        DtypeError,
        lambda t: t.ints.smooth_l1_loss(t.ints),
        "smooth_l1_loss of int32 and int32: it takes floats",
    ),
    (
        "huber_loss",
        ShapeError,
        lambda t: t.floats.huber_loss(t.vector),
        "huber_loss of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "huber_loss",
        ArgumentError,
        lambda t: t.floats.huber_loss(t.floats, delta=0.0),
        "huber_loss: delta=0.0 is not positive",
    ),
    (
        "huber_loss",
        DtypeError,
        lambda t: t.ints.huber_loss(t.ints),
        "huber_loss of int32 and int32: it takes floats",
    ),
    (
        "binary_cross_entropy",
        ShapeError,
        lambda t: t.floats.binary_cross_entropy(t.vector),
        "binary_cross_entropy of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "binary_cross_entropy",
        ArgumentError,
        lambda t: t.floats.binary_cross_entropy(t.floats, reduction="all"),
        "binary_cross_entropy: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "binary_cross_entropy",
        DtypeError,
        lambda t: t.ints.binary_cross_entropy(t.ints),
        "binary_cross_entropy of int32: it takes floats",
    ),
    (
        "binary_cross_entropy_with_logits",
        ShapeError,
        lambda t: t.floats.binary_cross_entropy_with_logits(t.vector),
        "binary_cross_entropy_with_logits of shape (2, 3) with a target of shape (3,): they",
    ),
    (
        "binary_cross_entropy_with_logits",
        ArgumentError,
        lambda t: t.floats.binary_cross_entropy_with_logits(t.floats, reduction="all"),
        "binary_cross_entropy_with_logits: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    (
        "binary_cross_entropy_with_logits",
        DtypeError,
        lambda t: t.ints.binary_cross_entropy_with_logits(t.ints),
        "binary_cross_entropy_with_logits of int32: it takes floats",
    ),
    (
        "kl_div",
        ShapeError,
        lambda t: t.floats.kl_div(t.vector),
        "kl_div of shape (2, 3) with a target of shape (3,): they must be equal",
    ),
    (
        "kl_div",
        ArgumentError,
        lambda t: t.floats.kl_div(t.floats, "all"),
        "kl_div: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("kl_div", DtypeError, lambda t: t.ints.kl_div(t.ints), "kl_div of int32: it takes floats"),
    (
        "cosine_similarity",
        ShapeError,
        lambda t: t.floats.cosine_similarity(Tensor.ones(2, 4)),
        "cosine_similarity: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "cosine_similarity",
        AxisError,
        lambda t: t.floats.cosine_similarity(t.floats, 2),
        "cosine_similarity: axis 2 is out of range",
    ),
    (
        "pairwise_distance",
        ShapeError,
        lambda t: t.floats.pairwise_distance(Tensor.ones(2, 4)),
        "pairwise_distance: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "pairwise_distance",
        ArgumentError,
        lambda t: t.floats.pairwise_distance(t.floats, 0.0),
        "pairwise_distance: p=0.0 is not positive",
    ),
    (
        "triplet_margin_loss",
        ShapeError,
        lambda t: t.floats.triplet_margin_loss(t.floats, Tensor.ones(2, 4)),
        "triplet_margin_loss: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "triplet_margin_loss",
        ArgumentError,
        lambda t: t.floats.triplet_margin_loss(t.floats, t.floats, p=0.0),
        "triplet_margin_loss: p=0.0 is not positive",
    ),
    (
        "cosine_embedding_loss",
        ShapeError,
        lambda t: t.floats.cosine_embedding_loss(Tensor.ones(2, 4), t.row),
        "cosine_embedding_loss: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has sizes 3 and 4",
    ),
    (
        "cosine_embedding_loss",
        ArgumentError,
        lambda t: t.floats.cosine_embedding_loss(t.floats, t.row, reduction="all"),
        "cosine_embedding_loss: reduction='all' is none of 'mean', 'sum', 'none'",
    ),
    ("layernorm", AxisError, lambda t: t.floats.layernorm(2), "layernorm: axis 2 is out of range"),
    ("layernorm", DtypeError, lambda t: t.ints.layernorm(), "layernorm of int32: it takes floats"),
    (
        "layer_norm",
        ShapeError,
        lambda t: t.floats.layer_norm(2),
        "layer_norm over (2,) of shape (2, 3), which does not end in it",
    ),
    ("layer_norm", DtypeError, lambda t: t.ints.layer_norm(3), "layer_norm of int32: it takes floats"),
    (
        "rms_norm",
        ShapeError,
        lambda t: t.floats.rms_norm(2),
        "rms_norm over (2,) of shape (2, 3), which does not end in it",
    ),
    ("rms_norm", DtypeError, lambda t: t.ints.rms_norm(3), "rms_norm of int32: it takes floats"),
    (
        "group_norm",
        ShapeError,
        lambda t: t.floats.group_norm(2),
        "group_norm of shape (2, 3) in 2 groups: it takes (N, C, ...) with a number of",
    ),
    ("group_norm", DtypeError, lambda t: t.ints.group_norm(3), "group_norm of int32: it takes floats"),
    (
        "instance_norm",
        ShapeError,
        lambda t: t.floats.instance_norm(),
        "instance_norm of shape (2, 3): it takes (N, C, *sizes)",
    ),
    (
        "instance_norm",
        DtypeError,
        lambda t: t.images.int().instance_norm(),
        "instance_norm of int32: it takes floats",
    ),
    (
        "batchnorm",
        AxisError,
        lambda t: t.floats.batchnorm(None, None, t.vector, t.vector, 2),
        "batchnorm: axis 2 is out of range",
    ),
    (
        "batchnorm",
        ShapeError,
        lambda t: t.floats.batchnorm(t.row, None, t.vector, t.vector),
        "batchnorm: weight of shape (2,) for 3 channels",
    ),
    (
        "batchnorm",
        DtypeError,
        lambda t: t.ints.batchnorm(None, None, t.vector, t.vector),
        "batchnorm of int32: it takes floats",
    ),
    (
        "batch_norm",
        ShapeError,
        lambda t: t.floats.batch_norm(),
        "batch_norm without training normalizes by running_mean and running_var, which are",
    ),
    (
        "batch_norm",
        DtypeError,
        lambda t: t.ints.batch_norm(training=True),
        "batch_norm of int32: it takes floats",
    ),
    (
        "batch_statistics",
        ShapeError,
        lambda t: Tensor(1.0).batch_statistics(),
        "batch_statistics of shape (): it takes (N, C, ...)",
    ),
    (
        "batch_statistics",
        DtypeError,
        lambda t: t.ints.batch_statistics(),
        "batch_statistics of int32: it takes floats",
    ),
]
