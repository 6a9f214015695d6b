"""What neural networks are made of: the mixins of all its topics, joined."""

from plugrad.tensor.classification import ClassificationMixin
from plugrad.tensor.convolution import ConvolutionMixin
from plugrad.tensor.ctc import CtcMixin
from plugrad.tensor.dropout import DropoutMixin
from plugrad.tensor.grid_sample import GridSampleMixin
from plugrad.tensor.interpolation import InterpolationMixin
from plugrad.tensor.losses import LossMixin
from plugrad.tensor.normalization import NormalizationMixin
from plugrad.tensor.pixels import PixelMixin


class FunctionalMixin(
    ClassificationMixin,
    ConvolutionMixin,
    CtcMixin,
    DropoutMixin,
    GridSampleMixin,
    InterpolationMixin,
    LossMixin,
    NormalizationMixin,
    PixelMixin,
):
    """Layers as functions; `plugrad.nn` keeps their parameters."""

    __slots__ = ()
