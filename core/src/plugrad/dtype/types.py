"""`DType`: one element type, or a vector of it."""

from functools import cache
from typing import Literal

from plugrad._frozen import frozen

Kind = Literal["void", "bool", "int", "uint", "float", "complex", "index"]
ConstType = bool | int | float
#: What an element of a tensor may be made of.
Number = ConstType | complex


# the scalar types by name; `elements` fills it
SCALARS: "dict[str, DType]" = {}


@frozen(eq=False)
class DType:
    """One element type, or a vector of `count` lanes of it.

    Instances are interned: compare with `is`. `itemsize` is the bytes of one lane, `nbytes` of all.

    Example:
        >>> dtypes.int16.name, dtypes.int16.itemsize, dtypes.int16 is dtypes.short
        ('int16', 2, True)
    """

    name: str
    itemsize: int
    kind: Kind
    priority: int
    fmt: str | None
    count: int = 1

    def __repr__(self) -> str:
        return f"dtypes.{self.name}" + (f".vec({self.count})" if self.count > 1 else "")

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.name, self.count)

    def __copy__(self) -> "DType":
        return self

    def __deepcopy__(self, memo: object) -> "DType":
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of all lanes.

        Example:
            >>> dtypes.float32.vec(4).nbytes
            16
        """
        return self.itemsize * self.count

    def vec(self, count: int) -> "DType":
        """Return the vector type of `count` lanes of this scalar type, itself for one lane.

        Example:
            >>> dtypes.float32.vec(4)
            dtypes.float32.vec(4)
        """
        return _vec(self.scalar(), count)

    def scalar(self) -> "DType":
        """Return the type of one lane.

        Example:
            >>> dtypes.float32.vec(4).scalar() is dtypes.float32
            True
        """
        return SCALARS[self.name] if self.count > 1 else self


@cache
def _vec(scalar: DType, count: int) -> DType:
    if count == 1:
        return scalar
    return DType(scalar.name, scalar.itemsize, scalar.kind, scalar.priority, scalar.fmt, count)


def _restore(name: str, count: int) -> DType:
    return _vec(SCALARS[name], count)
