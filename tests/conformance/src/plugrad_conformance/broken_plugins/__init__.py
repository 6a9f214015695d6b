"""Plugins with one defect each, to test reports and isolation.

    from plugrad_conformance.broken_plugins import site    # in a conftest.py: a fixture

    def test_bad_plugins_are_named(site):
        site.install_good()                     # the device CHIP works
        site.install_broken(BROKEN["system-exit"])

`python -m plugrad_conformance.broken_plugins FOLDER` installs all of them in a folder of `sys.path`.
"""

from plugrad_conformance.broken_plugins.fixtures import PluginSite, site
from plugrad_conformance.broken_plugins.plugins import BROKEN, BrokenPlugin, Shows

__all__ = ["BROKEN", "BrokenPlugin", "PluginSite", "Shows", "site"]
