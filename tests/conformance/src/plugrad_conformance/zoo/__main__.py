"""Install all animals, and a plugin that works: `python -m plugrad_conformance.zoo FOLDER`."""

import argparse
from pathlib import Path

from plugrad_conformance.zoo.animals import ANIMALS
from plugrad_conformance.zoo.habitat import Zoo


def main() -> None:
    """Fill a new folder."""
    parser = argparse.ArgumentParser("python -m plugrad_conformance.zoo", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; must not be there yet")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True)
    zoo = Zoo(folder)
    zoo.install_good(**{"priority=50": "priority=60"})
    zoo.install_slow()
    zoo.install_rivals()
    for animal in ANIMALS.values():
        zoo.install_animal(animal)


if __name__ == "__main__":
    main()
