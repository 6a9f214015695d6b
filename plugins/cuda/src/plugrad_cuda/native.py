"""Declare the functions of the driver and NVRTC to cffi.

C values have no types in Python, so none are promised.
"""

from typing import Any

from plugrad_cuda import _native

ffi: Any = _native.ffi
