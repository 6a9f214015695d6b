"""A warning of tensors in a model whose `requires_grad` was never set."""

import warnings
from collections.abc import Iterable

from plugrad.dtype import is_float
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import show

# more names than these are only counted
_MOST_NAMES = 4


class PlainTensorWarning(UserWarning):
    """A model has tensors of floats whose `requires_grad` was never set.

    In tinygrad they are parameters; here, as in PyTorch, those with `requires_grad` are. Call
    `.requires_grad_()` on what is to be trained, and `.requires_grad_(False)` on constants, or pass
    `requires_grad` where they are made. What is computed of constants only is one.

    Example:
        >>> with warnings.catch_warnings(category=PlainTensorWarning, action="ignore"):
        ...     nn.state.get_parameters({"scale": Tensor.ones(3)})
        []
    """


def warn_of_plain_tensors(model: object, named: Iterable[tuple[str, Tensor]]) -> None:
    """Warn, for `get_parameters`, of tensors whose `requires_grad` was never set.

    Nothing is said of integers, and of what was computed from tensors that require a gradient.
    """
    plain: dict[int, str] = {}
    for name, tensor in named:
        if _is_plain(tensor):
            plain.setdefault(id(tensor), f"{name or 'it'} {show(tensor.shape)}")
    if not plain:
        return
    names = list(plain.values())
    shown, rest = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    others = f" and {rest} more" if rest > 0 else ""
    warnings.warn(
        f"get_parameters: the {type(model).__name__} has tensors that are not trained, as in PyTorch, since "
        f"nobody set their requires_grad: {shown}{others}. Call .requires_grad_() on those to be trained, "
        "and .requires_grad_(False) on constants.",
        PlainTensorWarning,
        stacklevel=3,
    )


def _is_plain(tensor: Tensor) -> bool:
    said = tensor._is_leaf  # pyright: ignore[reportPrivateUsage]
    return said is None and not tensor.requires_grad and is_float(tensor.dtype)
