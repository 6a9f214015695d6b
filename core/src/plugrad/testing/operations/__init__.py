"""One table of all operations of `Tensor`: how each is called, and what it means to NumPy."""

from plugrad.testing.operations.check import Done, do, faults
from plugrad.testing.operations.operation import Operation
from plugrad.testing.operations.table import EXCUSED, OPERATIONS

__all__ = ["EXCUSED", "OPERATIONS", "Done", "Operation", "do", "faults"]
