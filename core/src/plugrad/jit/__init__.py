"""Replay what a function of tensors did, without running its Python again.

This module can itself be called: `from plugrad import jit` names it as soon as anything imported it, and
whoever writes that wants the decorator.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import ParamSpec, TypeVar

from plugrad.jit.jit import JitWarning, TinyJit, jit

__all__ = ["JitWarning", "TinyJit", "jit"]

P = ParamSpec("P")
R = TypeVar("R")


class _Decorator(ModuleType):
    def __call__(self, function: Callable[P, R]) -> TinyJit[P, R]:
        return jit(function)


sys.modules[__name__].__class__ = _Decorator
