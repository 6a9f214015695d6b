"""Run the command line with `python -m plugrad.cli`."""

import sys

from plugrad.cli.main import main

sys.exit(main())
