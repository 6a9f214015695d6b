"""Gradients kept from being too large."""

import math
from collections.abc import Iterable
from typing import Any, cast

from plugrad.dtype import dtypes, least_upper_dtype
from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.nn.checks import Range, check_numbers
from plugrad.tensor import Tensor

# Added to the norm that is divided by, as `torch.nn.utils.clip_grad_norm_` documents.
_EPS = 1e-6


_LIMIT = Range("a number that is 0 or more", lambda x: x >= 0)
_POWER = Range("a number above 0", lambda x: x > 0)


def _with_gradients(params: Any, what: str) -> list[tuple[Tensor, Tensor]]:
    if not isinstance(params, Iterable):
        raise ArgumentError(f"{what}: params={params!r:.60}. Pass a tensor, or a list of them.")
    found: list[Any] = [params] if isinstance(params, Tensor) else list(cast("Iterable[Any]", params))
    for p in found:
        if not isinstance(p, Tensor):
            raise DtypeError(f"{what}: {p!r:.60} ({type(p).__name__}) is no tensor. Leave it out.")
    unique = {id(p): p for p in found}.values()
    return [(p, p.grad.detach()) for p in unique if p.grad is not None]


def clip_grad_norm_(
    params: "Tensor | Iterable[Tensor]",
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale the gradients of `params` to a joint norm of `max_norm` at most.

    Nothing is computed yet; each parameter has another `.grad` afterwards, and its update applies the scale.

    Args:
        params: those without a gradient are left out.
        max_norm: the largest norm that stays as it is.
        norm_type: which p-norm; infinity takes the largest magnitude.
        error_if_nonfinite: compute the norm now, and raise if it is infinite or NaN.

    Returns:
        The norm before, of shape (), in float32 or wider.

    Raises:
        ArgumentError: `max_norm` is negative, or `norm_type` not above 0.
        DtypeError: a parameter is no tensor.
        GradientError: the norm is not finite, and `error_if_nonfinite` is set.

    Example:
        >>> w = Tensor([3.0, 4.0], requires_grad=True)
        >>> _ = (w * w / 2).sum().backward()
        >>> clip_grad_norm_([w], 1.0).item()
        5.0
        >>> [round(x, 3) for x in w.grad.tolist()]
        [0.6, 0.8]
    """
    check_numbers("clip_grad_norm_", _LIMIT, max_norm=max_norm)
    check_numbers("clip_grad_norm_", _POWER, norm_type=norm_type)
    found = _with_gradients(params, "clip_grad_norm_")
    if not found:
        return Tensor(0.0)
    device = found[0][0].device
    magnitudes = [grad.cast(least_upper_dtype(dtypes.float32, grad.dtype)).abs() for _, grad in found]
    if math.isinf(norm_type):
        norm = Tensor.stack(*[m.max().to(device) for m in magnitudes]).max()
    else:
        parts = [_power(m, norm_type).sum().to(device) for m in magnitudes]
        norm = sum(parts[1:], parts[0])
        norm = norm.sqrt() if norm_type == 2 else norm ** (1 / norm_type)
    # each gradient reads it
    norm = norm.contiguous()
    if error_if_nonfinite and not norm.isfinite().item():
        raise GradientError(
            f"clip_grad_norm_: the norm of the gradients is {norm.item()}. Look for the operation "
            "that overflows, or pass error_if_nonfinite=False."
        )
    scale = (max_norm / (norm + _EPS)).minimum(1.0)
    for p, grad in found:
        p.grad = (grad * scale.to(grad.device)).cast(grad.dtype)
    return norm


def clip_grad_value_(params: "Tensor | Iterable[Tensor]", clip_value: float) -> None:
    """Limit each element of the gradients of `params` to `-clip_value` to `clip_value`.

    Nothing is computed yet; each parameter has another `.grad` afterwards.

    Raises:
        ArgumentError: `clip_value` is negative.
        DtypeError: a parameter is no tensor.

    Example:
        >>> w = Tensor([3.0, -0.5], requires_grad=True)
        >>> _ = (w * w / 2).sum().backward()
        >>> clip_grad_value_([w], 1.0)
        >>> w.grad.tolist()
        [1.0, -0.5]
    """
    check_numbers("clip_grad_value_", _LIMIT, clip_value=clip_value)
    for p, grad in _with_gradients(params, "clip_grad_value_"):
        p.grad = grad.clamp(-clip_value, clip_value)


def _power(magnitude: Tensor, norm_type: float) -> Tensor:
    if norm_type == 1:
        return magnitude
    return magnitude * magnitude if norm_type == 2 else magnitude**norm_type
