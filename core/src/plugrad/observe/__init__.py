"""Observers of `plugrad.events`: code that prints, counts or records, and never computes.

`install()` subscribes what the settings ask for; the engine calls it before it works.
"""

from plugrad.observe.install import install, uninstall

__all__ = ["install", "uninstall"]
