"""Observers of `plugrad.events`: code that prints, counts or records, and never computes.

`install()` subscribes what the settings ask for; the engine calls it before it works.
"""

from plugrad.observe.install import install, uninstall
from plugrad.observe.match_stats import MatchStats
from plugrad.observe.printer import Printer
from plugrad.observe.profiler import Profiler
from plugrad.observe.recorder import Recorder

__all__ = ["MatchStats", "Printer", "Profiler", "Recorder", "install", "uninstall"]
