from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plugrad import Tensor
from plugrad.errors import ArgumentError, TransformError
from plugrad.transforms import (
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)

X = Tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("grad", grad),
        ("value_and_grad", value_and_grad),
        ("jacobian", jacobian),
        ("jacobian", hessian),
        ("jacfwd", jacfwd),
        ("vmap", vmap),
        ("checkpoint", checkpoint),
        ("vjp", lambda f: vjp(f, X)),
        ("jvp", lambda f: jvp(f, (X,), (X,))),
        ("linearize", lambda f: linearize(f, X)),
    ],
)
def test_what_is_no_function_is_refused_at_once(name: str, call: Callable[[Any], Any]) -> None:
    for wrong in (None, 3, "a", [len], X):
        with pytest.raises(TransformError, match=rf"^{name}: .* is no function"):
            call(wrong)


def test_flags_and_words_are_checked() -> None:
    wrong: Any
    for wrong in ("a", np.array([1, 0]), [True]):
        with pytest.raises(ArgumentError, match=r"vjp: has_aux=.* is neither True nor False"):
            vjp(lambda x: x, X, has_aux=wrong)
    for wrong in ("a", np.array(["same", "same"]), None):
        with pytest.raises(TransformError, match=r"randomness=.* is neither"):
            vmap(lambda x: x, randomness=wrong)  # pyright: ignore[reportArgumentType]
