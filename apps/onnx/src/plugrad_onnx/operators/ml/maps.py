"""Make maps of tensors, and tensors of maps; a map is a Python dict."""

from typing import Any, Literal

import numpy as np

from plugrad import Tensor
from plugrad_onnx.errors import OnnxError
from plugrad_onnx.registry import ML, operator
from plugrad_onnx.values import Array, Value


@operator("ZipMap", domain=ML)
def zip_map(
    x: Tensor, *, classlabels_int64s: tuple[int, ...] = (), classlabels_strings: tuple[str, ...] = ()
) -> Value:
    """Return the columns of each row by their labels: a dict for each sample."""
    labels = classlabels_int64s or classlabels_strings
    rows: list[list[float]] = x.reshape(-1, len(labels)).tolist()
    return [dict(zip(labels, row, strict=True)) for row in rows]


@operator("DictVectorizer", domain=ML)
def dict_vectorizer(
    x: Any, *, int64_vocabulary: tuple[int, ...] = (), string_vocabulary: tuple[str, ...] = ()
) -> Array:
    """Return the values of a vocabulary's keys as one row, 0 for absent keys."""
    numbers = _as_map(x)
    row = [numbers.get(key, 0) for key in int64_vocabulary or string_vocabulary]
    kind = np.float32 if any(isinstance(number, float) for number in numbers.values()) else np.int64
    return np.array([row], kind)


@operator("CastMap", domain=ML)
def cast_map(
    x: Any,
    *,
    cast_to: Literal["TO_FLOAT", "TO_INT64"] = "TO_FLOAT",
    map_form: Literal["DENSE", "SPARSE"] = "DENSE",
    max_map: int = 1,
) -> Array:
    """Return the values of a map in the order of its keys or positions."""
    numbers = _as_map(x)
    kind = np.float32 if cast_to == "TO_FLOAT" else np.int64
    if map_form == "DENSE":
        return np.array([[numbers[key] for key in sorted(numbers)]], kind)
    out = np.zeros((1, max_map), kind)
    for key, number in numbers.items():
        if 0 <= key < max_map:
            out[0, key] = number
    return out


def _as_map(x: Any) -> dict[Any, Any]:
    if not isinstance(x, dict):
        raise OnnxError(f"a dict is needed, and not a {type(x).__name__}")
    return dict(x)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
