"""Install all broken plugins and a working one in a folder of `sys.path`."""

import argparse
from pathlib import Path

from plugrad_conformance.broken_plugins.fixtures import PluginSite
from plugrad_conformance.broken_plugins.plugins import BROKEN


def main() -> None:
    """Fill a new folder."""
    parser = argparse.ArgumentParser("python -m plugrad_conformance.broken_plugins", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; must not be there yet")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True)
    site = PluginSite(folder)
    site.install_good(**{"priority=50": "priority=60"})
    site.install_slow()
    site.install_rivals()
    for broken in BROKEN.values():
        site.install_broken(broken)


if __name__ == "__main__":
    main()
