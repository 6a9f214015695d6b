"""The base of optimizers: groups of parameters, state, and the step."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from plugrad.errors import ArgumentError, GradientError
from plugrad.nn.checks import NOT_NEGATIVE, Range, check_numbers, copy_state
from plugrad.nn.optim.base import OptimizerBase, check_skip
from plugrad.nn.optim.flat_parameters import ELEMENTWISE, FlattenLimits, UpdateUnit, make_units, settle
from plugrad.nn.optim.groups import ParamGroup, Params, betas_of, check_betas, check_rate, split_into_groups
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_flag

_FLAGS = frozenset({"amsgrad", "centered", "decoupled_weight_decay", "maximize", "nesterov"})
# Numbers of parameters are so many floats apart: each begins where a part of memory may begin, which lets the
# updates of parameters of one shape share a kernel.
_NUMBER_ROOM = 16


class Optimizer(OptimizerBase):
    """The base of optimizers: parameters in groups, the learning rate and the step.

    A subclass says what state a unit has and how a unit is updated; a unit is a parameter, or many small ones
    that are updated by one kernel. So small parameters become views of memory that they have in common.

    Args:
        params: the tensors to train, one that comes twice is trained once; or groups as PyTorch's: dicts with
            "params" and settings of their own.
        lr: the learning rate. Assign to `optimizer.lr`, or that of a group, to change it.
        options: the other settings by name.

    Raises:
        DtypeError: a parameter holds no floats.
        GradientError: there are no parameters, or one is in two groups.
        ArgumentError: a setting is out of range, or has no such name.

    Example:
        >>> w = Tensor([1.0], requires_grad=True)
        >>> optimizer = SGD([w], lr=0.5)
        >>> isinstance(optimizer, Optimizer), optimizer.lr.item()
        (True, 0.5)
    """

    #: Which parameters can be updated as one: any whose elements' updates depend on that element alone, and
    #: on norms of its parameter (`UpdateUnit.length`), or those of one shape.
    flattening: ClassVar[FlattenLimits] = ELEMENTWISE
    #: Whether updates depend on the number of steps, or the option that makes them.
    counts_steps: ClassVar[bool | str] = False
    #: The numbers that options may be, unless 0 and more; None for what `_check` checks.
    ranges: ClassVar[Mapping[str, Range | None]] = {}
    #: What is remembered for each element, and its first value.
    state: ClassVar[Mapping[str, float]] = {}
    #: What is remembered for each parameter, and its first value.
    numbers: ClassVar[Mapping[str, float]] = {}

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Make an optimizer, unless the learning rate has its name in Keras, MLX and Optax."""
        if "learning_rate" in settings:
            raise TypeError(f"{cls.__name__}() calls the learning rate lr: write lr=... for learning_rate")
        return super().__new__(cls)

    def __init__(self, params: Params, lr: float, **options: Any) -> None:
        if "betas" in options:
            options["betas"] = betas_of(options["betas"], options.pop("b1", None), options.pop("b2", None))
        self._defaults = {"lr": lr, **options}
        self._groups: list[ParamGroup] = []
        self._units: list[list[UpdateUnit]] = []
        # how often each parameter was updated
        self._steps: list[Tensor] = []
        self._add_groups(list(split_into_groups(self, params, self._defaults)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'; '.join(map(repr, self._groups))})"

    @property
    def param_groups(self) -> list[ParamGroup]:
        """The groups, each with parameters and their settings.

        Example:
            >>> SGD([Tensor([1.0])], lr=0.5).param_groups[0]["lr"].item()
            0.5
        """
        return self._groups

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Train more parameters from now on, with settings of their own.

        Make schedules of learning rates after this.

        Args:
            param_group: a dict with "params", and settings as the optimizer takes them.

        Raises:
            DtypeError: a parameter holds no floats.
            GradientError: there are no parameters, or one is in a group already.
            ArgumentError: a setting is out of range, or has no such name.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> optimizer.add_param_group({"params": [Tensor([2.0])], "lr": 0.25})
            >>> [group.lr.item() for group in optimizer.param_groups]
            [0.5, 0.25]
        """
        self._add_groups(list(split_into_groups(self, [param_group], self._defaults, self.params)))

    def _add_groups(self, found: list[tuple[list[Tensor], dict[str, Any]]]) -> None:
        for members, settings in found:
            self._check(settings)
            for p in members:
                self._check_member(p)
        groups = [ParamGroup(members, settings) for members, settings in found]
        for group in groups:
            for p in group.params:
                p.requires_grad = True
        Tensor.realize(*(p for group in groups for p in group.params))
        units = [make_units(group.params, self.flattening) for group in groups]
        rows = [
            group.lr.new_zeros(len(group.params), _NUMBER_ROOM, requires_grad=False).contiguous()
            for group in groups
        ]
        for group, members in zip(groups, units, strict=True):
            for unit in members:
                for name, fill in self._state({**group.options, "lr": group.rate}).items():
                    unit.add_state(name, fill)
                for name, fill in self.numbers.items():
                    unit.add_number(name, fill)
        settle([unit for members in units for unit in members], *rows, *(group.lr for group in groups))
        self._groups += groups
        self._units += units
        self._steps += [memory[:, 0] for memory in rows]

    # --- what subclasses say ---

    def _check(self, options: Mapping[str, Any]) -> None:
        """Raise ArgumentError where an option of a group is out of range."""
        check_rate(self, options["lr"])
        for name, value in options.items():
            allowed = self.ranges.get(name, NOT_NEGATIVE)
            if name == "betas":
                check_betas(self, value)
            elif name in _FLAGS:
                as_flag(value, f"{type(self).__name__}: {name}")
            elif name != "lr" and allowed is not None:
                check_numbers(self, allowed, **{name: value})

    def _check_member(self, p: Tensor) -> None:
        """Raise ShapeError where a parameter has a shape that cannot be trained."""

    def _state(self, options: Mapping[str, Any]) -> Mapping[str, float]:
        """Return the names of the state of each element and its first values."""
        return self.state

    def _update(self, unit: UpdateUnit, grad: Tensor, group: ParamGroup, steps: Tensor) -> Tensor:
        """Return the new values of a unit, and keep its state.

        Args:
            unit: what is updated.
            grad: its gradient.
            group: its settings.
            steps: which step this is for it, from 1 on, of shape (); only where steps are counted.
        """
        raise NotImplementedError

    # --- what users call ---

    @property
    def lr(self) -> Tensor:
        """The learning rate, a tensor of shape (), of the only group.

        Raises:
            ArgumentError: there are several groups.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> optimizer.lr = 0.25
            >>> optimizer.lr.item()
            0.25
        """
        return self._only_group().lr

    @lr.setter
    def lr(self, value: "float | Tensor") -> None:
        self._only_group().lr = value

    def _only_group(self) -> ParamGroup:
        if len(self.param_groups) > 1:
            raise ArgumentError(
                f"lr of an optimizer with {len(self.param_groups)} groups: use "
                "optimizer.param_groups[0].lr, and so on."
            )
        return self.param_groups[0]

    def vary_momentum(self) -> None:
        """Keep the momentum, or first beta, of all groups in memory, so it can change.

        It is a tensor then, as the learning rate is: set `group["momentum"]`, or `group["betas"]`. Do this
        before a jitted step is recorded.

        Raises:
            ArgumentError: the optimizer has no momentum.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5, momentum=0.9)
            >>> optimizer.vary_momentum()
            >>> optimizer.param_groups[0]["momentum"] = 0.8
        """
        for group, units in zip(self.param_groups, self._units, strict=True):
            name = next((name for name in ("momentum", "betas") if name in group.options), None)
            if name is None:
                raise ArgumentError(
                    f"{type(self).__name__} has no momentum that could vary. Pass cycle_momentum=False to a "
                    "schedule."
                )
            group.vary_momentum(name)
            # a momentum of 0 has had no need for a state
            wanted = self._state({**group.options, "momentum": 1.0})
            for unit in units:
                for missing in wanted.keys() - unit.state.keys():
                    unit.add_state(missing, wanted[missing]).realize()

    def schedule_step(self, skip: Tensor | None = None) -> list[Tensor]:
        """Assign the update and return the tensors to realize, for realizing more along with them.

        Args:
            skip: a bool of shape (): where it is true nothing changes.

        Raises:
            GradientError: no parameter has a gradient.
            DtypeError: `skip` is no bool tensor.
            ShapeError: it has axes.

        Example:
            >>> w = Tensor([1.0], requires_grad=True)
            >>> loss = (w * 2).sum().backward()
            >>> _ = loss.realize(*SGD([w], lr=0.25).schedule_step())
            >>> loss.item(), w.tolist()
            (2.0, [0.5])
        """
        check_skip(self, skip)
        if all(p.grad is None for p in self.params):
            raise GradientError(
                f"{type(self).__name__}: no parameter has a gradient. Call loss.backward() before step()."
            )
        changed: list[Tensor] = []
        for number, group in enumerate(self.param_groups):
            self._split(number, _is_uneven)
            active = [unit for unit in self._units[number] if unit.has_gradients()]
            if not active:
                continue
            steps = self._steps[number]
            if group.options[self.counts_steps] if isinstance(self.counts_steps, str) else self.counts_steps:
                changed.append(_count(steps, active, skip))
            for unit in active:
                unit.skip = skip
                number_of_step = steps[unit.indices[0]].to(unit.target.device)
                grad = -unit.grad() if group.options.get("maximize") else unit.grad()
                unit.store(self._update(unit, grad, group, number_of_step))
                unit.skip = None
                changed.extend((unit.target, *unit.state.values()))
        return changed

    def _split(self, number: int, is_split: Callable[[UpdateUnit], bool]) -> None:
        """Replace the units of a group that `is_split` picks by one unit for each parameter."""
        self._units[number] = [
            part for unit in self._units[number] for part in (unit.members() if is_split(unit) else (unit,))
        ]

    # --- state ---

    def state_dict(self) -> dict[str, Tensor]:
        """Return rates and steps of groups, and the state of each parameter, by name.

        All of it is tensors, for `safe_save`. Parameters are numbered through all groups.

        Example:
            >>> list(SGD([Tensor([1.0])], momentum=0.9).state_dict())
            ['groups.0.lr', 'groups.0.steps', 'params.0.momentum']
        """
        out: dict[str, Tensor] = {}
        first = 0
        for number, group in enumerate(self.param_groups):
            out[f"groups.{number}.lr"] = group.lr
            out[f"groups.{number}.steps"] = self._steps[number]
            singles = [single for unit in self._units[number] for single in unit.members()]
            for single in sorted(singles, key=lambda unit: unit.indices[0]):
                for name, value in single.state.items():
                    out[f"params.{first + single.indices[0]}.{name}"] = value
            first += len(group.params)
        return out

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copy the values of `state` into this optimizer, if all of them fit.

        Raises:
            StateError: the names are not those of `state_dict()`: another optimizer, or other parameters.
            ShapeError: a value has another shape.

        Example:
            >>> optimizer = SGD([Tensor([1.0])], lr=0.5)
            >>> optimizer.load_state_dict(SGD([Tensor([1.0])], lr=0.25).state_dict())
            >>> optimizer.lr.item()
            0.25
        """
        copy_state(self, self.state_dict(), state)
        for group in self.param_groups:
            group.rate = None
        for number, steps in enumerate(self._steps):
            self._split(number, functools.partial(_differ, cast("list[float]", steps.tolist())))


def settings_of(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor by name, from its `locals()`."""
    return {name: value for name, value in names.items() if name not in ("self", "__class__")}


def with_weight_decay(
    unit: UpdateUnit, grad: Tensor, group: ParamGroup, is_decoupled: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the values and the gradient of a unit, either with weight decay.

    Source: Loshchilov and Hutter 2019, Algorithm 2.
    """
    value, decay = unit.value(), group["weight_decay"]
    if not decay:
        return value, grad
    if is_decoupled:
        return value * (1 - group.lr_beside(unit.target) * decay), grad
    return value, grad + value * decay


def _is_uneven(unit: UpdateUnit) -> bool:
    return not unit.has_gradients() and any(part.has_gradients() for part in unit.members())


def _differ(steps: Sequence[float], unit: UpdateUnit) -> bool:
    return len({steps[index] for index in unit.indices}) > 1


def _count(steps: Tensor, active: Iterable[UpdateUnit], skip: Tensor | None) -> Tensor:
    updated = {index for unit in active for index in unit.indices}
    added: Tensor | float = 1.0
    if len(updated) < len(steps):
        mask = [float(index in updated) for index in range(len(steps))]
        added = Tensor(mask, dtype=steps.dtype, device=steps.device)
    new = steps + added
    return steps.assign(new if skip is None else skip.to(steps.device).where(steps, new))
