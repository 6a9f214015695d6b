"""One table of all operations of `Tensor`: their calls, and their meaning to NumPy."""

from plugrad_conformance.operations.check import Done, do, faults
from plugrad_conformance.operations.operation import Operation
from plugrad_conformance.operations.table import EXCUSED, OPERATIONS

__all__ = ["EXCUSED", "OPERATIONS", "Done", "Operation", "do", "faults"]
