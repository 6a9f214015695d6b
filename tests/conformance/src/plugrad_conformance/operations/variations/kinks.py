"""Gradients where functions bend, end, or have equals to choose from: as PyTorch has them."""

# the lambdas of a table take whatever its inputs are
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from plugrad_conformance.operations.operation import Array, Meaning, Operation


@dataclass(frozen=True, slots=True, eq=False)
class Kink:
    """A function, where it is differentiated, and what its gradient is there.

    Attributes:
        name: the method that it is about.
        variation: what is special about the inputs.
        function: takes a tensor for each input; the sum of what it returns is differentiated.
        inputs: floats in float32, or integers.
        slopes: the gradients by the first floats.
    """

    name: str
    variation: str
    function: Meaning
    inputs: tuple[Array, ...]
    slopes: tuple[Array, ...]

    @property
    def targets(self) -> list[int]:
        """Return the inputs that it is differentiated by."""
        floats = [i for i, x in enumerate(self.inputs) if x.dtype.kind == "f"]
        return floats[: len(self.slopes)]

    @property
    def id(self) -> str:
        """Return its name in reports."""
        return f"{self.name}/{self.variation}"


def _kink(name: str, variation: str, function: Meaning, inputs: Sequence[Any], slopes: Sequence[Any]) -> Kink:
    given = [x if isinstance(x, np.ndarray) else np.array(x, np.float32) for x in inputs]
    return Kink(name, variation, function, tuple(given), tuple(np.array(x, np.float64) for x in slopes))


def _case(kink: Kink) -> Operation:
    """Return the gradients of a kink as a case of the table of operations."""
    function: Any = kink.function

    def call(*tensors: Any) -> Any:
        return tuple(function(*tensors).sum().gradient(*[tensors[i] for i in kink.targets]))

    def reference(*_: Any) -> tuple[Array, ...]:
        return kink.slopes

    return Operation(kink.name, f"gradient at {kink.variation}", call, reference, kink.inputs)


_AROUND_0 = [-2, -1, -0.5, -0.0, 0, 0.5, 1, 2]
KINKS = (
    _kink("relu", "its bend", lambda x: x.relu(), [_AROUND_0], [[0, 0, 0, 0, 0, 1, 1, 1]]),
    _kink("abs", "its bend", lambda x: x.abs(), [_AROUND_0], [[-1, -1, -1, 0, 0, 1, 1, 1]]),
    _kink("relu6", "its bends", lambda x: x.relu6(), [[6, 0, -0.0, 7, 3]], [[0, 0, 0, 0, 1]]),
    _kink("leaky_relu", "its bend", lambda x: x.leaky_relu(),
          [_AROUND_0], [[0.01, 0.01, 0.01, 0.01, 0.01, 1, 1, 1]]),
    _kink("elu", "its bend", lambda x: x.elu(), [_AROUND_0], [[0.135335, 0.367879, 0.606531, 1, 1, 1, 1, 1]]),
    _kink("celu", "its bend", lambda x: x.celu(),
          [_AROUND_0], [[0.135335, 0.367879, 0.606531, 1, 1, 1, 1, 1]]),
    _kink("selu", "its bend", lambda x: x.selu(),
          [_AROUND_0], [[0.237933, 0.646769, 1.06634, 1.7581, 1.7581, 1.0507, 1.0507, 1.0507]]),
    _kink("hardtanh", "its bends", lambda x: x.hardtanh(), [_AROUND_0], [[0, 0, 1, 1, 1, 1, 0, 0]]),
    _kink("hardsigmoid", "its bends", lambda x: x.hardsigmoid(),
          [[-4, -3, 0, 3, 4]], [[0, 0, 0.166667, 0, 0]]),
    _kink("hardswish", "its bends", lambda x: x.hardswish(), [[-4, -3, 0, 3, 4]], [[0, 0, 0.5, 1, 1]]),
    _kink("softshrink", "its bends", lambda x: x.softshrink(), [_AROUND_0], [[1, 1, 0, 0, 0, 0, 1, 1]]),
    _kink("hardshrink", "its bends", lambda x: x.hardshrink(), [_AROUND_0], [[1, 1, 0, 0, 0, 0, 1, 1]]),
    _kink("threshold", "the threshold", lambda x: x.threshold(0.5, 3.0),
          [_AROUND_0], [[0, 0, 0, 0, 0, 0, 1, 1]]),
    _kink("softsign", "0", lambda x: x.softsign(), [[-0.0, 0, inf, -inf]], [[1, 1, nan, nan]]),
    _kink("sign", "0", lambda x: x.sign(), [_AROUND_0], [[0, 0, 0, 0, 0, 0, 0, 0]]),
    _kink("sqrt", "its end", lambda x: x.sqrt(), [[0, 1, 4]], [[inf, 0.5, 0.25]]),
    _kink("rsqrt", "its end", lambda x: x.rsqrt(), [[0, 1, 4]], [[-inf, -0.5, -0.0625]]),
    _kink("log", "its end", lambda x: x.log(), [[0, -0.0, 1]], [[inf, -inf, 1]]),
    _kink("log1p", "its end", lambda x: x.log1p(), [[-1, 0]], [[inf, 1]]),
    _kink("reciprocal", "0", lambda x: x.reciprocal(),
          [[0, -0.0, inf, -inf, 2]], [[-inf, -inf, 0, 0, -0.25]]),
    _kink("asin", "its ends", lambda x: x.asin(), [[-1, 1, 0]], [[inf, inf, 1]]),
    _kink("acos", "its ends", lambda x: x.acos(), [[-1, 1, 0]], [[-inf, -inf, -1]]),
    _kink("acosh", "its end", lambda x: x.acosh(), [[1, 2]], [[inf, 0.57735]]),
    _kink("atanh", "its ends", lambda x: x.atanh(), [[-1, 1, 0]], [[inf, inf, 1]]),
    _kink("erfinv", "its ends", lambda x: x.erfinv(), [[-1, 1, 0, 2]], [[inf, inf, 0.886227, nan]]),
    _kink("logit", "its ends", lambda x: x.logit(), [[0, 1, 0.5, -1, 2]], [[inf, inf, 4, nan, nan]]),
    _kink("sinc", "0", lambda x: x.sinc(), [[0, -0.0]], [[0, 0]]),
    _kink("clamp", "its bounds", lambda x: x.clamp(-1, 1), [_AROUND_0], [[0, 1, 1, 1, 1, 1, 1, 0]]),
    _kink("clamp", "bounds that cross", lambda x: x.clamp(1, -1), [_AROUND_0], [[0, 0, 0, 0, 0, 0, 0, 0]]),
    _kink("clamp", "bounds that are tensors", lambda x, y, z: x.clamp(y, z),
          [[-2, -1, 0, 1, 2], [-1, -1, -1, -1, -1], [1, 1, 1, 1, 1]],
          [[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]),
    _kink("clamp_min", "equals", lambda x, y: x.clamp_min(y), [[0, 1, 2], [0, 2, 1]], [[1, 0, 1], [0, 1, 0]]),
    _kink("clamp_max", "equals", lambda x, y: x.clamp_max(y), [[0, 1, 2], [0, 2, 1]], [[1, 1, 0], [0, 0, 1]]),
    _kink("maximum", "equals and NaN", lambda x, y: x.maximum(y),
          [[0, 1, 2, -0.0, nan], [0, 2, 1, 0, 1]], [[0.5, 0, 1, 0.5, 1], [0.5, 1, 0, 0.5, 1]]),
    _kink("minimum", "equals and NaN", lambda x, y: x.minimum(y),
          [[0, 1, 2, -0.0, nan], [0, 2, 1, 0, 1]], [[0.5, 1, 0, 0.5, 1], [0.5, 0, 1, 0.5, 1]]),
    _kink("fmax", "equals and NaN", lambda x, y: x.fmax(y),
          [[0, 1, 2, nan, 1], [0, 2, 1, 1, nan]], [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]]),
    _kink("fmin", "equals and NaN", lambda x, y: x.fmin(y),
          [[0, 1, 2, nan, 1], [0, 2, 1, 1, nan]], [[1, 1, 0, 0, 1], [0, 0, 1, 1, 0]]),
    _kink("pow", "0 to powers", lambda x, y: x.pow(y),
          [[0, 0, 0, 0, 0, -0.0, -0.0], [0, 1, 2, 0.5, -1, 3, 2]],
          [[0, 1, 0, inf, -inf, 0, 0], [0, 0, 0, 0, -inf, 0, 0]]),
    _kink("pow", "the power 0", lambda x, y: x.pow(y),
          [[0, 2, -2, inf, 1], [0, 0, 0, 0, 0]], [[0, 0, 0, 0, 0], [0, 0.693147, nan, inf, 0]]),
    _kink("pow", "a root", lambda x: x.pow(0.5), [[0, 1, 4]], [[inf, 0.5, 0.25]]),
    _kink("pow", "a square", lambda x: x.pow(2), [[0, -1, 2]], [[0, -2, 4]]),
    _kink("__rpow__", "a base of 0", lambda x: 0 ** x, [[0, 1, 2, 0.5]], [[0, 0, 0, 0]]),
    _kink("div", "by 0", lambda x, y: x.div(y), [[1, -1, 0], [0, -0.0, 1]], [[inf, -inf, 1], [-inf, inf, 0]]),
    _kink("hypot", "on an axis", lambda x, y: x.hypot(y), [[0, 3, 0], [1, 0, -1]], [[0, 1, 0], [1, 0, -1]]),
    _kink("atan2", "0", lambda x, y: x.atan2(y),
          [[0, 0, 1, -0.0], [1, -1, 0, -1]], [[1, -1, 0, -1], [0, 0, -1, 0]]),
    _kink("where", "NaN that is not chosen", lambda x: (x > 0).where(x, 0.0),
          [[nan, 1, -1, inf, -inf]], [[0, 1, 0, 1, 0]]),
    _kink("where", "a root that is not chosen", lambda x: (x > 0).where(x.sqrt(), 0.0),
          [[0, 1, 4]], [[nan, 0.5, 0.25]]),
    _kink("nan_to_num", "all", lambda x: x.nan_to_num(), [[nan, inf, -inf, 1]], [[0, 0, 0, 1]]),
    _kink("masked_fill", "NaN that is replaced", lambda x: x.masked_fill(x != x, 0.0), [[nan, 1]], [[0, 1]]),
    _kink("amax", "equals", lambda x: x.amax(1),
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1]]],
          [[[0.5, 0.5, 0], [0.333333, 0.333333, 0.333333], [0.333333, 0.333333, 0.333333], [0.5,
            0.5, 0], [0.5, 0.5, 0]]]),
    _kink("amin", "equals", lambda x: x.amin(1),
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1]]],
          [[[0, 0, 1], [0.333333, 0.333333, 0.333333], [0.333333, 0.333333, 0.333333], [0, 0, 1],
            [0, 0, 1]]]),
    _kink("max", "equals", lambda x: x.max(1),
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1]]],
          [[[0.5, 0.5, 0], [0.333333, 0.333333, 0.333333], [0.333333, 0.333333, 0.333333], [0.5,
            0.5, 0], [0.5, 0.5, 0]]]),
    _kink("max", "equals among all", lambda x: x.max(), [[1, 1, 0]], [[0.5, 0.5, 0]]),
    _kink("min", "equals", lambda x: x.min(1),
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1]]],
          [[[0, 0, 1], [0.333333, 0.333333, 0.333333], [0.333333, 0.333333, 0.333333], [0, 0, 1],
            [0, 0, 1]]]),
    _kink("aminmax", "equals", lambda x: x.aminmax(axis=1)[0] + 2 * x.aminmax(axis=1)[1],
          [[[1, 1, 0], [2, 2, 2], [-0.0, 0, -1]]], [[[1, 1, 1], [1, 1, 1], [1, 1, 1]]]),
    _kink("median", "equals and NaN", lambda x: x.median(1)[0],
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1], [nan, 1, 2], [1,
            nan, -inf]]],
          [[[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0]]]),
    _kink("nanmedian", "equals and NaN", lambda x: x.nanmedian(1)[0],
          [[[1, 1, 0], [2, 2, 2], [-inf, -inf, -inf], [inf, inf, 1], [-0.0, 0, -1], [nan, 1, 2], [1,
            nan, -inf]]],
          [[[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]]),
    _kink("topk", "equals and NaN", lambda x: x.topk(1, 1)[0],
          [[[nan, 1, 2], [1, nan, -inf]]], [[[1, 0, 0], [0, 1, 0]]]),
    _kink("sort", "NaN", lambda x, y: x.sort(1)[0] * y,
          [[[nan, 1, 2], [1, nan, -inf]], [1, 2, 3]], [[[3, 1, 2], [2, 3, 1]], [-inf, 3, nan]]),
    _kink("kthvalue", "NaN", lambda x: x.kthvalue(3, 1)[0],
          [[[nan, 1, 2], [1, nan, -inf]]], [[[1, 0, 0], [0, 1, 0]]]),
    _kink("quantile", "equals", lambda x: x.quantile(0.5, 1),
          [[[1, 1, 0], [2, 2, 2]]], [[[1, 0, 0], [0, 1, 0]]]),
    _kink("prod", "zeros", lambda x: x.prod(1),
          [[[0, 2, 3], [0, 0, 3], [1, 2, 3]]], [[[6, 0, 0], [0, 0, 0], [6, 3, 2]]]),
    _kink("cumprod", "zeros", lambda x: x.cumprod(1),
          [[[0, 2, 3], [0, 0, 3], [2, 0, 3]]], [[[9, 0, 0], [1, 0, 0], [1, 8, 0]]]),
    _kink("var", "elements that are equal", lambda x: x.var(1),
          [[[1, 1, 1], [1, 2, 3]]], [[[0, 0, 0], [-1, 0, 1]]]),
    _kink("std", "elements that are equal", lambda x: x.std(1),
          [[[1, 1, 1], [1, 2, 3]]], [[[0, 0, 0], [-0.5, 0, 0.5]]]),
    _kink("std_mean", "elements that are equal", lambda x: x.std_mean(1)[0],
          [[[1, 1, 1], [1, 2, 3]]], [[[0, 0, 0], [-0.5, 0, 0.5]]]),
    _kink("norm", "0, p=1", lambda x: x.norm(1, 1),
          [[[0, 0], [3, 4], [0, -2], [-0.0, 1]]], [[[0, 0], [1, 1], [0, -1], [0, 1]]]),
    _kink("norm", "0, p=2", lambda x: x.norm(2, 1),
          [[[0, 0], [3, 4], [0, -2], [-0.0, 1]]], [[[0, 0], [0.6, 0.8], [0, -1], [0, 1]]]),
    _kink("norm", "0, p=1.5", lambda x: x.norm(1.5, 1),
          [[[0, 0], [3, 4], [0, -2], [-0.0, 1]]], [[[0, 0], [0.732957, 0.846345], [0, -1], [0, 1]]]),
    _kink("norm", "0, p=3", lambda x: x.norm(3, 1),
          [[[0, 0], [3, 4], [0, -2], [-0.0, 1]]], [[[0, 0], [0.444851, 0.790847], [0, -1], [0, 1]]]),
    _kink("norm", "equals, p=inf", lambda x: x.norm(inf, 1), [[[1, -1], [2, 0]]], [[[0.5, -0.5], [1, 0]]]),
    _kink("norm", "0 of all", lambda x: x.norm(), [[[0, 0], [0, 0]]], [[[0, 0], [0, 0]]]),
    _kink("normalize", "0", lambda x: x.normalize(),
          [[[0, 0], [3, 4], [0, -2], [-0.0, 1]]], [[[1e+12, 1e+12], [0.032, -0.024], [0.5, 0], [1, 0]]]),
    _kink("dist", "equals", lambda x, y: x.dist(y), [[1, 2], [1, 2]], [[0, 0], [0, 0]]),
    _kink("dist", "equals, p=1", lambda x, y: x.dist(y, 1), [[1, 2], [1, 3]], [[0, -1], [0, 1]]),
    _kink("matrix_norm", "0", lambda x: x.matrix_norm(), [[[0, 0], [0, 0]]], [[[0, 0], [0, 0]]]),
    _kink("matrix_norm", "equals, p=1", lambda x: x.matrix_norm(1),
          [[[1, -1], [0, 0]]], [[[0.5, -0.5], [0, 0]]]),
    _kink("softmax", "-inf", lambda x, y: x.softmax(1) * y,
          [[[-inf, 0, 1], [-inf, -inf, 0], [nan, 0, 1], [1, 1, 1]], [1, 2, 3]],
          [[[0, -0.196612, 0.196612], [0, 0, 0], [nan, nan, nan], [-0.333333, 0, 0.333333]], [nan,
            nan, nan]]),
    _kink("log_softmax", "-inf", lambda x, y: x.log_softmax(1) * y,
          [[[-inf, 0, 1], [-inf, -inf, 0], [nan, 0, 1], [1, 1, 1]], [1, 2, 3]],
          [[[1, 0.386351, -1.38635], [1, 2, -3], [nan, nan, nan], [-1, 0, 1]], [nan, nan, nan]]),
    _kink("softmin", "inf", lambda x, y: x.softmin(1) * y,
          [[[inf, 0, 1], [1, 1, 1]], [1, 2, 3]],
          [[[0, 0.196612, -0.196612], [0.333333, 0, -0.333333]], [0.333333, 1.06439, 0.602275]]),
    _kink("softmax", "rows of -inf", lambda x: x.softmax(1),
          [[[-inf, -inf], [inf, 0]]], [[[nan, nan], [nan, nan]]]),
    _kink("logsumexp", "infinite rows", lambda x: x.logsumexp(1),
          [[[-inf, -inf], [-inf, 0], [inf, 0], [nan, 0]]], [[[nan, nan], [0, 1], [nan, 0], [nan, nan]]]),
    _kink("logcumsumexp", "infinite rows", lambda x: x.logcumsumexp(1),
          [[[-inf, -inf], [-inf, 0], [0, -inf]]], [[[nan, nan], [nan, 1], [2, 0]]]),
    _kink("logaddexp", "one infinity", lambda x, y: x.logaddexp(y),
          [[-inf, inf, 0], [0, 0, 0]], [[0, 1, 0.5], [1, 0, 0.5]]),
    _kink("logaddexp2", "one infinity", lambda x, y: x.logaddexp2(y),
          [[-inf, inf, 0], [0, 0, 0]], [[0, 1, 0.5], [1, 0, 0.5]]),
    _kink("cross_entropy", "chances of 0", lambda x, y: x.cross_entropy(y, reduction="none"),
          [[[-inf, 0, 1], [1, 1, 1]], np.array([1, 2])],
          [[[0, -0.731059, 0.731059], [0.333333, 0.333333, -0.666667]]]),
    _kink("l1_loss", "its bend", lambda x, y: x.l1_loss(y, reduction="none"),
          [[0, 1, -1, 0.5, 2, -2, 1, inf], [0, 0, 0, 0, 0, 0, 1, 0]],
          [[0, 1, -1, 1, 1, -1, 0, 1], [0, -1, 1, -1, -1, 1, 0, -1]]),
    _kink("smooth_l1_loss", "its bend", lambda x, y: x.smooth_l1_loss(y, reduction="none"),
          [[0, 1, -1, 0.5, 2, -2, 1, inf], [0, 0, 0, 0, 0, 0, 1, 0]],
          [[0, 1, -1, 0.5, 1, -1, 0, 1], [0, -1, 1, -0.5, -1, 1, 0, -1]]),
    _kink("huber_loss", "its bend", lambda x, y: x.huber_loss(y, reduction="none"),
          [[0, 1, -1, 0.5, 2, -2, 1, inf], [0, 0, 0, 0, 0, 0, 1, 0]],
          [[0, 1, -1, 0.5, 1, -1, 0, 1], [0, -1, 1, -0.5, -1, 1, 0, -1]]),
    _kink("binary_cross_entropy", "certain chances", lambda x, y: x.binary_cross_entropy(y, reduction="none"),
          [[0, 0, 1, 1, 0.5], [0, 1, 0, 1, 0.5]], [[0, -1e+12, 1e+12, 0, 0]]),
    _kink("binary_cross_entropy_with_logits", "large logits",
          lambda x, y: x.binary_cross_entropy_with_logits(y, reduction="none"),
          [[0, 0, 10000, -10000, 0], [0, 1, 0, 1, 0.5]], [[0.5, -0.5, 1, -1, 0], [0, 0, -10000, 10000, 0]]),
    _kink("cosine_similarity", "vectors of zeros", lambda x, y: x.cosine_similarity(y),
          [[[0, 0], [1, 0], [0, 1]], [[1, 1], [0, 0], [1, 0]]],
          [[[7.07107e+07, 7.07107e+07], [0, 0], [1, 0]], [[0, 0], [1e+08, 0], [0, 1]]]),
    _kink("pairwise_distance", "equals", lambda x, y: x.pairwise_distance(y, eps=0.0),
          [[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 0], [0, 1]]],
          [[[0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 0]]]),
    _kink("max_pool1d", "equals and NaN", lambda x: x.max_pool1d(2),
          [[[[1, 1, 0, 2, 2, nan]]]], [[[[1, 0, 0, 1, 0, 1]]]]),
    _kink("adaptive_max_pool1d", "equals and NaN", lambda x: x.adaptive_max_pool1d(3),
          [[[[1, 1, 0, 2, 2, nan]]]], [[[[1, 0, 0, 1, 0, 1]]]]),
    _kink("max_pool2d", "equals", lambda x: x.max_pool2d(2), [[[[[1, 1], [1, 1]]]]], [[[[[1, 0], [0, 0]]]]]),
    _kink("layer_norm", "elements that are equal", lambda x: x.layer_norm(3),
          [[[1, 1, 1], [1, 2, 3]]], [[[0, 0, 0], [0, 0, 0]]]),
    _kink("rms_norm", "0", lambda x: x.rms_norm(3, eps=1e-3), [[[0, 0, 0]]], [[[31.6228, 31.6228, 31.6228]]]),
    _kink("xlogy", "0", lambda x, y: x.xlogy(y), [[0, 0, 2], [1, 2, 0]], [[0, 0.693147, -inf], [0, 0, inf]]),
    _kink("fmod", "whole quotients", lambda x, y: x.fmod(y),
          [[0, 4, -4], [2, 2, 2]], [[1, 1, 1], [0, -2, 2]]),
    _kink("remainder", "whole quotients", lambda x, y: x.remainder(y),
          [[0, 4, -4], [2, 2, 2]], [[1, 1, 1], [0, -2, 2]]),
    _kink("copysign", "0", lambda x, y: x.copysign(y),
          [[0, -0.0, 1, -2], [1, -1, -0.0, 1]], [[0, 0, -1, -1]]),
    _kink("frac", "whole numbers", lambda x: x.frac(), [_AROUND_0], [[1, 1, 1, 1, 1, 1, 1, 1]]),
    _kink("trunc", "whole numbers", lambda x: x.trunc(), [_AROUND_0], [[0, 0, 0, 0, 0, 0, 0, 0]]),
    _kink("round", "halves", lambda x: x.round(), [_AROUND_0], [[0, 0, 0, 0, 0, 0, 0, 0]]),
    _kink("prelu", "its bend", lambda x, y: x.prelu(y),
          [[[0], [-0.0], [1], [-1]], [0.25]], [[[0.25], [0.25], [1], [0.25]], [-1]]),
    _kink("nansum", "NaN", lambda x: x.nansum(), [[nan, 1]], [[0, 1]]),
    _kink("nanmean", "NaN", lambda x: x.nanmean(), [[nan, 1]], [[0, 1]]),
    _kink("lgamma", "poles", lambda x: x.lgamma(),
          [[0, -0.0, -1, 1, inf]], [[-inf, inf, nan, -0.577216, inf]]),
    _kink("scatter_reduce", "equals", lambda x, y, z: x.scatter_reduce(0, y, z, "amax"),
          [[1, 2], np.array([0, 0]), [1, 1]], [[0.333333, 1], [0.333333, 0.333333]]),
    _kink("scatter_reduce", "zeros", lambda x, y, z: x.scatter_reduce(0, y, z, "prod"),
          [[1, 2], np.array([0, 0]), [0, 3]], [[0, 1], [3, 0]]),
)  # fmt: skip
CASES: tuple[Operation, ...] = tuple(_case(kink) for kink in KINKS)
