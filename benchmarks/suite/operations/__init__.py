"""Operations of the API at sizes of real programs, each in plugrad and in torch."""

from suite.operations import images, places, products, values
from suite.operations.operation import Operation

__all__ = ["OPERATIONS", "Operation"]

OPERATIONS = values.OPERATIONS + places.OPERATIONS + images.OPERATIONS + products.OPERATIONS
