"""Optimizers: how parameters follow their gradients.

Learning rates and step counts are tensors, not numbers: a jitted training step reads them at each replay,
so a changed learning rate takes effect. `step()` writes all parameters and averages in one realize.
"""

from collections.abc import Iterable, Iterator

from plugrad.dtype import dtypes, is_float, least_upper_dtype
from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.tensor import Tensor

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


class Optimizer:
    """What optimizers share: the parameters, the learning rate and the step.

    Subclasses yield the tensors that one parameter's update assigns to.

    Args:
        params: the tensors to train; one that comes twice is trained once.
        lr: the learning rate. Assign to `optimizer.lr` to change it.

    Raises:
        DtypeError: a parameter holds no floats.
        ArgumentError: the learning rate, or what a subclass takes, is negative or NaN.
    """

    def __init__(self, params: Iterable[Tensor], lr: float, **others: float) -> None:
        _check_positive(lr=lr, **others)
        self.params = list({id(p): p for p in params}.values())
        if not self.params:
            raise GradientError("an optimizer got no parameters. Pass get_parameters(model).")
        for p in self.params:
            if not is_float(p.dtype):
                raise DtypeError(f"cannot train a tensor of {p.dtype.name}: {p!r}. Leave it out, or cast it.")
            p.requires_grad = True
        self._wide = least_upper_dtype(dtypes.float32, *(p.dtype for p in self.params))
        self._lr = self._scalar(lr)

    @property
    def lr(self) -> Tensor:
        """The learning rate, a tensor of shape ()."""
        return self._lr

    @lr.setter
    def lr(self, value: "float | Tensor") -> None:
        # a number in memory: as a constant it would be part of a kernel, and each value another kernel
        if not isinstance(value, Tensor):
            _check_positive(lr=value)
        new = value.cast(self._wide) if isinstance(value, Tensor) else self._scalar(value)
        self._lr.assign(new).realize()

    def zero_grad(self) -> None:
        """Forget the gradients: `backward()` adds to those that are there."""
        for p in self.params:
            p.grad = None

    def step(self) -> None:
        """Update all parameters that have a gradient.

        Raises:
            GradientError: none has one.
        """
        Tensor.realize(*self.schedule_step())

    def schedule_step(self) -> list[Tensor]:
        """Assign the update and return the tensors to realize, for realizing more along with them.

        Raises:
            GradientError: no parameter has a gradient.
        """
        if all(p.grad is None for p in self.params):
            raise GradientError("no parameter has a gradient. Call loss.backward() before step().")
        changed = list(self._begin_step())
        for index, p in enumerate(self.params):
            if p.grad is not None:
                changed.extend(self._update(index, p, p.detach(), p.grad.detach()))
        return changed

    def _begin_step(self) -> Iterator[Tensor]:
        """Change what all parameters share; yield what was assigned to."""
        return iter(())

    def _update(self, index: int, p: Tensor, value: Tensor, grad: Tensor) -> Iterator[Tensor]:
        """Update parameter number `index`; yield what was assigned to."""
        raise NotImplementedError

    def _settle(self, *state: Tensor) -> None:
        """Compute the initial values now, so that the first step is like all others."""
        Tensor.realize(self._lr, *self.params, *state)

    def _scalar(self, value: float) -> Tensor:
        """Return a number in memory of its own, as wide as the widest parameter."""
        return Tensor([value], dtype=self._wide, device=self.params[0].device).reshape(()).contiguous()

    def _beside(self, scalar: Tensor, p: Tensor) -> Tensor:
        """Return a shared number on the device of `p`, in float32 or the wider dtype of `p`."""
        return scalar.to(p.device).cast(least_upper_dtype(dtypes.float32, p.dtype))


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value >= 0:
            raise ArgumentError(f"an optimizer with {name}={value}: pass a number that is 0 or more.")


def _zeros_like(params: list[Tensor]) -> list[Tensor]:
    return [Tensor.zeros(*p.shape, dtype=p.dtype, device=p.device).contiguous() for p in params]


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum if asked.

    Args:
        params: the tensors to train.
        lr: learning rate.
        momentum: weight of the previous direction in the new one.
        weight_decay: weight of the parameter itself in its gradient.
        nesterov: look one step of momentum ahead.

    Source: Sutskever et al. 2013, in the form that `torch.optim.SGD` documents.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> (w * 2).sum().backward()
        >>> SGD([w], lr=0.5).step()
        >>> w.tolist()
        [0.0]
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, lr, momentum=momentum, weight_decay=weight_decay)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.velocity = _zeros_like(self.params) if momentum else []
        self._settle(*self.velocity)

    def _update(self, index: int, p: Tensor, value: Tensor, grad: Tensor) -> Iterator[Tensor]:
        if self.weight_decay:
            grad = grad + value * self.weight_decay
        if self.momentum:
            velocity = self.velocity[index]
            yield velocity.assign((velocity * self.momentum + grad).cast(p.dtype))
            grad = grad + velocity * self.momentum if self.nesterov else velocity
        yield p.assign((value - grad * self._beside(self.lr, p)).cast(p.dtype))


class Adam(Optimizer):
    """Adam: steps scaled by running averages of the gradient and of its square.

    Args:
        params: the tensors to train.
        lr: learning rate.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: weight of the parameter itself in its gradient.

    Source: Kingma and Ba 2015, Algorithm 1.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> (w * 2).sum().backward()
        >>> Adam([w], lr=0.5).step()
        >>> round(w.item(), 6)
        0.5
    """

    decoupled = False

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, beta1=betas[0], beta2=betas[1], eps=eps, weight_decay=weight_decay)
        self.betas = betas
        self.eps = eps
        self.weight_decay = weight_decay
        self.mean = _zeros_like(self.params)
        self.square = _zeros_like(self.params)
        # 1 - beta**step, which the averages fall short of one by: kept as such, for 1 - 0.999 has few digits
        self.mean_weight = self._scalar(0.0)
        self.square_weight = self._scalar(0.0)
        self._settle(*self.mean, *self.square, self.mean_weight, self.square_weight)

    def _begin_step(self) -> Iterator[Tensor]:
        for weight, beta in zip((self.mean_weight, self.square_weight), self.betas, strict=True):
            yield weight.assign(weight * beta + (1 - beta))

    def _update(self, index: int, p: Tensor, value: Tensor, grad: Tensor) -> Iterator[Tensor]:
        lr, (beta1, beta2) = self._beside(self.lr, p), self.betas
        if self.weight_decay and self.decoupled:
            value = value * (1 - lr * self.weight_decay)
        elif self.weight_decay:
            grad = grad + value * self.weight_decay
        mean, square = self.mean[index], self.square[index]
        yield mean.assign((mean * beta1 + grad * (1 - beta1)).cast(p.dtype))
        yield square.assign((square * beta2 + grad * grad * (1 - beta2)).cast(p.dtype))
        unbiased = square / self._beside(self.square_weight, p)
        step = mean / self._beside(self.mean_weight, p) / (unbiased.sqrt() + self.eps)
        yield p.assign((value - step * lr).cast(p.dtype))


class AdamW(Adam):
    """Adam with a weight decay that is not scaled by the averages.

    Args:
        params: the tensors to train.
        lr: learning rate.
        betas: how much of the averages of gradient and squared gradient each step keeps.
        eps: added to the divisor.
        weight_decay: part of the parameter that each step takes away, times the learning rate.

    Source: Loshchilov and Hutter 2019, Algorithm 2.
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)
