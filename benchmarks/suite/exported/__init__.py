"""What PyTorch exports, run by JAX: `Exported` of a network or of a function."""

from suite.exported.program import Exported, module_of

__all__ = ["Exported", "module_of"]
