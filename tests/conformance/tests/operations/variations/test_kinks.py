"""Expected gradients at kinks are those of PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from plugrad_conformance.operations.variations.kinks import KINKS, Kink


class Theirs(torch.Tensor):
    """A tensor of PyTorch whose methods are also what PyTorch has as functions."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        for where in (F, torch, torch.linalg):
            if hasattr(where, name):
                return lambda *args, **options: getattr(where, name)(self, *args, **options)
        raise AttributeError(name)


def _ends(x: Any) -> Any:
    least, most = torch.aminmax(x, dim=1)
    return least + 2 * most


#: What PyTorch spells otherwise.
SPELLED: dict[str, Callable[..., Any]] = {
    "max/equals": lambda x: torch.amax(x, 1),
    "min/equals": lambda x: torch.amin(x, 1),
    "aminmax/equals": _ends,
    "where/NaN that is not chosen": lambda x: torch.where(x > 0, x, 0.0),
    "where/a root that is not chosen": lambda x: torch.where(x > 0, x.sqrt(), 0.0),
    "normalize/0": lambda x: F.normalize(x),
    "layer_norm/elements that are equal": lambda x: F.layer_norm(x, (3,)),
    "rms_norm/0": lambda x: F.rms_norm(x, (3,), eps=1e-3),
}


@pytest.mark.parametrize("kink", KINKS, ids=lambda kink: kink.id)
def test_gradients_at_kinks_are_those_of_torch(kink: Kink) -> None:
    inputs = [torch.tensor(x).as_subclass(Theirs) for x in kink.inputs]
    targets = [inputs[i] for i in kink.targets]
    for x in targets:
        x.requires_grad_()
    function: Any = SPELLED.get(kink.id, kink.function)
    found = torch.autograd.grad(function(*inputs).sum(), targets)
    for ours, theirs in zip(kink.slopes, found, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_kinks_have_ids_of_their_own() -> None:
    assert len({kink.id for kink in KINKS}) == len(KINKS)
