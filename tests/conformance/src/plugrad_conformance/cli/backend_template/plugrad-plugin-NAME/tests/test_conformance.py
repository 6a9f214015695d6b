from plugrad_conformance import suite

test_conformance = suite("$DEVICE", profile="minimal")
