"""The shared test suite of plugrad's devices.

A backend's own tests run it in three lines:

    from plugrad_conformance import suite

    test_conformance = suite("MYCHIP", profile="minimal")
"""

from plugrad_conformance.adopt import suite
from plugrad_conformance.version import VERSION as __version__

__all__ = ["__version__", "suite"]
