"""Tests of plugrad_conformance.adopt: what a backend's own test file is made of."""

from plugrad_conformance import suite

test_conformance = suite("PYTHON", profile="minimal")
