"""Common parts of an optimizer and of a group of optimizers."""

from typing import Any

from plugrad.dtype import dtypes
from plugrad.errors import DtypeError, ShapeError
from plugrad.nn.named_state import NamedState
from plugrad.nn.optim.groups import ParamGroup
from plugrad.tensor import Tensor


class OptimizerBase(NamedState):
    """Parameters in groups that are updated together."""

    @property
    def param_groups(self) -> list[ParamGroup]:
        """The groups: a subclass says which."""
        raise NotImplementedError

    @property
    def params(self) -> list[Tensor]:
        """The tensors of all groups.

        Example:
            >>> w = Tensor([1.0])
            >>> SGD([w, w]).params == [w]
            True
        """
        return [p for group in self.param_groups for p in group.params]

    @property
    def device(self) -> str:
        """The device of the first parameter, and of the learning rate.

        Example:
            >>> w = Tensor([1.0])
            >>> SGD([w]).device == w.device
            True
        """
        return self.param_groups[0].params[0].device

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: `backward()` adds to those that are there.

        Args:
            set_to_none: False makes those that are there zeros, so that all parameters are updated.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> _ = (w * 2).sum().backward()
            >>> SGD([w]).zero_grad()
            >>> w.grad is None
            True
        """
        for p in self.params:
            p.grad = None if set_to_none or p.grad is None else Tensor.zeros_like(p.grad)

    def schedule_step(self, skip: Tensor | None = None) -> list[Tensor]:
        """Assign the updates and return the tensors to realize: a subclass says how."""
        raise NotImplementedError

    def step(self, skip: Tensor | None = None) -> None:
        """Update all parameters that have a gradient.

        Args:
            skip: a bool of shape (): where it is true nothing changes.

        Raises:
            GradientError: none has one.
            DtypeError: `skip` is no bool tensor.
            ShapeError: it has axes.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> _ = (w * 2).sum().backward()
            >>> SGD([w], lr=0.25).step()
            >>> w.tolist()
            [0.5]
        """
        Tensor.realize(*self.schedule_step(skip))


def check_skip(optimizer: object, skip: Any) -> None:
    """Raise DtypeError or ShapeError unless `skip` is None or a bool of shape ()."""
    if skip is None:
        return
    name = f"{type(optimizer).__name__}.step"
    if not isinstance(skip, Tensor) or skip.dtype is not dtypes.bool:
        raise DtypeError(
            f"{name}: skip={skip!r:.60}: pass a tensor of one bool. Losses are computed before "
            "step(), not in it."
        )
    if skip.ndim:
        raise ShapeError(f"{name}: skip has shape {skip.shape}. Pass one of shape (), such as any().")
