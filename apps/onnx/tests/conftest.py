"""What tests of models share."""

import sys
from pathlib import Path

# models.py beside the tests, which pytest does not put on the path with --import-mode=importlib
sys.path.insert(0, str(Path(__file__).parent))
