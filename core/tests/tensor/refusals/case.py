"""What a case of a documented error is."""

from collections.abc import Callable
from typing import Any

from plugrad import Tensor
from plugrad.jit import jit

#: (method, error, what is wrong, and a part of what is said)
Case = tuple[str, type[Exception], Callable[[Any], Any], str]


def trained(call: Callable[[], Any]) -> None:
    with Tensor.train():
        call()


def jitted(call: Callable[[Tensor], Any]) -> None:
    function = jit(call)
    for _ in range(3):
        function(Tensor([1.0, 2.0]).contiguous().realize())
