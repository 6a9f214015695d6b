"""What neural networks are made of: the mixins of all its topics, joined."""

from collections.abc import Callable, Iterable
from typing import Any, Self

from plugrad.errors import ArgumentError
from plugrad.tensor.attention import AttentionMixin
from plugrad.tensor.avg_pooling import AvgPoolingMixin
from plugrad.tensor.classification import ClassificationMixin
from plugrad.tensor.ctc import CtcMixin
from plugrad.tensor.dropout import DropoutMixin
from plugrad.tensor.grid_sample import GridSampleMixin
from plugrad.tensor.interpolation import InterpolationMixin
from plugrad.tensor.losses import LossMixin
from plugrad.tensor.max_pooling import MaxPoolingMixin
from plugrad.tensor.normalization import NormalizationMixin
from plugrad.tensor.pixels import PixelMixin
from plugrad.tensor.transposed_convolution import TransposedConvolutionMixin
from plugrad.tensor.unpooling import UnpoolingMixin


class FunctionalMixin(
    AttentionMixin,
    AvgPoolingMixin,
    ClassificationMixin,
    CtcMixin,
    DropoutMixin,
    GridSampleMixin,
    InterpolationMixin,
    LossMixin,
    MaxPoolingMixin,
    NormalizationMixin,
    PixelMixin,
    TransposedConvolutionMixin,
    UnpoolingMixin,
):
    """Layers as functions; `plugrad.nn` keeps their parameters."""

    __slots__ = ()

    def sequential(self, layers: Iterable[Callable[[Self], Self]]) -> Self:
        """Return what the last of `layers` gives, each of which takes what the one before it gives.

        Raises:
            ArgumentError: these are no functions of tensors.

        Example:
            >>> Tensor([1.0, -4.0]).sequential([Tensor.abs, Tensor.sqrt]).tolist()
            [1.0, 2.0]
        """
        given: Any = layers
        if not hasattr(given, "__iter__"):
            raise ArgumentError(
                f"sequential: {given!r:.60} ({type(given).__name__}) are no layers. Pass a list."
            )
        out = self
        for layer in layers:
            if not callable(layer):
                raise ArgumentError(
                    f"sequential: {layer!r:.60} ({type(layer).__name__}) is no layer: call it."
                )
            out = layer(out)
        return out
