"""A record holds what its annotations say, however deep."""

from dataclasses import replace

import pytest

from plugrad.dtype import dtypes
from plugrad.plugin.backend import ProbedDevice
from plugrad.plugin.fields import type_mismatch
from plugrad.target import Capabilities, Evidence, Target

DEVICE = ProbedDevice(Target("CHIP", 0, "v1", (("a", "b"),)), "a chip", notes=(("c", "d"),))


def test_what_fits_is_silent() -> None:
    capabilities = Capabilities(frozenset({dtypes.float32}), frozenset({dtypes.bool}), max_grid=(1, 2))
    assert type_mismatch(DEVICE, ProbedDevice, "") is None
    assert type_mismatch(replace(DEVICE, priority=3, evidence=Evidence.E2), ProbedDevice, "") is None
    assert type_mismatch(capabilities, Capabilities, "") is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"description": None}, "description is None, not str"),
        ({"evidence": "E3"}, "evidence is str 'E3', not Evidence"),
        ({"priority": "high"}, "priority is str 'high', not int | None"),
        ({"notes": {"a": "b"}}, "notes is dict {'a': 'b'}, not tuple"),
        ({"notes": (("a", "b"), ("c", 4))}, "notes[1][1] is int 4, not str"),
        ({"notes": (("a", "b", "c"),)}, "notes[0] is tuple ('a', 'b', 'c'), not a tuple of 2"),
        ({"target": Target("CHIP", detail=(("a", 1),))}, "target.detail[0][1] is int 1, not str"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_does_not_is_named_with_its_place(change: dict[str, object], said: str) -> None:
    assert type_mismatch(replace(DEVICE, **change), ProbedDevice, "") == said  # pyright: ignore[reportArgumentType]
