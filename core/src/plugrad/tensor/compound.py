"""Objects that are made of tensors: where tensors are looked for, these are looked into."""

from typing import Any

__all__ = ["Compound"]


class Compound:
    """An object that stands for some tensors, its parts, as an array of complex numbers does.

    Jitted and differentiated functions take and return it as they do a tuple of the parts. Operators of
    tensors leave what it means beside a tensor to its own.
    """

    __slots__ = ()

    def parts(self) -> tuple[Any, ...]:
        """Return the tensors."""
        raise NotImplementedError

    @classmethod
    def of_parts(cls, *parts: Any) -> Any:
        """Return an object of such parts; they are tensors, or what holds their places."""
        raise NotImplementedError
