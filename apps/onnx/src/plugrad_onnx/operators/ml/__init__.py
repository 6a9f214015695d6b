"""The operators of ai.onnx.ml."""

from plugrad_onnx.operators.ml import features, maps, support_vectors, trees

__all__ = ["features", "maps", "support_vectors", "trees"]
