"""Parameters with settings in common, as PyTorch's optimizers group them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from plugrad._util import did_you_mean
from plugrad.dtype import DType, dtypes, is_float, least_upper_dtype
from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.tensor import Tensor

__all__ = ["ParamGroup", "check_betas", "check_fractions", "check_not_negative", "split_into_groups"]


class ParamGroup:
    """Parameters with their learning rate and options. Reads as PyTorch's dict of them does, too.

    The learning rate is a tensor: a jitted step follows it. The options are numbers in the kernels, and stay
    as they are; momentum (or the first of the betas) can be made a tensor as well, by `vary_momentum` of the
    optimizer.

    Args:
        params: the tensors to train.
        options: the settings by name, with the learning rate as `lr`.

    Attributes:
        params: the tensors to train.
        options: the settings other than the learning rate, by name.
        rate: the learning rate as the number it was set to; None if it was set to a tensor.
        initial_rate: the rate that schedules start from; None before there is one.

    Example:
        >>> group = SGD([Tensor([1.0])], lr=0.5, momentum=0.9).param_groups[0]
        >>> group["lr"] = 0.25
        >>> group.lr.item(), group["momentum"]
        (0.25, 0.9)
    """

    def __init__(self, params: list[Tensor], options: Mapping[str, Any]) -> None:
        self.params = params
        self.options = {name: value for name, value in options.items() if name != "lr"}
        wide = least_upper_dtype(dtypes.float32, *(p.dtype for p in params))
        # a number in memory: as a constant it would be part of a kernel, and each value another kernel
        rate = float(options["lr"])
        self.rate: float | None = rate
        self.initial_rate: float | None = None
        self._lr = _number(rate, wide, params[0].device).contiguous()
        self._momentum: Tensor | None = None

    @property
    def lr(self) -> Tensor:
        """The learning rate, a tensor of shape ().

        Example:
            >>> group = SGD([Tensor([1.0])], lr=0.5).param_groups[0]
            >>> group.lr = 0.25
            >>> group.lr.item()
            0.25
        """
        return self._lr

    @lr.setter
    def lr(self, value: "float | Tensor") -> None:
        self.rate = None
        if not isinstance(value, Tensor):
            check_not_negative(lr=value)
            self.rate = value
            value = _number(value, self._lr.dtype, self._lr.device)
        self._lr.assign(value.cast(self._lr.dtype)).realize()

    def lr_beside(self, p: Tensor) -> Tensor:
        """Return the learning rate on the device of `p`, in float32 or the wider dtype of `p`.

        Example:
            >>> group = SGD([Tensor([1.0])], lr=0.5).param_groups[0]
            >>> group.lr_beside(Tensor([1.0], dtype="float16")).dtype.name
            'float32'
        """
        return self._lr.to(p.device).cast(least_upper_dtype(dtypes.float32, p.dtype))

    def vary_momentum(self, name: str) -> None:
        """Let the option `name`, "momentum" or "betas", be read from memory, so that `self[name]` can be set.

        Of betas, the first one varies.

        Example:
            >>> group = SGD([Tensor([1.0])], momentum=0.9).param_groups[0]
            >>> group.vary_momentum("momentum")
            >>> group["momentum"] = 0.5
            >>> group["momentum"]
            0.5
        """
        if self._momentum is None:
            first = self.options["betas"][0] if name == "betas" else self.options[name]
            self._momentum = _number(first, self._lr.dtype, self._lr.device).contiguous().realize()

    def momentum_beside(self, p: Tensor) -> "float | Tensor":
        """Return the momentum, or the first beta, for an update of `p`: a number unless it varies.

        Example:
            >>> w = Tensor([1.0])
            >>> SGD([w], momentum=0.9).param_groups[0].momentum_beside(w)
            0.9
        """
        if self._momentum is None:
            return self.options["betas"][0] if "betas" in self.options else self.options["momentum"]
        return self._momentum.to(p.device).cast(least_upper_dtype(dtypes.float32, p.dtype))

    def __getitem__(self, name: str) -> Any:
        if name in ("lr", "params"):
            return getattr(self, name)
        if name not in self.options:
            raise ArgumentError(
                f"a group has no option {name!r}: it has lr, params, {', '.join(self.options)}."
            )
        return self.options[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "lr":
            self.lr = value
            return
        if self._momentum is None or name not in ("momentum", "betas") or name not in self.options:
            raise ArgumentError(
                f"cannot set {name!r} of a group: it is part of compiled kernels. Only lr changes, and "
                "momentum after optimizer.vary_momentum(); make another optimizer."
            )
        first = value[0] if name == "betas" else value
        check_not_negative(**{name: first})
        if name == "betas" and value[1] != self.options["betas"][1]:
            raise ArgumentError(f"cannot set betas={value} of a group: only the first one varies.")
        self.options[name] = value
        self._momentum.assign(_number(first, self._momentum.dtype, self._momentum.device)).realize()


def _number(value: float, dtype: DType, device: str) -> Tensor:
    return Tensor([value], dtype=dtype, device=device).reshape(())


def split_into_groups(
    params: "Iterable[Tensor] | Iterable[Mapping[str, Any]]",
    defaults: Mapping[str, Any],
    taken: Iterable[Tensor] = (),
) -> Iterator[tuple[list[Tensor], dict[str, Any]]]:
    """Yield the parameters and settings of each group: all parameters as one, or dicts with "params" each.

    Args:
        params: the parameters, or the groups.
        defaults: settings that a group need not have.
        taken: parameters that other groups have.

    Raises:
        ArgumentError: a group has a setting that is none of `defaults`, or no params; or `params` is a tensor
            or no such thing.
        GradientError: there are no parameters, or one is in two groups.
        DtypeError: one holds no floats.
    """
    # a tensor yields its rows, which are nobody's parameters
    if isinstance(params, Tensor) or not isinstance(params, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(
            f"an optimizer got {params!r:.100}. Pass a list: get_parameters(model), or [tensor]."
        )
    given = list(params)
    if not given:
        raise GradientError("an optimizer got no parameters. Pass get_parameters(model).")
    dicts = [item for item in given if isinstance(item, Mapping)]
    if dicts and len(dicts) < len(given):
        raise ArgumentError("an optimizer got tensors and groups mixed. Pass a list of one or the other.")
    groups: list[Mapping[str, Any]] = dicts or [{"params": cast("list[Tensor]", given)}]
    seen = set(map(id, taken))
    for group in groups:
        for name in group:
            if name != "params" and name not in defaults:
                raise ArgumentError(
                    f"a group with {name!r}: this optimizer takes {', '.join(defaults)}."
                    + did_you_mean(name, defaults)
                )
        if "params" not in group:
            raise ArgumentError("a group without 'params'. Pass {'params': [...], 'lr': ...}.")
        members = [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])
        members = list({id(p): p for p in members}.values())
        _check_members(members, seen)
        yield members, {**defaults, **{name: value for name, value in group.items() if name != "params"}}


def _check_members(members: list[Any], seen: set[int]) -> None:
    if not members:
        raise GradientError("an optimizer got no parameters. Pass get_parameters(model).")
    for p in members:
        if not isinstance(p, Tensor):
            raise DtypeError(f"cannot train {p!r} ({type(p).__name__}), which is no tensor. Leave it out.")
        if not is_float(p.dtype):
            raise DtypeError(f"cannot train a tensor of {p.dtype.name}: {p!r}. Leave it out, or cast it.")
        if id(p) in seen:
            raise GradientError(f"{p!r} is in two groups. Leave it out of one.")
        seen.add(id(p))


def check_not_negative(**values: float) -> None:
    """Do nothing for numbers that are 0 or more.

    Raises:
        ArgumentError: one is negative or NaN, or no number.
    """
    for name, value in values.items():
        if not isinstance(value, (int, float, Tensor)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"an optimizer with {name}={value!r}: pass a number that is 0 or more.")
        if not value >= 0:
            raise ArgumentError(f"an optimizer with {name}={value}: pass a number that is 0 or more.")


def check_fractions(**values: float) -> None:
    """Do nothing for numbers from 0 to 1, without 1.

    Raises:
        ArgumentError: one is negative, 1 or more, or NaN.
    """
    check_not_negative(**values)
    for name, value in values.items():
        if not value < 1:
            raise ArgumentError(f"an optimizer with {name}={value}: pass a number below 1.")


def check_betas(betas: Any) -> None:
    """Do nothing for a pair of numbers from 0 to 1, without 1.

    Raises:
        ArgumentError: it is anything else.
    """
    pair = tuple(cast("Iterable[Any]", betas)) if isinstance(betas, Iterable) else ()
    if len(pair) != 2:
        raise ArgumentError(f"an optimizer with betas={betas!r}: pass two numbers, such as (0.9, 0.999).")
    check_fractions(beta1=pair[0], beta2=pair[1])
