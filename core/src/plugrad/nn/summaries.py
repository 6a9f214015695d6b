"""`summary`: the layers of a model, their outputs and parameters as a table."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from plugrad._frozen import frozen
from plugrad.errors import ArgumentError
from plugrad.nn.layers.containers import Layer, Sequential
from plugrad.nn.module import Module, count_parameters
from plugrad.tensor import Tensor
from plugrad.tensor.shapes import show
from plugrad.tree import iter_leaves, named_leaves


@frozen
class LayerSummary:
    """A line of a summary.

    Attributes:
        name: the path to the module.
        kind: its class.
        shapes: those of the tensors that it returned last; none if it was not called.
        parameters: how many numbers are trained in it and below it.

    Example:
        >>> summary(Linear(3, 4), Tensor.ones(2, 3)).layers[0].shapes
        ((2, 4),)
    """

    name: str
    kind: str
    shapes: tuple[tuple[Any, ...], ...]
    parameters: int


@frozen
class Summary:
    """The layers of a model; `print` shows them as a table.

    Attributes:
        layers: the model and all modules below it, each before those inside of it.
        parameters: how many numbers are trained.

    Example:
        >>> summary(Linear(3, 4)).parameters
        16
    """

    layers: list[LayerSummary]
    parameters: int

    def __repr__(self) -> str:
        rows = [("layer", "class", "output", "parameters")]
        for layer in self.layers:
            shapes = ", ".join(map(show, layer.shapes))
            rows.append((layer.name or "(model)", layer.kind, shapes, f"{layer.parameters:,}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)])
            + f"  {row[3]:>{widths[3]}}"
            for row in rows
        ]
        rule = "-" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:], rule, f"{self.parameters:,} parameters"])


def summary(model: Callable[..., Any] | Sequence[Layer], *inputs: Any, **options: Any) -> Summary:
    """Return the layers of a model with the shapes of their outputs and their parameters.

    The model is called in the mode of use, and nothing is computed.

    Args:
        model: what to describe; any class with modules in its attributes is one, and a list of layers.
        inputs: what it takes; without any, there are no shapes.
        options: what it takes by name.

    Raises:
        ArgumentError: there are inputs for something that cannot be called.

    Example:
        >>> print(summary(Sequential(Linear(3, 4), ReLU()), Tensor.ones(2, 3)))
        layer    class       output  parameters
        ---------------------------------------
        (model)  Sequential  (2, 4)          16
        0        Linear      (2, 4)          16
        1        ReLU        (2, 4)           0
        ---------------------------------------
        16 parameters
    """
    parts: dict[int, tuple[str, Any]] = {id(model): ("", model)}
    for path, outer in named_leaves(model, Module):
        for name, module in outer.named_modules(path):
            parts.setdefault(id(module), (name, module))
    modules = [part for _, part in parts.values() if isinstance(part, Module)]
    shapes = _shapes_of_outputs(model, modules, inputs, options) if inputs or options else {}
    layers = [
        LayerSummary(name, type(part).__name__, shapes.get(id(part), ()), count_parameters(part))
        for name, part in parts.values()
    ]
    return Summary(layers, count_parameters(model))


def _shapes_of_outputs(
    model: Any, modules: list[Module], inputs: Any, options: Any
) -> dict[int, tuple[tuple[Any, ...], ...]]:
    """Call a model and return the shapes that it and each of its modules returned."""
    shapes: dict[int, tuple[tuple[Any, ...], ...]] = {}
    function = _function_of(model)

    def note(part: object, out: Any) -> None:
        shapes[id(part)] = tuple(leaf.shape for leaf in iter_leaves(out) if isinstance(leaf, Tensor))

    def record(module: Module) -> Any:
        forward = module.forward

        def recorded(*args: Any, **kwargs: Any) -> Any:
            out = forward(*args, **kwargs)
            note(module, out)
            return out

        return recorded

    attributes = [(vars(module), dict(vars(module))) for module in modules]
    try:
        for module in modules:
            # an attribute of the object comes before the method of its class
            vars(module)["forward"] = record(module)
            module.eval()
        note(model, function(*inputs, **options))
    finally:
        for now, before in attributes:
            now.clear()
            now.update(before)
    return shapes


def _function_of(model: Any) -> Callable[..., Any]:
    """Return the function of a model: a list of layers is called as a Sequential."""
    if callable(model):
        return model
    if isinstance(model, list | tuple):
        return Sequential(*cast("list[Layer]", model))
    raise ArgumentError(
        f"summary: {type(model).__name__} is no function of inputs. Pass a module or a list of layers, "
        "or leave out the inputs for its parameters alone."
    )
