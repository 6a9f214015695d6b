"""Loss scaling, for gradients that half precision would round to zero."""

from collections.abc import Mapping
from dataclasses import dataclass

from plugrad.dtype import dtypes, is_float, least_upper_dtype
from plugrad.errors import GradientError
from plugrad.nn.checks import ABOVE_ONE, ABOVE_ZERO, BETWEEN, check_fields, copy_state
from plugrad.nn.named_state import NamedState
from plugrad.nn.optim.optimizer import Optimizer
from plugrad.nn.optim.optimizer_group import OptimizerGroup
from plugrad.tensor import Tensor


@dataclass(eq=False, repr=False)
class GradScaler(NamedState):
    """Scales losses up and their gradients down, and skips steps that overflow.

    The scale grows while nothing overflows, and shrinks when something does. It is a tensor, and steps are
    skipped on the device: all of it works in jitted functions.

    Args:
        init_scale: the first scale.
        growth_factor: what the scale is multiplied by after `growth_interval` steps without overflow.
        backoff_factor: what it is multiplied by after a step that overflowed.
        growth_interval: how many steps.
        enabled: False does nothing but step.
        device: where the scale lives; by default `Device.DEFAULT`.

    Raises:
        ArgumentError: a number is out of range.

    Source: Micikevicius et al. 2018, "Mixed Precision Training", section 3.2.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> optimizer, scaler = SGD([w], lr=0.5), GradScaler()
        >>> _ = scaler.scale((w * 2).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w.tolist()
        [0.0]
    """

    init_scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    enabled: bool = True
    device: str | None = None

    def __post_init__(self) -> None:
        """Check the settings and make the scale."""
        check_fields(self, {"init_scale": ABOVE_ZERO, "growth_factor": ABOVE_ONE, "backoff_factor": BETWEEN})
        scale = Tensor([self.init_scale], dtype=dtypes.float32, device=self.device, requires_grad=False)
        self._scale = scale.reshape(()).contiguous()
        # steps without overflow since the scale changed
        self._streak = Tensor([0], dtype=dtypes.int32, device=self.device).reshape(()).contiguous()
        Tensor.realize(self._scale, self._streak)
        # whether gradients overflowed, by optimizer, since the last update
        self._found: dict[int, Tensor] = {}

    def scale(self, loss: Tensor) -> Tensor:
        """Return the loss times the scale, in float32 or wider.

        Raises:
            GradientError: the loss holds no floats.

        Example:
            >>> GradScaler(init_scale=4.0).scale(Tensor(0.5)).item()
            2.0
        """
        if not is_float(loss.dtype):
            raise GradientError(f"GradScaler.scale: {loss!r:.60} holds no floats. Pass the loss.")
        if not self.enabled:
            return loss
        return loss.cast(least_upper_dtype(dtypes.float32, loss.dtype)) * self._scale.to(loss.device)

    def unscale_(self, optimizer: Optimizer | OptimizerGroup) -> None:
        """Divide the gradients of an optimizer by the scale, in float32, before clipping.

        Raises:
            GradientError: it was done before for this step, or no parameter has a gradient.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> scaler, optimizer = GradScaler(init_scale=4.0), SGD([w], lr=0.5)
            >>> _ = scaler.scale(w * 2).sum().backward()
            >>> scaler.unscale_(optimizer)
            >>> w.grad.tolist()
            [2.0]
        """
        if not self.enabled:
            return
        if id(optimizer) in self._found:
            raise GradientError("gradients were unscaled before. Call update() after each step.")
        grads = [(p, p.grad.detach()) for p in optimizer.params if p.grad is not None]
        if not grads:
            raise GradientError("no parameter has a gradient. Call scaler.scale(loss).backward() before.")
        finite = [grad.isfinite().all().to(self._scale.device) for _, grad in grads]
        self._found[id(optimizer)] = Tensor.stack(*finite).all().logical_not().contiguous()
        for p, grad in grads:
            p.grad = grad.cast(least_upper_dtype(dtypes.float32, grad.dtype)) / self._scale.to(grad.device)

    def step(self, optimizer: Optimizer | OptimizerGroup) -> None:
        """Unscale gradients unless that was done, and step; change nothing where they overflowed.

        Raises:
            GradientError: no parameter has a gradient.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> scaler, optimizer = GradScaler(init_scale=4.0), SGD([w], lr=0.5)
            >>> _ = scaler.scale(w * float("inf")).sum().backward()
            >>> scaler.step(optimizer)
            >>> w.tolist()
            [1.0]
        """
        if not self.enabled:
            optimizer.step()
            return
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        optimizer.step(skip=self._found[id(optimizer)])

    def update(self) -> None:
        """Change the scale after the steps of all optimizers.

        Raises:
            GradientError: there was no step since the last update.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> scaler, optimizer = GradScaler(init_scale=4.0), SGD([w], lr=0.5)
            >>> _ = scaler.scale(w * float("inf")).sum().backward()
            >>> scaler.step(optimizer)
            >>> scaler.update()
            >>> scaler.get_scale()
            2.0
        """
        if not self.enabled:
            return
        if not self._found:
            raise GradientError("update() of a GradScaler without a step. Call step(optimizer) before.")
        found = Tensor.stack(*self._found.values()).any()
        self._found.clear()
        streak = found.where(0, self._streak + 1)
        grows = streak >= self.growth_interval
        factor = found.where(self.backoff_factor, grows.where(self.growth_factor, 1.0))
        scale = self._scale * factor
        # a scale that overflows would never come back
        scale = scale.isfinite().where(scale, self._scale)
        self._scale.assign(scale.cast(dtypes.float32))
        self._streak.assign(grows.where(0, streak).cast(dtypes.int32))
        Tensor.realize(self._scale, self._streak)

    def get_scale(self) -> float:
        """Return the scale.

        Example:
            >>> GradScaler(init_scale=4.0).get_scale()
            4.0
        """
        return self._scale.item() if self.enabled else 1.0

    def state_dict(self) -> dict[str, Tensor]:
        """Return the scale and the number of steps it has lasted, for `safe_save`.

        Example:
            >>> list(GradScaler().state_dict())
            ['scale', 'streak']
        """
        return {"scale": self._scale, "streak": self._streak}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Take the scale of another scaler.

        Raises:
            StateError: the names are not those of `state_dict()`.
            ShapeError: a value has another shape.

        Example:
            >>> scaler = GradScaler()
            >>> scaler.load_state_dict(GradScaler(init_scale=4.0).state_dict())
            >>> scaler.get_scale()
            4.0
        """
        copy_state(self, self.state_dict(), state)
