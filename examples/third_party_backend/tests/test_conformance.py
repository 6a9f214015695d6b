"""The shared suite, on this backend."""

from plugrad_conformance import suite

test_conformance = suite("LLVM", profile="core")
