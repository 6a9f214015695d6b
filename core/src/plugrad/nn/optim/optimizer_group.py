"""Several optimizers that step as one."""

from collections.abc import Mapping

from plugrad.errors import ArgumentError, GradientError
from plugrad.nn.checks import check_state
from plugrad.nn.optim.base import OptimizerBase
from plugrad.nn.optim.groups import ParamGroup
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.tensor import Tensor


class OptimizerGroup(OptimizerBase):
    """Several optimizers that step together, such as Muon for matrices beside AdamW.

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
    def param_groups(self) -> list[ParamGroup]:
        """The groups of all optimizers, for a schedule of all of them.

        Example:
            >>> w, b = Tensor([1.0]), Tensor([2.0])
            >>> both = OptimizerGroup(SGD([w], lr=0.5), SGD([b], lr=0.25))
            >>> [group.lr.item() for group in both.param_groups]
            [0.5, 0.25]
        """
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def vary_momentum(self) -> None:
        """Keep the momentum of all optimizers in memory, see `Optimizer.vary_momentum`.

        Raises:
            ArgumentError: an optimizer has no momentum.

        Example:
            >>> both = OptimizerGroup(SGD([Tensor([1.0])], momentum=0.9), Adam([Tensor([1.0])]))
            >>> both.vary_momentum()
            >>> both.param_groups[0]["momentum"] = 0.8
        """
        for optimizer in self.optimizers:
            optimizer.vary_momentum()

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

    def state_dict(self) -> dict[str, Tensor]:
        """Return the states of all optimizers, each with its number in front of its names.

        Example:
            >>> list(OptimizerGroup(SGD([Tensor([1.0])])).state_dict())
            ['0.groups.0.lr', '0.groups.0.steps']
        """
        return {
            f"{number}.{name}": value
            for number, optimizer in enumerate(self.optimizers)
            for name, value in optimizer.state_dict().items()
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copy the values of `state` into the optimizers, if all of them fit.

        Raises:
            StateError: the names are not those of `state_dict()`: other optimizers, or other parameters.
            ShapeError: a value has another shape.

        Example:
            >>> both = OptimizerGroup(SGD([Tensor([1.0])], lr=0.5))
            >>> both.load_state_dict(OptimizerGroup(SGD([Tensor([1.0])], lr=0.25)).state_dict())
            >>> both.param_groups[0].lr.item()
            0.25
        """
        check_state(self, self.state_dict(), state)
        for number, optimizer in enumerate(self.optimizers):
            own = (name for name in optimizer.state_dict())
            optimizer.load_state_dict({name: state[f"{number}.{name}"] for name in own})
