"""Checks of gradients against results, and of tangents against arguments."""

from collections.abc import Sequence
from typing import Any

from plugrad.dtype import is_inexact
from plugrad.errors import DeviceError, DtypeError, ShapeError, TransformError
from plugrad.tensor import Tensor
from plugrad.tensor.graph_access import graph_below
from plugrad.tensor.shapes import show
from plugrad.tree import iter_leaves
from plugrad.uop import UOp


def zeros(u: UOp) -> UOp:
    """Return zeros of the shape and dtype of `u`."""
    return u.const_like(0).spread(u.shape)


def cotangents(results: Sequence[Tensor], gradients: Any, what: str) -> list[UOp | None]:
    """Return the gradient of each of `results`; None where none flows.

    Raises:
        TransformError: there are more or fewer, or one is neither a tensor nor None.
        DtypeError, ShapeError, DeviceError: one does not fit its result.
    """
    return _matched(results, gradients, what, "gradient", "result")


def tangents_of(primals: Sequence[Tensor], tangents: Any, what: str) -> list[UOp | None]:
    """Return the direction of each of `primals`; None for those that stand still.

    Raises:
        TransformError: there are more or fewer, or one is neither a tensor nor None.
        DtypeError, ShapeError, DeviceError: one does not fit its primal.
    """
    return _matched(primals, tangents, what, "tangent", "primal")


def _matched(tensors: Sequence[Tensor], tree: Any, what: str, role: str, of: str) -> list[UOp | None]:
    given = _leaves_or_none(tree, what)
    if len(given) != len(tensors):
        raise TransformError(
            f"{what}: {len(given)} {role}s for {len(tensors)} {of}s. Pass one for each, in the same form, "
            "None for nothing."
        )
    pairs = zip(given, tensors, strict=True)
    return [_fitting(direction, x, f"{what}: a {role}", f"a {of}") for direction, x in pairs]


def _leaves_or_none(tree: Any, what: str) -> list[Tensor | None]:
    leaves = list(iter_leaves(tree))
    for leaf in leaves:
        if leaf is not None and not isinstance(leaf, Tensor):
            raise TransformError(
                f"{what}: {leaf!r:.80} ({type(leaf).__name__}) is no tensor. Pass tensors, or None."
            )
    return leaves


def _fitting(direction: Tensor | None, of: Tensor, what: str, role: str) -> UOp | None:
    if direction is None:
        return None
    if not is_inexact(of.dtype) or direction.dtype is not of.dtype:
        raise DtypeError(
            f"{what} of {direction.dtype.name} for {role} of {of.dtype.name}. Pass floats of the same "
            "dtype for floats, and None for integers and bools."
        )
    if direction.shape != of.shape:
        raise ShapeError(
            f"{what} of shape {show(direction.shape)} for {role} of shape {show(of.shape)}. They must be "
            "equal."
        )
    u = graph_below(direction)
    if u.device is not None and graph_below(of).device not in (None, u.device):
        raise DeviceError(
            f"{what} on {direction.device} for {role} on {of.device}. Move it: .to({of.device!r}).",
            device=direction.device,
        )
    return u
