"""Every test of tensors runs on each device that needs no hardware, and starts from one seed.

`PLUGRAD_TEST_DEVICES="CUDA OPENCL"` names other devices to run them on.
"""

import os
from collections.abc import Iterator

import pytest

from plugrad import Device, Tensor, context
from plugrad.errors import DeviceNotFound


@pytest.fixture(params=os.environ.get("PLUGRAD_TEST_DEVICES", "PYTHON CPU").split(), autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    try:
        Device.canonicalize(request.param)
    except DeviceNotFound as error:
        pytest.skip(str(error))
    with context(DEVICE=request.param):
        Tensor.manual_seed(7)
        yield request.param
