"""Draw random numbers, by plugrad's generator."""

from plugrad import Tensor, dtypes
from plugrad_onnx.graph import Call
from plugrad_onnx.registry import operator
from plugrad_onnx.values import dtype_of, sizes_of


def _seeded(seed: float | None) -> None:
    """Start the generator anew where a node says how."""
    if seed is not None:
        Tensor.manual_seed(int(seed))


@operator("RandomNormal")
def random_normal(
    *,
    shape: tuple[int, ...],
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    """Return draws from a normal distribution."""
    _seeded(seed)
    return (Tensor.randn(*shape) * scale + mean).cast(dtype_of(dtype))


@operator("RandomNormalLike")
def random_normal_like(
    x: Tensor, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0, seed: float | None = None
) -> Tensor:
    """Return draws from a normal distribution in the shape of the input."""
    _seeded(seed)
    return (Tensor.randn(*sizes_of(x)) * scale + mean).cast(x.dtype if dtype is None else dtype_of(dtype))


@operator("RandomUniform")
def random_uniform(
    *, shape: tuple[int, ...], dtype: int = 1, high: float = 1.0, low: float = 0.0, seed: float | None = None
) -> Tensor:
    """Return draws between two numbers, all as likely."""
    _seeded(seed)
    return (Tensor.rand(*shape) * (high - low) + low).cast(dtype_of(dtype))


@operator("RandomUniformLike")
def random_uniform_like(
    x: Tensor, *, dtype: int | None = None, high: float = 1.0, low: float = 0.0, seed: float | None = None
) -> Tensor:
    """Return draws between two numbers in the shape of the input."""
    _seeded(seed)
    return (Tensor.rand(*sizes_of(x)) * (high - low) + low).cast(
        x.dtype if dtype is None else dtype_of(dtype)
    )


@operator("Bernoulli")
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Tensor:
    """Return 1 with the probability that each element says, else 0."""
    _seeded(seed)
    return (Tensor.rand(*sizes_of(x)) < x).cast(x.dtype if dtype is None else dtype_of(dtype))


@operator("Multinomial")
def multinomial(x: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None) -> Tensor:
    """Return classes drawn with replacement, by the logarithms of their probabilities."""
    _seeded(seed)
    return x.softmax(1).multinomial(sample_size, replacement=True).cast(dtype_of(dtype))


@operator("Dropout", until=11)
def dropout_of_inference(x: Tensor, *, ratio: float = 0.5, is_test: int = 0) -> tuple[Tensor, Tensor]:
    """Return the input as it is; models of these opsets are run, not trained."""
    return x, Tensor.ones(*sizes_of(x), dtype=dtypes.bool)


@operator("Dropout", since=12)
def dropout(
    x: Tensor,
    ratio: float | None = 0.5,
    training_mode: bool | None = False,
    *,
    seed: int | None = None,
    call: Call,
) -> tuple[Tensor, Tensor]:
    """Return the input with some elements 0 and the rest scaled, and the mask."""
    ratio = 0.5 if ratio is None else ratio
    if not training_mode or ratio == 0:
        return x, Tensor.ones(*sizes_of(x), dtype=dtypes.bool)
    _seeded(seed)
    kept = Tensor.rand(*sizes_of(x)) >= ratio
    return (kept.where(x, 0) / (1 - ratio)).cast(x.dtype), kept
