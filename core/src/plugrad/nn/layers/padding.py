"""Padding as layers: more elements around sequences, images and volumes."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from plugrad.errors import ShapeError
from plugrad.nn.module import UnaryModule
from plugrad.tensor import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

PadMode = Literal["constant", "reflect", "replicate", "circular"]


class _Pad(UnaryModule):
    """More elements around the last axes, or fewer where widths are negative.

    Args:
        padding: widths before and after the last axis, then of the one before it, and so on; or one number
            for all.
    """

    axes: ClassVar[int] = 2
    mode: ClassVar[PadMode] = "constant"

    def __init_subclass__(cls, axes: int | None = None, mode: PadMode | None = None) -> None:
        cls.axes, cls.mode = axes or cls.axes, mode or cls.mode

    def __init__(self, padding: int | Sequence[int]) -> None:
        self.padding = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != 2 * self.axes:
            raise ShapeError(
                f"{type(self).__name__}: padding={self.padding} has {len(self.padding)} numbers: pass 1, or "
                f"{2 * self.axes}: before and after each of the last {self.axes} axes, the last one first."
            )

    def forward(self, x: Tensor) -> Tensor:
        return x.pad(self.padding, self.mode)


class _ConstantPad(_Pad):
    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        return x.pad(self.padding, self.mode, self.value)


class ZeroPad1d(_Pad, axes=1):
    """0s around sequences (N, C, L): `Tensor.pad`.

    Example:
        >>> ZeroPad1d(1)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 6)
    """


class ZeroPad2d(_Pad):
    """0s around images (N, C, H, W): `Tensor.pad`.

    Example:
        >>> ZeroPad2d(1)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 6, 6)
    """


class ZeroPad3d(_Pad, axes=3):
    """0s around volumes (N, C, D, H, W): `Tensor.pad`.

    Example:
        >>> ZeroPad3d(1)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 6, 6, 6)
    """


class ConstantPad1d(_ConstantPad, axes=1):
    """A number around sequences (N, C, L): `Tensor.pad`.

    Example:
        >>> ConstantPad1d(1, 9.0)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 6)
    """


class ConstantPad2d(_ConstantPad):
    """A number around images (N, C, H, W): `Tensor.pad`.

    Example:
        >>> ConstantPad2d(1, 9.0)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 6, 6)
    """


class ConstantPad3d(_ConstantPad, axes=3):
    """A number around volumes (N, C, D, H, W): `Tensor.pad`.

    Example:
        >>> ConstantPad3d(1, 9.0)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 6, 6, 6)
    """


class ReflectionPad1d(_Pad, axes=1, mode="reflect"):
    """Sequences (N, C, L) mirrored at their outermost elements: `Tensor.pad`.

    Example:
        >>> ReflectionPad1d(1)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 6)
    """


class ReflectionPad2d(_Pad, mode="reflect"):
    """Images (N, C, H, W) mirrored at their outermost elements: `Tensor.pad`.

    Example:
        >>> ReflectionPad2d(1)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 6, 6)
    """


class ReflectionPad3d(_Pad, axes=3, mode="reflect"):
    """Volumes (N, C, D, H, W) mirrored at their outermost elements: `Tensor.pad`.

    Example:
        >>> ReflectionPad3d(1)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 6, 6, 6)
    """


class ReplicationPad1d(_Pad, axes=1, mode="replicate"):
    """The outermost elements of sequences (N, C, L) again around them: `Tensor.pad`.

    Example:
        >>> ReplicationPad1d(1)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 6)
    """


class ReplicationPad2d(_Pad, mode="replicate"):
    """The outermost elements of images (N, C, H, W) again around them: `Tensor.pad`.

    Example:
        >>> ReplicationPad2d(1)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 6, 6)
    """


class ReplicationPad3d(_Pad, axes=3, mode="replicate"):
    """The outermost elements of volumes (N, C, D, H, W) again around them: `Tensor.pad`.

    Example:
        >>> ReplicationPad3d(1)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 6, 6, 6)
    """


class CircularPad1d(_Pad, axes=1, mode="circular"):
    """Sequences (N, C, L) wrapped around: `Tensor.pad`.

    Example:
        >>> CircularPad1d(1)(Tensor.ones(1, 1, 4)).shape
        (1, 1, 6)
    """


class CircularPad2d(_Pad, mode="circular"):
    """Images (N, C, H, W) wrapped around: `Tensor.pad`.

    Example:
        >>> CircularPad2d(1)(Tensor.ones(1, 1, 4, 4)).shape
        (1, 1, 6, 6)
    """


class CircularPad3d(_Pad, axes=3, mode="circular"):
    """Volumes (N, C, D, H, W) wrapped around: `Tensor.pad`.

    Example:
        >>> CircularPad3d(1)(Tensor.ones(1, 1, 4, 4, 4)).shape
        (1, 1, 6, 6, 6)
    """
