"""The operators of ai.onnx.ml."""

from plugrad_onnx.operators.ml import features, trees

__all__ = ["features", "trees"]
