"""Names of state that differ from those of attributes: of optimizers, and unsaved ones."""

from collections.abc import Mapping
from typing import Any

from plugrad.tensor import Tensor


class NamedState:
    """An object whose state has other names than its attributes.

    `get_state_dict` takes the names of `state_dict`, and `load_state_dict` the values back.
    """

    def state_dict(self) -> dict[str, Tensor]:
        """Return its state by name: a subclass says which."""
        raise NotImplementedError

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copy the values of `state` into its own: a subclass says how."""
        raise NotImplementedError


class UnsavedNames(set[str]):
    """The attributes beside this one in a module that are no part of its state."""


def advice_on_private_names(state: Mapping[Any, Any]) -> str:
    """Return advice where a file has an optimizer's private names, else no text."""
    private = next((name for name in state if "_groups." in str(name) or "_steps." in str(name)), None)
    if private is None:
        return ""
    return (
        f" {private!r} is a private name, which get_state_dict(optimizer) gave in earlier versions: read the "
        "file with the version that wrote it, and save optimizer.state_dict()."
    )
