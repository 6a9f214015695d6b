"""The version of PTX is the oldest that serves, and never newer than the driver."""

import pytest

from plugrad_cuda.ptx.isa import choose


@pytest.mark.parametrize(
    ("version", "driver", "target", "ptx"),
    [
        ((7, 0), 0, (7, 0), (6, 0)),
        ((8, 0), 12000, (8, 0), (7, 0)),
        ((9, 0), 12000, (9, 0), (7, 8)),
        ((10, 0), 12090, (10, 0), (8, 6)),
        ((10, 0), 12040, (9, 0), (7, 8)),
        ((12, 1), 12080, (12, 0), (8, 7)),
        ((19, 9), 0, (12, 1), (8, 8)),
    ],
)
def test_targets_follow_the_gpu_and_the_driver(version, driver, target, ptx):
    chosen = choose(version, driver)
    assert (chosen.target, chosen.version) == (target, ptx)
