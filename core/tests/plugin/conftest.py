"""The ground on which good plugins and bad ones live: distributions in a temporary folder."""

from plugrad_conformance.broken_plugins import site

__all__ = ["site"]
