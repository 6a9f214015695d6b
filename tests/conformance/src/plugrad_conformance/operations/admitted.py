"""The dtypes that methods take and return, as lists of names.

Most methods take all dtypes and keep them.
"""

from plugrad.dtype import parse_dtype, sum_dtype

INTEGERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float64")
BYTES = ("fp8e4m3", "fp8e5m2")


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


#: Methods that make float32 of integers, at least in their plain case: where they take fractions.
TO_FLOAT = _names(
    "__radd__ __rmul__ __rpow__ __rsub__ __rtruediv__ __truediv__ acos acosh adaptive_avg_pool1d "
    "adaptive_avg_pool2d adaptive_avg_pool3d addcdiv addcmul arccos arccosh arcsin arcsinh arctan arctan2 "
    "arctanh asin asinh atan atan2 atanh avg_pool1d avg_pool2d avg_pool3d celu cholesky clamp clip copysign "
    "corrcoef cos cosh cosine_embedding_loss cosine_similarity cov ctc_loss deg2rad det digamma dist div "
    "divide eigh elu erf erfc erfinv exp exp2 expm1 fft fft2 fftn gelu glu hardshrink hardsigmoid hardswish "
    "hardtanh hfft hypot ifft ifft2 ifftn ihfft inv inverse irfft irfft2 irfftn ldexp leaky_relu lgamma "
    "log log10 "
    "log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp logdet logit logsigmoid logsumexp lstsq "
    "masked_fill matrix_norm matrix_power mean mish nanmean norm normalize pad pairwise_distance pinv qr "
    "quick_gelu rad2deg reciprocal rfft rfft2 rfftn rsqrt selu sequential sigmoid silu sin sinc sinh "
    "slogdet softmax softmin softplus softshrink softsign solve sqrt std std_mean svd swish tan tanh "
    "tanhshrink threshold triplet_margin_loss true_divide var var_mean xlogy"
)
#: Methods that add or multiply integers in no less than 32 bits.
WIDENING = _names("cumprod cumsum nansum prod sum trace vander")
#: Methods of bits.
BITWISE = _names(
    "__and__ __iand__ __invert__ __ior__ __ixor__ __or__ __rand__ __ror__ __rxor__ __xor__ bitwise_and "
    "bitwise_not bitwise_or bitwise_xor"
)
#: Methods that shift bits.
SHIFTS = _names(
    "__ilshift__ __irshift__ __lshift__ __rlshift__ __rrshift__ __rshift__ bitwise_left_shift "
    "bitwise_right_shift lshift rshift"
)
#: Methods that refuse floats.
NO_FLOATS = BITWISE | SHIFTS | {"one_hot"}
# beside those that shift: `2 << True` shifts the number that the truth value is
_NO_BOOLS = _names(
    "__divmod__ __floordiv__ __ifloordiv__ __imod__ __ipow__ __isub__ __mod__ __neg__ __pow__ __sub__ cross "
    "floor_divide floordiv fmod lerp mod neg negative one_hot pow ptp remainder sub subtract"
)
#: Methods that refuse bools.
NO_BOOLS = _NO_BOOLS | SHIFTS - {"__rlshift__", "__rrshift__"}
#: Methods that refuse integers and bools.
NO_INTEGERS = _names(
    "__itruediv__ addbmm addmm addmv addr alpha_dropout baddbmm batch_norm batch_statistics batchnorm "
    "binary_cross_entropy binary_cross_entropy_with_logits binary_crossentropy binary_crossentropy_logits "
    "cross_entropy dropout dropout1d dropout2d dropout3d feature_alpha_dropout grid_sample group_norm "
    "groupnorm histc huber_loss instance_norm kl_div l1_loss layer_norm layernorm mse_loss multinomial "
    "newton_schulz nll_loss quantile rms_norm scaled_dot_product_attention smooth_l1_loss "
    "sparse_categorical_crossentropy"
)
# results are counts or places
_COUNTS = _names("argmax argmin argsort argwhere count_nonzero multinomial nonzero one_hot searchsorted")
_FIXED = {"float_power": "float64", **dict.fromkeys(_COUNTS, "int32")}
# bools beside numbers that are integers become such
_WEAK = _names("__rand__ __rdivmod__ __rfloordiv__ __rlshift__ __rmod__ __ror__ __rrshift__ __rxor__")
# results are of float32 at least
_WIDE = _names("__rmatmul__ batch_statistics")


def admits(name: str, dtype: str) -> bool:
    """Say whether a method takes elements of a dtype.

    Example:
        >>> admits("add", "bool"), admits("sub", "bool"), admits("lshift", "float16")
        (True, False, False)
    """
    if dtype in INTEGERS:
        return name not in NO_INTEGERS and (dtype != "bool" or name not in NO_BOOLS)
    return name not in NO_FLOATS


def result_dtype(name: str, dtype: str, plain: str = "float32") -> str:
    """Return the dtype of the first result of a method.

    Args:
        name: the method.
        dtype: the dtype of its elements.
        plain: the dtype of the result of its plain case.

    Example:
        >>> result_dtype("exp", "int8"), result_dtype("sum", "bool"), result_dtype("add", "int8")
        ('float32', 'int64', 'int8')
    """
    if plain == "bool":
        return "bool"
    if name in _FIXED:
        return _FIXED[name]
    if name in _WIDE:
        return "float64" if dtype == "float64" else "float32"
    if dtype == "bool" and name in _WEAK:
        return "int32"
    if dtype in INTEGERS and name in TO_FLOAT:
        return "float32"
    return sum_dtype(parse_dtype(dtype)).name if name in WIDENING and dtype in INTEGERS else dtype
