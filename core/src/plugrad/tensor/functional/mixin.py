"""The methods that layers are made of."""

from plugrad.tensor.functional import (
    adaptive,
    attention,
    classification,
    convolution,
    ctc,
    interpolation,
    losses,
    normalization,
    pooling,
    transposed_convolution,
)
from plugrad.tensor.functional import dropout as dropouts
from plugrad.tensor.functional import grid_sample as grids
from plugrad.tensor.functional import sequential as sequences


class FunctionalMixin:
    """Convolutions, pooling, interpolation, normalization, attention, dropout, losses."""

    __slots__ = ()

    # convolutions
    conv1d = convolution.conv1d
    conv2d = convolution.conv2d
    conv3d = convolution.conv3d
    conv_transpose1d = transposed_convolution.conv_transpose1d
    conv_transpose2d = transposed_convolution.conv_transpose2d
    conv_transpose3d = transposed_convolution.conv_transpose3d

    # pooling
    avg_pool2d = pooling.avg_pool2d
    avg_pool1d = pooling.avg_pool1d
    avg_pool3d = pooling.avg_pool3d
    max_pool2d = pooling.max_pool2d
    max_pool1d = pooling.max_pool1d
    max_pool3d = pooling.max_pool3d
    max_unpool2d = pooling.max_unpool2d
    max_unpool1d = pooling.max_unpool1d
    max_unpool3d = pooling.max_unpool3d
    adaptive_avg_pool2d = adaptive.adaptive_avg_pool2d
    adaptive_avg_pool1d = adaptive.adaptive_avg_pool1d
    adaptive_avg_pool3d = adaptive.adaptive_avg_pool3d
    adaptive_max_pool2d = adaptive.adaptive_max_pool2d
    adaptive_max_pool1d = adaptive.adaptive_max_pool1d
    adaptive_max_pool3d = adaptive.adaptive_max_pool3d

    # interpolation and sampling
    interpolate = interpolation.interpolate
    grid_sample = grids.grid_sample

    # normalization
    layernorm = normalization.layernorm
    layer_norm = normalization.layer_norm
    rms_norm = normalization.rms_norm
    group_norm = normalization.group_norm
    groupnorm = normalization.group_norm
    instance_norm = normalization.instance_norm
    batchnorm = normalization.batchnorm
    batch_norm = normalization.batch_norm
    batch_statistics = normalization.batch_statistics

    # attention
    scaled_dot_product_attention = attention.scaled_dot_product_attention

    # dropout
    dropout = dropouts.dropout
    dropout1d = dropouts.dropout1d
    dropout2d = dropouts.dropout2d
    dropout3d = dropouts.dropout3d
    alpha_dropout = dropouts.alpha_dropout
    feature_alpha_dropout = dropouts.feature_alpha_dropout

    # layers one after the other
    sequential = sequences.sequential

    # losses
    mse_loss = losses.mse_loss
    l1_loss = losses.l1_loss
    smooth_l1_loss = losses.smooth_l1_loss
    huber_loss = losses.huber_loss
    cosine_similarity = losses.cosine_similarity
    pairwise_distance = losses.pairwise_distance
    triplet_margin_loss = losses.triplet_margin_loss
    cosine_embedding_loss = losses.cosine_embedding_loss
    kl_div = losses.kl_div
    one_hot = classification.one_hot
    sparse_categorical_crossentropy = classification.sparse_categorical_crossentropy
    cross_entropy = classification.cross_entropy
    nll_loss = classification.nll_loss
    binary_cross_entropy = classification.binary_cross_entropy
    binary_crossentropy = classification.binary_crossentropy
    binary_cross_entropy_with_logits = classification.binary_cross_entropy_with_logits
    binary_crossentropy_logits = classification.binary_crossentropy_logits
    ctc_loss = ctc.ctc_loss
