"""Gradients of tensors: the graph-to-graph derivative of `plugrad.autodiff`, for tensors."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from plugrad.autodiff import compute_gradient, receivers
from plugrad.dtype import is_complex, is_inexact
from plugrad.engine import storage
from plugrad.engine.resolve_graph import overwritten_below
from plugrad.engine.view_path import shown
from plugrad.errors import DtypeError, GradientError, ShapeError
from plugrad.schedule.versions import IN_PLACE, VERSIONS, Descent, owners
from plugrad.tensor.base import Tensor, TensorBase
from plugrad.tensor.host.display import describe
from plugrad.tensor.shapes import expanded, show
from plugrad.uop import Ops, UOp


def gradient(self: Tensor, *targets: Tensor, gradient: Tensor | None = None) -> list[Tensor]:
    """Return the gradient of this tensor for each of `targets`, lazily; gradients have gradients.

    A tensor that was realized forgets how it was computed, unless it was computed from tensors with
    `requires_grad`. So does memory that was written to: gradients flow through what was written until
    that is realized.

    Args:
        targets: float tensors that this one was computed from.
        gradient: what flows into this tensor, in its shape; cast to its dtype. Not needed for one
            element.

    Raises:
        GradientError: this is not a float tensor of one element (and `gradient` is missing), does not
            depend on a target (PyTorch's `allow_unused=False`), or needs memory that has been
            overwritten since.
        ShapeError: `gradient` has another shape.
        DtypeError: a target, or `gradient`, is no tensor.
        DeviceError: `gradient` lives on another device.

    Example:
        >>> x = Tensor([1.0, 2.0])
        >>> (x * x).sum().gradient(x)[0].tolist()
        [2.0, 4.0]
    """
    for target in targets:
        if not isinstance(target, TensorBase):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DtypeError(
                f"gradient for {target!r} ({type(target).__name__}), which is no tensor. Pass "
                "the tensors that this one was computed from."
            )
    root, seed = self._graph, _seed(self, gradient)
    places = places_of(root, [_nodes_of(target) for target in targets])
    for target, nodes in zip(targets, places, strict=True):
        if not nodes:
            raise GradientError(
                f"{describe(self)} does not depend on {describe(target)}, or only through detach(), "
                "integers or comparisons; or one of them was realized before, without "
                "requires_grad=True. Leave this target out, or ask for the gradient earlier."
            )
    found = compute_gradient(root, seed, [node for nodes in places for node in nodes])
    _check_memory(found.values())
    return [self._like(_sum([found[node] for node in nodes])) for nodes in places]


def backward(
    self: Tensor, gradient: Tensor | None = None, *, retain_graph: bool = True, create_graph: bool = True
) -> Tensor:
    """Add this tensor's gradient to the `.grad` of each tensor with `requires_grad`.

    Nothing is used up: it may be called again (PyTorch's `retain_graph=True`), and the gradients have
    gradients (`create_graph=True`). Set `.grad` to None to start anew. Tensors that this does not depend
    on keep the `.grad` that they have.

    Args:
        gradient: what flows into this tensor, in its shape; cast to its dtype. Not needed for one
            element.
        retain_graph: changes nothing, it is always so.
        create_graph: changes nothing either.

    Raises:
        GradientError: this is not a float tensor of one element (and `gradient` is missing), does not
            depend on any tensor with requires_grad, needs memory that has been overwritten since, or
            would end at what a jitted function computed from tensors with requires_grad.
        ShapeError: `gradient`, or the `.grad` that somebody left, has another shape.
        DtypeError: `gradient` is no tensor, or the `.grad` that somebody left is none of its tensor's
            dtype.
        DeviceError: `gradient` lives on another device.

    Example:
        >>> w = Tensor([1.0, 2.0], requires_grad=True)
        >>> _ = (w * 3).sum().backward()
        >>> w.grad.tolist()
        [3.0, 3.0]
    """
    root, seed = self._graph, _seed(self, gradient)
    leaves: list[Any] = [t for t in self._live if t._is_leaf and is_inexact(t.dtype)]
    places = places_of(root, [_nodes_of(leaf) for leaf in leaves])
    reached = [(leaf, nodes) for leaf, nodes in zip(leaves, places, strict=True) if nodes]
    if not reached:
        raise GradientError(
            f"{describe(self)} does not depend on any tensor with requires_grad. Make the parameters "
            "with requires_grad=True, or set it before computing the loss; call backward() inside of a "
            "jitted function, not on what it returned."
        )
    _check_ends(root)
    for leaf, _ in reached:
        _check_grad(leaf)
    found = compute_gradient(root, seed, [node for _, nodes in reached for node in nodes])
    _check_memory(found.values())
    for leaf, nodes in reached:
        total = _sum([found[node] for node in nodes])
        previous = leaf.grad
        leaf.grad = self._make(total if previous is None else previous._graph + total, leaf._device)
    return self


def uncomputed_leaves(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return tensors with gradients that were not computed from others of them."""
    asking = [t for t in tensors if t.requires_grad]
    if all(t._is_leaf for t in asking):
        return asking
    owner = owners()
    leaves = {_memory_of(u, owner) for t in asking if t._is_leaf for u in _nodes_of(t)}
    return [
        t for t in asking if t._is_leaf or not any(_memory_of(u, owner) in leaves for u in _reached(t._graph))
    ]


def _seed(x: Tensor, gradient: Tensor | None) -> UOp:
    if not is_inexact(x.dtype):
        raise GradientError(
            f"{describe(x)} holds no floats, so it has no gradient. Cast inputs to floats first."
        )
    if gradient is None and is_complex(x.dtype):
        raise GradientError(
            f"{describe(x)} is complex: a gradient starts at a real number. Take .abs(), .real or "
            ".imag, or pass gradient= of this shape."
        )
    if gradient is None:
        if x.numel() != 1:
            raise GradientError(
                f"{describe(x)} has {x.numel()} elements; a gradient starts at one. Reduce it, "
                "with .sum() or .mean(), or pass gradient= of this shape."
            )
        return x._node.const_like(1.0)
    if not isinstance(gradient, TensorBase):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DtypeError(
            f"gradient={gradient!r} ({type(gradient).__name__}) is no tensor. Pass one of shape "
            f"{show(x.shape)}; targets are passed one by one: loss.gradient(x, y)."
        )
    if gradient.shape != x.shape:
        raise ShapeError(
            f"gradient of shape {show(gradient.shape)} for a tensor of shape {show(x.shape)}. They "
            "must be equal."
        )
    x._check_device(gradient)
    return expanded(gradient._graph.cast(x.dtype), x.shape)


def _check_grad(leaf: Any) -> None:
    """Raise DtypeError or ShapeError for a `.grad` that no gradient can be added to."""
    grad = leaf.grad
    if grad is None:
        return
    if not isinstance(grad, TensorBase) or grad.dtype is not leaf.dtype:
        what = grad.dtype.name if isinstance(grad, TensorBase) else type(grad).__name__
        raise DtypeError(
            f"{leaf!r} has a .grad of {what}, which no gradient can be added to. Set it to None, or to a "
            f"tensor of {leaf.dtype.name}."
        )
    if grad.shape != leaf.shape:
        raise ShapeError(
            f"{leaf!r} has a .grad of shape {show(grad.shape)}. Set it to None, or to a tensor of shape "
            f"{show(leaf.shape)}."
        )


def _nodes_of(t: TensorBase) -> list[UOp]:
    """Return the nodes of a tensor in graphs: first built, as read, before writes.

    A graph that was built before the tensor was computed, or written to, mentions another node than one that
    is built today.
    """
    origin = t._storage.origin
    value = None if origin is None else origin()
    # inside of a unit of the scheduler, an argument is another node than the value that others show
    nodes = [t._shown(), t.uop, shown(t._storage.uop, t._path)]
    nodes += [] if value is None else [shown(value, t._path)]
    return [u.detach() for u in nodes] if t._is_detached else nodes


def places_of(root: UOp, targets: Sequence[Sequence[UOp]]) -> list[list[UOp]]:
    """Return the nodes of each target that gradients reach below `root`.

    Memory that was written to meanwhile is another node by now; what was built before still has the old one.

    Raises:
        GradientError: `root` uses what a target held before it was written to beside what it holds since.
    """
    owner = owners()
    known: dict[UOp, list[UOp]] = {}
    for u in _reached(root):
        known.setdefault(u, []).append(u)
        if (now := _memory_of(u, owner)) is not u:
            known.setdefault(now, []).append(u)
    return [
        _newest_versions(root, dict.fromkeys(u for name in names for u in known.get(name, ())))
        for names in ([*nodes, *(_memory_of(u, owner) for u in nodes)] for nodes in targets)
    ]


def _reached(root: UOp, ends: Container[UOp] = ()) -> dict[UOp, None]:
    seen = {root: None}
    stack = [root]
    while stack:
        u = stack.pop()
        for source in () if u in ends else receivers(u) or ():
            if source not in seen:
                seen[source] = None
                stack.append(source)
    return seen


def _memory_of(u: UOp, owner: Descent) -> UOp:
    """Return the node shared by all versions and views of memory, or the value."""
    if storage.viewed(u).op not in VERSIONS:
        # other values, or the same one without its gradient, may lie in the same memory
        return u
    now = storage.resolve(u)
    if now.op not in IN_PLACE:
        return now
    memory = owner(now)
    return storage.resolve(memory) if memory.shape == u.shape else now


def _newest_versions(root: UOp, nodes: Iterable[UOp]) -> list[UOp]:
    """Return the nodes without those that later versions of the same memory were made from."""
    nodes = list(nodes)
    if len(nodes) < 2:
        return nodes
    below = {u: u.toposort() for u in nodes}
    newest = [u for u in nodes if not any(u in below[v] for v in nodes if v is not u)]
    if len(newest) < len(nodes) and not _reached(root, newest).keys().isdisjoint({*nodes} - {*newest}):
        raise GradientError(
            f"{root.op.name} of shape {show(root.shape)} was computed from what memory of shape "
            f"{show(newest[0].shape)} held before and after it was written to. Ask for gradients of each "
            "apart."
        )
    return newest


def _check_ends(root: UOp) -> None:
    """Raise GradientError if a jitted function cuts `root` off from some parameters."""
    cut = next((u for u in _reached(root) if u.op is Ops.BUFFER and storage.is_severed(u)), None)
    if cut is not None:
        raise GradientError(
            f"backward: a jitted function returned the tensor of shape {show(cut.shape)} that this was "
            "computed from, and no gradient flows on to the tensors with requires_grad that it used. Call "
            "backward() inside of the function; or, if these are not to be trained, .detach() its result."
        )


def _check_memory(gradients: Iterable[UOp]) -> None:
    """Raise GradientError for gradients that need overwritten memory."""
    lost = overwritten_below(UOp.sink(*gradients))
    if lost is not None:
        raise GradientError(
            f"the gradient needs what memory of shape {show(lost.shape)} held when it was used, and that has "
            "been overwritten since: by an assign, such as load_state_dict makes, or by a jitted function. "
            "Ask for gradients before that, or compute with a .contiguous() that you keep until then."
        )


def _sum(nodes: list[UOp]) -> UOp:
    out = nodes[0]
    for node in nodes[1:]:
        out = out + node
    return out
