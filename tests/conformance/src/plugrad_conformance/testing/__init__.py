"""Helpers for tests of plugrad, of plugins and of programs that use it."""

from plugrad_conformance.testing.scopes import recorded_events, temporary_cache

__all__ = ["recorded_events", "temporary_cache"]
