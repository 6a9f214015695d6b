"""Find the conformance kit, which the core imports by name and only on request."""

import importlib
import importlib.util
from typing import Any

from plugrad.errors import PlugradError

_MODULE = "plugrad_conformance"


def load_kit() -> Any:
    """Return the module that runs the suite.

    Raises:
        PlugradError: the kit is not installed; says how to.
    """
    if importlib.util.find_spec(_MODULE) is None:
        raise PlugradError(
            "the conformance suite is a distribution of its own, which is not installed. Install it with: "
            "pip install plugrad-conformance"
        )
    return importlib.import_module(f"{_MODULE}.run")
