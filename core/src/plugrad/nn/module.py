"""`Module`: the base class of layers, optional for models."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

from plugrad.device import Device
from plugrad.dtype import DType, is_float
from plugrad.nn.checks import check_tensors
from plugrad.nn.named_state import UnsavedNames
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict, named_tensors, trained_tensors
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import as_flag
from plugrad.tree import named_leaves


class IncompatibleKeys(NamedTuple):
    """The names that `Module.load_state_dict` did not find on one of both sides.

    Example:
        >>> Linear(1, 1, bias=False).load_state_dict(Linear(1, 1).state_dict(), strict=False)
        IncompatibleKeys(missing_keys=[], unexpected_keys=['bias'])
    """

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """A layer or a model: `forward` computes its output, its attributes are its state.

    Any class with tensors and layers in its attributes, lists and dicts is a model, for `get_parameters` and
    for the methods here. This base class adds those methods, with PyTorch's names. There is nothing to
    register: a parameter is a tensor that requires a gradient, a buffer one that does not. `__init__` need
    not be called.

    Example:
        >>> class Net(Module):
        ...     def __init__(self):
        ...         self.hidden, self.out = Linear(3, 4), Linear(4, 2)
        ...
        ...     def forward(self, x: Tensor) -> Tensor:
        ...         return self.out(self.hidden(x).relu())
        >>> net = Net()
        >>> net(Tensor.ones(5, 3)).shape, [name for name, _ in net.named_parameters()][:2]
        ((5, 2), ['hidden.weight', 'hidden.bias'])
        >>> net
        Net(
          (hidden): Linear(in_features=3, out_features=4)  # 16 parameters
          (out): Linear(in_features=4, out_features=2)  # 10 parameters
        )  # 26 parameters
    """

    # None: as `Tensor.training` says
    _mode: bool | None = None
    _unsaved: UnsavedNames | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward` in the mode that `train` or `eval` has set."""
        if self._mode is None:
            return self.forward(*args, **kwargs)
        with Tensor.train(self._mode):
            return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output: a subclass says how."""
        raise NotImplementedError(f"{type(self).__name__} has no method `forward`. Define it.")

    # --- parameters and state ---

    def parameters(self) -> Iterator[Tensor]:
        """Yield the tensors to be trained, each once: those of `get_parameters`.

        Example:
            >>> sum(p.numel() for p in Linear(3, 4).parameters())
            16
        """
        yield from get_parameters(self)

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Yield the tensors to be trained, each once, with their names.

        Example:
            >>> [name for name, _ in Linear(3, 4).named_parameters("layer")]
            ['layer.weight', 'layer.bias']
        """
        return self._named_tensors(prefix, requires_grad=True)

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Yield the tensors of the state that are not trained, each once, with their names.

        Example:
            >>> [name for name, _ in BatchNorm2d(3).named_buffers()]
            ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return self._named_tensors(prefix, requires_grad=False)

    def buffers(self) -> Iterator[Tensor]:
        """Yield the tensors of the state that are not trained, each once.

        Example:
            >>> len(list(BatchNorm2d(3).buffers()))
            3
        """
        return (tensor for _, tensor in self.named_buffers())

    def _named_tensors(self, prefix: str, requires_grad: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        for name, tensor in named_tensors(self, prefix).items():
            if tensor.requires_grad == requires_grad and id(tensor) not in seen:
                seen.add(id(tensor))
                yield name, tensor

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make a tensor that is not trained an attribute; assigning it does the same.

        Args:
            name: that of the attribute.
            tensor: its value; None for none yet.
            persistent: False leaves it out of `state_dict`, and so of files, but not of `to`.

        Example:
            >>> layer = Identity()
            >>> layer.register_buffer("offset", Tensor([1.0]))
            >>> layer.offset.requires_grad
            False
        """
        if tensor is not None:
            tensor.requires_grad = False
        setattr(self, name, tensor)
        if not as_flag(persistent, "register_buffer: persistent"):
            # a new set: those of copies are their own
            self._unsaved = UnsavedNames({*(self._unsaved or ()), name})
        elif self._unsaved:
            self._unsaved = UnsavedNames(self._unsaved - {name})

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return the tensors of the state by name: `get_state_dict`.

        Example:
            >>> list(Linear(3, 4).state_dict())
            ['weight', 'bias']
        """
        return get_state_dict(self, prefix)

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> IncompatibleKeys:
        """Copy values into the tensors with the same names: `plugrad.nn.state.load_state_dict`.

        Returns:
            The names that only the model has, and those that only `state_dict` has.

        Raises:
            StateError: `strict`, and the names differ; or `state_dict` is not texts with tensors.
            ShapeError: a value has another shape than the model's tensor.

        Example:
            >>> Linear(3, 4).load_state_dict(Linear(3, 4).state_dict())
            IncompatibleKeys(missing_keys=[], unexpected_keys=[])
        """
        load_state_dict(self, state_dict, strict)
        own = get_state_dict(self)
        return IncompatibleKeys(sorted(own.keys() - state_dict), sorted(state_dict.keys() - own))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Args:
            set_to_none: False makes those that are there zeros.

        Example:
            >>> layer = Linear(3, 4)
            >>> _ = layer(Tensor.ones(3)).sum().backward()
            >>> layer.zero_grad()
            >>> layer.weight.grad is None
            True
        """
        for p in trained_tensors(named_leaves(self, Tensor)):
            p.grad = None if set_to_none or p.grad is None else Tensor.zeros_like(p.grad)

    def to(self, device: "str | DType | Tensor | None" = None, dtype: DType | None = None) -> Self:
        """Move the state to a device, and cast floats to a dtype; return this.

        Args:
            device: where to. A dtype in its place is that, and a tensor stands for its device and dtype.
            dtype: what to cast floats to; by default they stay what they are.

        Raises:
            DeviceNotFound: there is no such device.

        Example:
            >>> Linear(3, 4).to(dtypes.float16).weight.dtype.name
            'float16'
        """
        if isinstance(device, Tensor):
            device, dtype = device.device, dtype or device.dtype
        elif isinstance(device, DType):
            device, dtype = None, device
        where = None if device is None else Device.present(device)
        tensors = named_tensors(self).values()
        moved = [t.detach().to(where, dtype if is_float(t.dtype) else None) for t in tensors]
        # a device that cannot be opened leaves all of the model where it is
        Tensor.realize(*moved)
        for tensor, new in zip(tensors, moved, strict=True):
            # what is there already would be replaced by itself without its gradient
            if (new.device, new.dtype) != (tensor.device, tensor.dtype):
                tensor.replace(new)
        return self

    # --- training or not ---

    @property
    def training(self) -> bool:
        """Whether calls behave as in training: the mode of `train` or `eval`, else `Tensor.training`.

        Example:
            >>> layer = Dropout(0.5)
            >>> layer.training, layer.train().training, layer.eval().training
            (False, True, False)
        """
        return Tensor.training if self._mode is None else self._mode

    def train(self, mode: bool = True) -> Self:
        """Switch this module and all modules in it to training; return this.

        All that a call computes does, functions as well. Before the first `train` or `eval`, calls behave as
        `Tensor.training` says, which is False unless set.

        Example:
            >>> model = Sequential(Linear(3, 4), Dropout(0.5)).train()
            >>> model[1].training
            True
        """
        mode = as_flag(mode, "train: mode")
        for module in self.modules():
            module._mode = mode
        return self

    def eval(self) -> Self:
        """Switch this module and all modules in it to use: `train(False)`.

        Example:
            >>> Dropout(0.5).eval()(Tensor([1.0])).item()
            1.0
        """
        return self.train(False)

    # --- structure ---

    def named_children(self) -> "Iterator[tuple[str, Module]]":
        """Yield the modules directly below this one with their names.

        Example:
            >>> [name for name, _ in Sequential(Linear(3, 4), Sequential(Linear(4, 2))).named_children()]
            ['0', '1']
        """
        return named_leaves(self, Module, below=True)

    def children(self) -> "Iterator[Module]":
        """Yield the modules directly below this one.

        Example:
            >>> [type(module).__name__ for module in Sequential(Linear(3, 4), ReLU()).children()]
            ['Linear', 'ReLU']
        """
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> "Iterator[tuple[str, Module]]":
        """Yield this module and all modules below it, each once, with their names.

        Example:
            >>> [name for name, _ in Sequential(Linear(3, 4), Sequential(Linear(4, 2))).named_modules()]
            ['', '0', '1', '1.0']
        """
        return self._named_modules(prefix, set())

    def _named_modules(self, prefix: str, seen: set[int]) -> "Iterator[tuple[str, Module]]":
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, module in self.named_children():
            yield from module._named_modules(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> "Iterator[Module]":
        """Yield this module and all modules below it, each once.

        Example:
            >>> [type(module).__name__ for module in Sequential(Linear(3, 4)).modules()]
            ['Sequential', 'Linear']
        """
        return (module for _, module in self.named_modules())

    def apply(self, function: "Callable[[Module], Any]") -> Self:
        """Call a function with each module below this one, then this one; return this.

        Example:
            >>> found = []
            >>> _ = Sequential(Linear(3, 4)).apply(lambda module: found.append(type(module).__name__))
            >>> found
            ['Linear', 'Sequential']
        """
        for module in reversed(list(self.modules())):
            function(module)
        return self

    def _parts(self) -> Iterator[tuple[str, object]]:
        """Yield the lines of the structure for `repr`."""
        return self.named_children()

    def __repr__(self) -> str:
        lines = [f"  ({name}): {_show(part)}".replace("\n", "\n  ") for name, part in self._parts()]
        inner = "\n".join(["", *lines, ""]) if lines else ", ".join(_settings(self))
        count = count_parameters(self)
        return f"{type(self).__name__}({inner})" + (f"  # {count} parameters" if count else "")


def Parameter(data: Any, requires_grad: bool = True) -> Tensor:
    """Return a tensor of `data` to be trained; a tensor itself, where `data` is one.

    Example:
        >>> Parameter([1.0, 2.0]).requires_grad, Parameter(Tensor([1.0]), False).requires_grad
        (True, False)
    """
    tensor = data if isinstance(data, Tensor) else Tensor(data)
    tensor.requires_grad = requires_grad
    return tensor


class UnaryModule(Module):
    """A module of one tensor."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output for `x`."""
        check_tensors(self, x=x)
        return super().__call__(x)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output for `x`: a subclass says how."""
        raise NotImplementedError


@dataclass_transform(eq_default=False)
class FunctionModule(Module):
    """A module that calls a function of tensors, with its own fields as keywords.

    `class ELU(FunctionModule, function=Tensor.elu)` with a field `alpha` is a dataclass of that setting.
    """

    _function: ClassVar[Callable[..., Any]]
    _settings: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, function: Callable[..., Any] | None = None) -> None:
        super().__init_subclass__()
        if inspect.get_annotations(cls):
            made: Any = dataclass(cls, eq=False, repr=False)
            # results are new tensors, in memory of the compiler's choice
            cls._settings = tuple(field.name for field in fields(made) if field.name != "inplace")
        if function is not None:
            cls._function = staticmethod(function)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        return self._function(*inputs, **{name: getattr(self, name) for name in self._settings}, **options)


class UnaryFunction(FunctionModule, UnaryModule):
    """A module that calls a function of one tensor with its fields in order."""

    def forward(self, x: Tensor) -> Tensor:
        # by keyword, a second name such as `dim` would be looked up at each call
        return self._function(x, *[getattr(self, name) for name in self._settings])


def count_parameters(model: object) -> int:
    """Return the number of trained numbers."""
    counts: list[Any] = [p.numel() for p in trained_tensors(named_leaves(model, Tensor))]
    return sum(counts)


def _show(part: object) -> str:
    return repr(part) if isinstance(part, Module) else getattr(part, "__name__", type(part).__name__)


def _settings(module: Module) -> Iterator[str]:
    """Yield the arguments of the constructor that are attributes and not the defaults."""
    for name, parameter in inspect.signature(type(module).__init__).parameters.items():
        value = vars(module).get(name, parameter.default)
        if value is None and parameter.default is True:
            # a bias that is not there
            value = False
        if not isinstance(value, (Tensor, Module)) and value != parameter.default:
            yield f"{name}={value!r}"
