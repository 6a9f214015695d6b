"""Run the command line with `python -m plugrad`."""

import sys

from plugrad.cli.main import main

sys.exit(main())
