"""The ground on which good plugins and bad ones live: distributions in a temporary folder."""

from plugrad_conformance.zoo import zoo

__all__ = ["zoo"]
