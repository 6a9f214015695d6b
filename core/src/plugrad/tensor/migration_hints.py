"""Replacements for names of other libraries that tensors and modules do not have."""

import sys
from typing import TYPE_CHECKING, NoReturn

from plugrad.dtype import DType, dtypes

#: By name: what PyTorch, NumPy and tinygrad have as methods of tensors.
ADVICE: dict[str, str] = {
    "alu": "use the operators and methods of tensors",
    "argpartition": "write x.argsort(), or x.topk(k)[1]",
    "around": "write x.round(decimals)",
    "array_equal": "write x.equal(y)",
    "array_split": "write x.tensor_split(n)",
    "as_strided": "write slices, reshape, permute, expand, or unfold",
    "average": "write (x * weights).sum() / weights.sum()",
    "block": "write Tensor.cat of Tensor.cat",
    "broadcast_arrays": "write plugrad.array_api.broadcast_arrays, or x.expand(shape)",
    "cbrt": "write x.sign() * x.abs() ** (1 / 3)",
    "choose": "write choices.gather(0, x.unsqueeze(0)).squeeze(0)",
    "compress": "write x[mask]",
    "cond": "write x.svd().S: the first by the last",
    "const_like": "write x.full_like(value)",
    "convolve": "write x.conv1d(y.flip(0), padding=...)",
    "copy_": "write x.assign(y)",
    "data_ptr": "write x.numpy(), or x.__dlpack__()",
    "degrees": "write x.rad2deg()",
    "delete": "write x[mask], or Tensor.cat of slices",
    "divmod": "write divmod(x, y)",
    "ediff1d": "write x.flatten().diff()",
    "eigvalsh": "write x.eigh().eigenvalues",
    "expand_dims": "write x.unsqueeze(axis)",
    "exponential_": "write x.assign(-(1 - x.rand_like()).log() / rate)",
    "fabs": "write x.abs()",
    "fill": "write x.assign(x.full_like(value))",
    "fill_": "write x.assign(x.full_like(value))",
    "fill_diagonal_": "write x.diagonal().assign(...)",
    "flat": "write x.flatten()",
    "flatnonzero": "write x.flatten().nonzero()",
    "get_device": "write x.device",
    "grad_fn": "x.uop is the graph that computes it",
    "histogram": "write x.histc(bins, min, max)",
    "indices": "write x.argmax(axis), or x.argmin(axis)",
    "insert": "write Tensor.cat of slices",
    "interp": "write x.searchsorted and lerp",
    "invert": "write ~x",
    "is_contiguous": "there are no strides to see; x.contiguous() gives memory of its own",
    "is_cuda": "write x.device",
    "is_leaf": "write x.requires_grad",
    "is_param": "write x.requires_grad",
    "is_param_": "write x.requires_grad_()",
    "is_realized": "write x.realize(): it does nothing where that was done",
    "isin": "write (x.unsqueeze(-1) == y).any(-1)",
    "lazydata": "write x.uop",
    "left_shift": "write x << n",
    "lexsort": "argsort by each key, the last one first: it is stable",
    "matrix_rank": "write (x.svd().S > tolerance).sum(-1)",
    "nanargmax": 'write x.isnan().where(-float("inf"), x).argmax()',
    "nanargmin": 'write x.isnan().where(float("inf"), x).argmin()',
    "nanmax": 'write x.isnan().where(-float("inf"), x).max()',
    "nanmin": 'write x.isnan().where(float("inf"), x).min()',
    "nanprod": "write x.isnan().where(1, x).prod()",
    "normal_": "write x.assign(Tensor.normal(x.shape, mean=..., std=...))",
    "partition": "write x.sort()[0]",
    "percentile": "write x.quantile(q / 100)",
    "permute_dims": "write x.permute(axes)",
    "power": "write x ** y",
    "put": "write y = x.flatten(); y[index] = values",
    "radians": "write x.deg2rad()",
    "register_hook": "write transforms.custom_gradient",
    "resize": "write x.reshape(shape), x.pad_to(shape) or x.shrink_to(shape)",
    "retain_grad": "set requires_grad, or ask loss.gradient(x)",
    "right_shift": "write x >> n",
    "rint": "write x.round()",
    "shard": "a tensor lives on one device: x.to(device) moves it",
    "shard_like": "a tensor lives on one device: x.to(device) moves it",
    "split_with_sizes": "write x.split(sizes, axis)",
    "storage": "write x.data()",
    "stride": "there are no strides to see: elements are read in row-major order",
    "strides": "there are no strides to see: elements are read in row-major order",
    "svdvals": "write x.svd().S",
    "tobytes": "write bytes(x.data())",
    "trapezoid": "write ((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1])).sum()",
    "type": "write x.cast(dtype), or x.dtype",
    "uniform_": "write x.assign(Tensor.uniform(x.shape, low=..., high=...))",
    "values": "max and min give values only, so leave it out",
    "vecdot": "write (x * y).sum(-1)",
    "vector_norm": "write x.norm(p, axis)",
    "zero_": "write x.assign(x.zeros_like())",
}

_IN_PLACE = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr arccos arccosh arcsin arcsinh
    arctan2 arctan arctanh asin asinh atan2 atan atanh baddbmm bernoulli bitwise_and bitwise_left_shift
    bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip copysign
    cos cosh cumprod cumsum deg2rad detach digamma div divide eq erf erfc erfinv exp2 exp expm1 fix
    float_power floor floor_divide fmod frac ge greater greater_equal gt heaviside hypot index_add
    index_copy index_fill index_put ldexp le lerp less less_equal lgamma log10 log1p log2 log
    logical_and logical_not logical_or logical_xor logit lt masked_fill masked_scatter mul multiply
    nan_to_num ne neg negative not_equal pow rad2deg reciprocal relu remainder round rsqrt scatter
    scatter_add scatter_reduce sgn sigmoid sign sin sinc sinh sqrt square squeeze sub subtract swapaxes
    swapdims t tan tanh transpose tril triu true_divide trunc unsqueeze xlogy
"""
#: PyTorch writes in place with these names and `_`.
IN_PLACE = tuple(_IN_PLACE.split())

#: By module, then by name: what PyTorch and NumPy have there.
MODULE_ADVICE: dict[str, dict[str, str]] = {
    "plugrad": {
        "accelerator": "write Device.DEFAULT",
        "amp": "write nn.optim.GradScaler(), and x.cast(dtype)",
        "array": "write Tensor(data)",
        "as_tensor": "write Tensor(data), or Tensor(array, copy=False)",
        "asarray": "write Tensor(data)",
        "autocast": "write x.cast(dtype): casts are explicit",
        "autograd": "write loss.backward(), loss.gradient(x), or plugrad.transforms",
        "backends": "write plugrad.Device, or `plugrad devices` in a shell",
        "compile": "write plugrad.jit(function)",
        "concat": "write plugrad.cat",
        "concatenate": "write plugrad.cat",
        "cuda": "write Device.DEFAULT: a device is a name, and x.to(name) moves there",
        "enable_grad": "leave it out: only what no_grad surrounds has no gradient",
        "float": "write dtypes.float32",
        "from_numpy": "write Tensor(array, copy=False)",
        "frombuffer": "write Tensor(data, dtype=...)",
        "func": "write plugrad.transforms",
        "functional": "write plugrad.nn.functional",
        "get_default_device": "write Device.DEFAULT",
        "get_default_dtype": "write dtypes.default_float",
        "inf": 'write float("inf")',
        "inference_mode": "write plugrad.no_grad()",
        "is_floating_point": "write dtypes.is_float(x.dtype)",
        "is_tensor": "write isinstance(x, Tensor)",
        "grad": "write plugrad.transforms.grad",
        "hessian": "write plugrad.transforms.hessian",
        "jacobian": "write plugrad.transforms.jacobian",
        "jvp": "write plugrad.transforms.jvp",
        "linalg": "write the methods of tensors, or plugrad.array_api.linalg",
        "mps": "write Device.DEFAULT: a device is a name, and x.to(name) moves there",
        "nan": 'write float("nan")',
        "newaxis": "write None",
        "optim": "write plugrad.nn.optim",
        "pi": "write math.pi",
        "random": "write plugrad.manual_seed(seed), and plugrad.rand(shape)",
        "seed": "write plugrad.manual_seed(seed)",
        "set_default_device": "write Device.DEFAULT = name",
        "set_default_dtype": "write dtypes.default_float = dtype",
        "set_grad_enabled": "write plugrad.no_grad()",
        "utils": "write plugrad.nn.data, or plugrad.transforms.checkpoint",
        "vjp": "write plugrad.transforms.vjp",
        "vmap": "write plugrad.transforms.vmap",
        "version": "write plugrad.__version__",
    },
    "plugrad.nn": {
        "Buffer": "a tensor without requires_grad is one",
        "ParameterDict": "a dict of tensors is one",
        "ParameterList": "a list of tensors is one",
        "parameter": "write nn.Parameter",
        "utils": "write nn.optim.clip_grad_norm_, or x.pad_to(shape) and Tensor.stack",
    },
    "plugrad.nn.optim": {"lr_scheduler": "write nn.schedulers"},
}


class _ForeignName:
    """A name that tensors lack: reading it raises AttributeError with a hint."""

    def __init__(self, hint: str) -> None:
        self.hint = hint
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        message = f"{owner.__name__!r} object has no attribute {self.name!r}. {self.hint}"
        raise AttributeError(message, name=self.name, obj=owner if instance is None else instance)


FOREIGN_NAMES: dict[str, object] = {
    **{name: _ForeignName(f"Instead: {hint}.") for name, hint in ADVICE.items()},
    **{
        f"{name}_": _ForeignName(
            f"Nothing but `assign`, `+=` and `x[index] = y` writes in place: x.assign(x.{name}(...))."
        )
        for name in IN_PLACE
    },
}

if TYPE_CHECKING:

    class ForeignNames:
        """The names of other libraries that tensors do not have."""
else:
    # a `__getattr__` would be shorter, but with one Python looks each attribute up anew
    ForeignNames = type("ForeignNames", (), {"__slots__": (), **FOREIGN_NAMES})


def missing_name(module: str, name: str, tensor: type) -> AttributeError:
    """Return the error for a name that a module lacks, with a hint.

    Example:
        >>> str(missing_name("plugrad", "compile", Tensor))
        "module 'plugrad' has no attribute 'compile'. Instead: write plugrad.jit(function)."
        >>> str(missing_name("plugrad", "outer", Tensor))
        "module 'plugrad' has no attribute 'outer'. Instead: write x.outer(...), a method of tensors."
        >>> str(missing_name("plugrad", "float16", Tensor))
        "module 'plugrad' has no attribute 'float16'. Instead: write dtypes.float16."
    """
    hint = MODULE_ADVICE[module].get(name, "")
    if not hint and module == "plugrad" and not name.startswith("_"):
        if isinstance(getattr(dtypes, name, None), DType):
            hint = f"write dtypes.{name}"
        elif method := getattr(tensor, name, None):
            is_of_class = getattr(method, "__self__", None) is tensor
            hint = f"write {'Tensor' if is_of_class else 'x'}.{name}(...), a method of tensors"
    end = f". Instead: {hint}." if hint else ""
    error = AttributeError(f"module {module!r} has no attribute {name!r}{end}", name=name)
    if not hint:
        error.obj = sys.modules[module]  # Python then suggests a similar name
    return error
