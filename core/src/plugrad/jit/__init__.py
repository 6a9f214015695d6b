"""Replay what a function of tensors did, without running its Python again."""

from plugrad.jit.jit import TinyJit, jit

__all__ = ["TinyJit", "jit"]
