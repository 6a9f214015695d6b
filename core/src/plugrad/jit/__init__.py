"""Replay what a function of tensors did, without running its Python again.

This module can itself be called: `from plugrad import jit` names it as soon as anything imported it, and
whoever writes that wants the decorator.
"""

from plugrad._util import make_callable
from plugrad.jit.jit import JitWarning, TinyJit, jit

__all__ = ["JitWarning", "TinyJit", "jit"]

make_callable(__name__, jit)
