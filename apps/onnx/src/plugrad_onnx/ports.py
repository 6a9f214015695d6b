"""Describe what goes into a model and comes out of it."""

from dataclasses import dataclass

from onnx import ValueInfoProto

from plugrad_onnx.values import type_name


@dataclass(frozen=True)
class Port:
    """Describe one input or output of a model.

    Attributes:
        name: of the value.
        element_type: number of `TensorProto.DataType`; 0 where it is no tensor.
        shape: sizes, names of dynamic ones, None for unknown ones; None where the rank is unknown.
        is_required: whether a caller has to give it.
    """

    name: str
    element_type: int
    shape: tuple[int | str | None, ...] | None
    is_required: bool = True

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ", ".join("?" if s is None else str(s) for s in self.shape)
        kind = type_name(self.element_type) if self.element_type else "sequence or optional"
        return f"{self.name}: {kind}[{sizes}]"


def port_of(value: ValueInfoProto, is_required: bool = True) -> Port:
    """Return the description of a declared value."""
    if not value.type.HasField("tensor_type"):
        return Port(value.name, 0, None, is_required)
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return Port(value.name, kind.elem_type, None, is_required)
    sizes = tuple(d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in kind.shape.dim)
    return Port(value.name, kind.elem_type, sizes, is_required)
