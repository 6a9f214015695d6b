"""Names of state that differ from those of attributes: of optimizers, and unsaved ones."""

from collections.abc import Mapping

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
