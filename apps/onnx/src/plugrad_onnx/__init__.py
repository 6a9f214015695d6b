"""Load, run, check and export ONNX models.

from plugrad_onnx import load

outputs = load("model.onnx")(image)
"""

from plugrad_onnx.errors import InputError, InvalidModel, NodeError, OnnxError, UnsupportedModel
from plugrad_onnx.export import export
from plugrad_onnx.model import Model, load

__all__ = [
    "InputError",
    "InvalidModel",
    "Model",
    "NodeError",
    "OnnxError",
    "UnsupportedModel",
    "export",
    "load",
]
