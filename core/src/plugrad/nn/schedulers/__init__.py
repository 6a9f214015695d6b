"""Learning rates that follow the number of steps, or a loss.

A schedule sets the learning rate tensors of an optimizer's groups, which jitted steps read: call its `step()`
outside of the jitted function. Rates are computed from the step's number and the rates at the start, not from
those of the step before.
"""

from plugrad.nn.schedulers.closed_form import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from plugrad.nn.schedulers.one_cycle import OneCycleLR
from plugrad.nn.schedulers.plateau import ReduceLROnPlateau
from plugrad.nn.schedulers.scheduler import LRScheduler, SequentialLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
