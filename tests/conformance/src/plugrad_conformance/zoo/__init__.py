"""Plugins that are broken, each in one way, to show that every one is reported and hurts no other.

    from plugrad_conformance.zoo import zoo    # in a conftest.py: a fixture

    def test_bad_plugins_are_named(zoo):
        zoo.install_good()                     # the device CHIP works
        zoo.install_animal(ANIMALS["system-exit"])

`python -m plugrad_conformance.zoo FOLDER` installs all of them, for an interpreter with FOLDER on its path.
"""

from plugrad_conformance.zoo.animals import ANIMALS, Animal, Shows
from plugrad_conformance.zoo.habitat import Zoo, zoo

__all__ = ["ANIMALS", "Animal", "Shows", "Zoo", "zoo"]
