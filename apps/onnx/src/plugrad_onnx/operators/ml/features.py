"""Prepare features, count words, and run linear models."""

import itertools
from typing import Any, Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.operators.ml.scores import labelled, transformed
from plugrad_onnx.operators.ml.trees import Transform
from plugrad_onnx.registry import ML, operator
from plugrad_onnx.values import shape_of


@operator("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(x: Tensor, y: Tensor) -> Tensor:
    """Return columns by position."""
    out = x.index_select(x.ndim - 1, y.reshape(-1).cast(dtypes.int64))
    return out.reshape(1, -1) if x.ndim == 1 else out


@operator("Binarizer", domain=ML)
def binarizer(x: Tensor, *, threshold: float = 0.0) -> Tensor:
    """Return 1 for elements above a threshold, else 0."""
    return (x > threshold).cast(x.dtype)


@operator("Scaler", domain=ML)
def scaler(x: Tensor, *, offset: tuple[float, ...] = (0.0,), scale: tuple[float, ...] = (1.0,)) -> Tensor:
    """Return features moved and scaled."""
    wide = x.cast(dtypes.float32)
    return (wide - Tensor(np.array(offset, np.float32))) * Tensor(np.array(scale, np.float32))


@operator("Normalizer", domain=ML)
def normalizer(x: Tensor, *, norm: Literal["MAX", "L1", "L2"] = "MAX") -> Tensor:
    """Return rows over their norm."""
    wide = x.cast(dtypes.float32)
    if norm == "MAX":
        size = wide.max(-1, keepdim=True)
    elif norm == "L1":
        size = wide.abs().sum(-1, keepdim=True)
    else:
        size = (wide * wide).sum(-1, keepdim=True).sqrt()
    return (size == 0).where(wide, wide / size)


@operator("Imputer", domain=ML)
def imputer(
    x: Tensor,
    *,
    imputed_value_floats: tuple[float, ...] = (),
    imputed_value_int64s: tuple[int, ...] = (),
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    """Return features with one value replaced by those of the columns."""
    if imputed_value_int64s:
        new = Tensor(np.array(imputed_value_int64s, np.int64))
        return (x == replaced_value_int64).where(new, x).cast(x.dtype)
    missing = x.isnan() if np.isnan(replaced_value_float) else x == replaced_value_float
    return missing.where(Tensor(np.array(imputed_value_floats, np.float32)), x).cast(x.dtype)


@operator("FeatureVectorizer", domain=ML)
def feature_vectorizer(*inputs: Tensor, inputdimensions: tuple[int, ...] = ()) -> Tensor:
    """Return all features side by side."""
    parts = [x.cast(dtypes.float32).reshape(shape_of(x)[0], -1) for x in inputs]
    return Tensor.cat(*parts, axis=1) if len(parts) > 1 else parts[0]


@operator("OneHotEncoder", domain=ML)
def one_hot_encoder(x: Tensor, *, cats_int64s: tuple[int, ...], zeros: int = 1) -> Tensor:
    """Return a new axis with 1 at the category of each element."""
    categories = Tensor(np.array(cats_int64s, np.int64))
    return (x.cast(dtypes.int64).unsqueeze(-1) == categories).cast(dtypes.float32)


@operator("LabelEncoder", domain=ML, since=2)
def label_encoder(
    x: Tensor,
    *,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_tensor: Any = None,
    keys_floats: tuple[float, ...] = (),
    keys_int64s: tuple[int, ...] = (),
    keys_tensor: Any = None,
    values_floats: tuple[float, ...] = (),
    values_int64s: tuple[int, ...] = (),
    values_tensor: Any = None,
) -> Tensor:
    """Return the value of each key."""
    keys = np.array(keys_floats or keys_int64s) if keys_tensor is None else keys_tensor
    if values_tensor is not None:
        values, default = values_tensor, default_tensor.reshape(-1)[0]
    elif values_floats:
        values, default = np.array(values_floats, np.float32), np.float32(default_float)
    else:
        values, default = np.array(values_int64s, np.int64), np.int64(default_int64)
    wanted = Tensor(keys).cast(x.dtype)
    same = x.unsqueeze(-1) == wanted
    if keys.dtype.kind == "f":
        same = same | (x.isnan().unsqueeze(-1) & wanted.isnan())
    table = Tensor(np.append(values, default))
    none = (~same.any(-1)).cast(dtypes.int64) * len(keys)
    at = same.cast(dtypes.int32).argmax(-1).cast(dtypes.int64) * same.any(-1).cast(dtypes.int64) + none
    return table[at]


@operator("LinearRegressor", domain=ML)
def linear_regressor(
    x: Tensor,
    *,
    coefficients: tuple[float, ...],
    intercepts: tuple[float, ...] = (),
    post_transform: Transform = "NONE",
    targets: int = 1,
) -> Tensor:
    """Return linear functions of the features."""
    return transformed(_linear(x, coefficients, intercepts, targets), post_transform)


@operator("LinearClassifier", domain=ML)
def linear_classifier(
    x: Tensor,
    *,
    classlabels_ints: tuple[int, ...],
    coefficients: tuple[float, ...],
    intercepts: tuple[float, ...] = (),
    multi_class: int = 0,
    post_transform: Transform = "NONE",
) -> tuple[Tensor, Tensor]:
    """Return the label with the highest linear function, and the scores of all labels."""
    columns = len(coefficients) // shape_of(x)[-1]
    return labelled(_linear(x, coefficients, intercepts, columns), classlabels_ints, post_transform, 0.0)


def _linear(
    x: Tensor, coefficients: tuple[float, ...], intercepts: tuple[float, ...], targets: int
) -> Tensor:
    weights = Tensor(np.array(coefficients, np.float32).reshape(targets, -1).T.copy())
    out = x.cast(dtypes.float32).matmul(weights)
    return out + Tensor(np.array(intercepts, np.float32)) if intercepts else out


@operator("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(
    x: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: Literal["TF", "IDF", "TFIDF"],
    ngram_counts: tuple[int, ...],
    ngram_indexes: tuple[int, ...],
    pool_int64s: tuple[int, ...],
    weights: tuple[float, ...] = (),
) -> Tensor:
    """Count the n-grams of a pool in each row, with gaps between their words."""
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    starts = [*ngram_counts, len(pool_int64s)]
    out = Tensor.zeros(shape_of(rows)[0], max(ngram_indexes) + 1, dtype=dtypes.float32)
    first = 0
    for n, (start, end) in enumerate(itertools.pairwise(starts), start=1):
        grams = np.array(pool_int64s[start:end], np.int64).reshape(-1, n)
        columns = np.array(ngram_indexes[first : first + len(grams)], np.int64)
        first += len(grams)
        if not len(grams) or not min_gram_length <= n <= max_gram_length:
            continue
        counts = Tensor.zeros(shape_of(rows)[0], len(grams), dtype=dtypes.float32)
        for gap in range(1, 2 + (max_skip_count if n > 1 else 0)):
            reach = (n - 1) * gap + 1
            if reach <= shape_of(rows)[1]:
                found = rows.unfold(1, reach, 1)[..., ::gap].unsqueeze(2) == Tensor(grams).cast(rows.dtype)
                counts = counts + found.all(-1).cast(dtypes.float32).sum(1)
        index = Tensor(columns).reshape(1, -1).expand(shape_of(rows)[0], -1)
        out = out.scatter_add(1, index, counts)
    if mode != "TF":
        line = np.ones(shape_of(out)[1], np.float32)
        line[np.array(ngram_indexes)] = weights or 1.0
        out = (out if mode == "TFIDF" else (out > 0).cast(dtypes.float32)) * Tensor(line)
    return out.reshape(-1) if x.ndim < 2 else out
