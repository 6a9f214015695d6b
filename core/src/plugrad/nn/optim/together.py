"""Several optimizers that step as one."""

from plugrad.errors import ArgumentError, GradientError
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor

__all__ = ["OptimizerGroup"]


class OptimizerGroup:
    """Several optimizers whose steps are realized together, such as Muon for matrices and AdamW for the rest.

    Args:
        optimizers: the optimizers, none of which trains what another trains.

    Raises:
        ArgumentError: there are none.
        GradientError: two of them train one tensor.

    Example:
        >>> w, b = Tensor([[1.0]], requires_grad=True), Tensor([1.0], requires_grad=True)
        >>> optimizer = OptimizerGroup(SGD([w], lr=0.5), SGD([b], lr=0.25))
        >>> _ = (w + b).sum().backward()
        >>> optimizer.step()
        >>> w.item(), b.item()
        (0.5, 0.75)
    """

    def __init__(self, *optimizers: Optimizer) -> None:
        if not optimizers:
            raise ArgumentError("an OptimizerGroup of nothing. Pass optimizers.")
        self.optimizers = optimizers
        params = self.params
        if len({id(p) for p in params}) < len(params):
            raise GradientError("two optimizers of an OptimizerGroup train one tensor. Leave it out of one.")

    @property
    def params(self) -> list[Tensor]:
        """The tensors of all optimizers.

        Example:
            >>> w, b = Tensor([1.0]), Tensor([2.0])
            >>> OptimizerGroup(SGD([w]), SGD([b])).params == [w, b]
            True
        """
        return [p for optimizer in self.optimizers for p in optimizer.params]

    def zero_grad(self) -> None:
        """Forget the gradients.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> _ = (w * 2).sum().backward()
            >>> OptimizerGroup(SGD([w])).zero_grad()
            >>> w.grad is None
            True
        """
        for optimizer in self.optimizers:
            optimizer.zero_grad()

    def step(self, skip: Tensor | None = None) -> None:
        """Update all parameters that have a gradient.

        Args:
            skip: a bool of shape (): where it is true nothing changes.

        Raises:
            GradientError: an optimizer has no parameter with a gradient.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> _ = (w * 2).sum().backward()
            >>> OptimizerGroup(SGD([w], lr=0.25)).step()
            >>> w.tolist()
            [0.5]
        """
        Tensor.realize(*self.schedule_step(skip))

    def schedule_step(self, skip: Tensor | None = None) -> list[Tensor]:
        """Assign the updates and return the tensors to realize, for realizing more along with them.

        Args:
            skip: a bool of shape (): where it is true nothing changes.

        Raises:
            GradientError: an optimizer has no parameter with a gradient.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> _ = (w * 2).sum().backward()
            >>> _ = Tensor.realize(*OptimizerGroup(SGD([w], lr=0.25)).schedule_step())
            >>> w.tolist()
            [0.5]
        """
        return [changed for optimizer in self.optimizers for changed in optimizer.schedule_step(skip)]
