"""Run `plugrad viz` as `python -m plugrad_viz`, from a tree that is not installed."""

import sys

from plugrad.errors import PlugradError
from plugrad_viz.cli import main

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PlugradError as error:
        sys.exit(f"plugrad viz: {error}")
