"""What is known of a plugin before its device opens, however little of it is written."""

from types import SimpleNamespace

import pytest

from plugrad.device import Device
from plugrad.dtype import STORABLE
from plugrad_conformance import report
from plugrad_conformance.harness.facts import PluginFacts


@pytest.fixture
def nothing_opens(monkeypatch):
    """Devices that cannot be opened."""

    def refuse(self, name):
        raise AssertionError(f"{name} was opened")

    monkeypatch.setattr(type(Device), "__getitem__", refuse)


@pytest.mark.parametrize(("device", "dtypes"), [("DISK", set()), ("NULL", {d.name for d in STORABLE})])
def test_a_report_describes_a_device_that_does_not_open(nothing_opens, device, dtypes):
    described = report._device(SimpleNamespace(name=device, facts=PluginFacts(device)))
    assert (described["name"], set(described["dtypes"])) == (device, dtypes)


def test_a_device_that_the_probe_does_not_list_is_described_as_the_first():
    facts = PluginFacts("PYTHON:3")
    assert facts.probed == facts.backend.probe().devices[0]
