"""Parameters with settings in common, as PyTorch's optimizers group them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from plugrad._util import did_you_mean
from plugrad.dtype import DType, dtypes, is_float, least_upper_dtype
from plugrad.errors import ArgumentError, DtypeError, GradientError
from plugrad.nn.checks import BELOW_ONE, NOT_NEGATIVE, check_numbers
from plugrad.tensor import Tensor

#: The tensors to train, or groups of them: dicts with "params" and settings of their own.
Params = Iterable[Tensor] | Iterable[Mapping[str, Any]]

_NO_PARAMETERS = (
    "{}: no parameters. Pass get_parameters(model), which finds the tensors made with requires_grad=True, or "
    "the tensors themselves."
)


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

    #: for schedules and people: steps read the rate from memory, so that a new one is no new trace of the JIT
    HOST_RECORDS: ClassVar[frozenset[str]] = frozenset({"rate"})

    def __init__(self, params: list[Tensor], options: Mapping[str, Any]) -> None:
        self.params = params
        self.options = {name: value for name, value in options.items() if name != "lr"}
        wide = least_upper_dtype(dtypes.float32, *(p.dtype for p in params))
        # a number in memory: as a constant it would be part of a kernel, and each value another kernel
        rate = check_rate(self, options["lr"])
        self.rate: float | None = rate
        self.initial_rate: float | None = None
        self._lr = _number(rate, wide, params[0].device).contiguous()
        self._momentum: Tensor | None = None

    def __repr__(self) -> str:
        # what is on the device is not read
        rate = "a tensor" if self.rate is None else self.rate
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"{len(self.params)} parameters, lr={rate}{options}"

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
        if isinstance(value, Tensor) and value.numel() == 1:
            self.rate = None
            rate = value.detach().reshape(()).to(self._lr.device).cast(self._lr.dtype)
        else:
            self.rate = check_rate(self, value)
            rate = _number(self.rate, self._lr.dtype, self._lr.device)
        self._lr.assign(rate).realize()

    def lr_beside(self, p: Tensor) -> Tensor:
        """Return the learning rate on the device of `p`, in float32 or wider.

        Example:
            >>> group = SGD([Tensor([1.0])], lr=0.5).param_groups[0]
            >>> group.lr_beside(Tensor([1.0], dtype="float16")).dtype.name
            'float32'
        """
        return self._lr.to(p.device).cast(least_upper_dtype(dtypes.float32, p.dtype))

    def vary_momentum(self, name: str) -> None:
        """Read the option `name`, "momentum" or "betas", from memory, so that it can be set.

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
        """Return the momentum or first beta for `p`, a number unless it varies.

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
        if name == "betas":
            check_betas(self, value)
        first = value[0] if name == "betas" else value
        check_numbers(self, NOT_NEGATIVE, **{name: first})
        if name == "betas" and value[1] != self.options["betas"][1]:
            raise ArgumentError(f"cannot set betas={value} of a group: only the first one varies.")
        self.options[name] = value
        self._momentum.assign(_number(first, self._momentum.dtype, self._momentum.device)).realize()


def _number(value: float, dtype: DType, device: str) -> Tensor:
    return Tensor([value], dtype=dtype, device=device, requires_grad=False).reshape(())


def split_into_groups(
    owner: object, params: Params, defaults: Mapping[str, Any], taken: Iterable[Tensor] = ()
) -> Iterator[tuple[list[Tensor], dict[str, Any]]]:
    """Yield the parameters and settings of each group.

    Args:
        owner: the optimizer.
        params: the parameters, or the groups.
        defaults: settings that a group need not have.
        taken: parameters that other groups have.
    """
    name = type(owner).__name__
    # a tensor yields its rows, which are nobody's parameters
    if isinstance(params, Tensor) or not isinstance(params, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(
            f"{name}: params={params!r:.100}. Pass a list: get_parameters(model), or [tensor]."
        )
    given = list(params)
    if not given:
        raise GradientError(_NO_PARAMETERS.format(name))
    groups: list[Any] = given if isinstance(given[0], Mapping) else [{"params": given}]
    seen = set(map(id, taken))
    for group in groups:
        settings = {str(option): value for option, value in group.items() if option != "params"}
        for option in settings:
            if option not in defaults:
                raise ArgumentError(
                    f"{name}: a group with {option!r}: this optimizer takes {', '.join(defaults)}."
                    + did_you_mean(option, defaults)
                )
        members = _members(name, group["params"], seen)
        yield members, {**defaults, **settings}


def _members(name: str, params: Any, seen: set[int]) -> list[Tensor]:
    """Return the parameters of a group, each once, and add them to those `seen`."""
    given = [params] if isinstance(params, Tensor) else list(cast("Iterable[Any]", params))
    if not given:
        raise GradientError(_NO_PARAMETERS.format(name))
    members = list({id(p): p for p in given}.values())
    for p in members:
        if not isinstance(p, Tensor):
            raise DtypeError(
                f"{name}: cannot train {p!r:.60} ({type(p).__name__}), which is no tensor. Leave it out."
            )
        if not is_float(p.dtype):
            raise DtypeError(
                f"{name}: cannot train a tensor of {p.dtype.name}: {p!r}. Leave it out, or cast it."
            )
        if id(p) in seen:
            raise GradientError(f"{name}: {p!r} is in two groups. Leave it out of one.")
        seen.add(id(p))
    return members


def check_rate(owner: object, lr: Any) -> float:
    """Return a learning rate as a number, if it is one of 0 or more."""
    rate = lr.item() if isinstance(lr, Tensor) and lr.numel() == 1 else lr
    check_numbers(owner, NOT_NEGATIVE, lr=rate)
    return float(rate)


def betas_of(betas: Any, b1: float | None, b2: float | None) -> Any:
    """Return `betas` with those in their places that were given by tinygrad's names.

    Example:
        >>> betas_of((0.9, 0.999), None, 0.95)
        (0.9, 0.95)
    """
    if (b1 is None and b2 is None) or not isinstance(betas, (tuple, list)):
        return betas
    given = zip(cast("Sequence[Any]", betas), (b1, b2), strict=False)
    return tuple(beta if named is None else named for beta, named in given)


def check_betas(owner: object, betas: Any) -> None:
    """Raise ArgumentError unless `betas` are two numbers from 0 to below 1."""
    first, second = pair_of(owner, "betas", betas)
    check_numbers(owner, BELOW_ONE, **{"betas[0]": first, "betas[1]": second})


def pair_of(owner: object, name: str, value: Any) -> tuple[Any, Any]:
    """Return both items of a setting.

    Raises:
        ArgumentError: there are not two.
    """
    pair = cast("Sequence[Any]", value) if isinstance(value, (tuple, list)) else ()
    if len(pair) != 2:
        raise ArgumentError(f"{type(owner).__name__}: {name}={value!r:.60}: pass two numbers.")
    return pair[0], pair[1]
