"""Devices that need no hardware, the values that a test holds, and the kernels that run."""

from collections.abc import Callable, Iterator

import pytest

from plugrad.device import Device
from plugrad.engine.compile import clear_loaded
from plugrad.engine.realize import realize
from plugrad.engine.storage import Storage
from plugrad.errors import DeviceNotFound
from plugrad.events import CopyEvent, KernelEvent
from plugrad.uop.uop import UOp
from plugrad_conformance.testing import recorded_events


@pytest.fixture(params=["PYTHON", "CPU"])
def device(request: pytest.FixtureRequest) -> str:
    try:
        Device.canonicalize(request.param)
    except DeviceNotFound as error:
        pytest.skip(str(error))
    return str(request.param)


@pytest.fixture
def hold() -> Iterator[Callable[..., None]]:
    """Hold values as tensors do: what a test only has a name for is not looked after."""
    held: list[Storage] = []

    def hold_each(*values: UOp) -> None:
        for value in values:
            held.append(Storage(UOp.const(value.dtype, 0), "PYTHON"))
            # versions and views too are held as they are
            held[-1].uop = value

    yield hold_each
    held.clear()


@pytest.fixture
def launches() -> Callable[..., list[str]]:
    """Realize values, and return the names of the kernels and copies that ran."""

    def run(*values: UOp) -> list[str]:
        ran: list[str] = []
        with recorded_events(KernelEvent) as kernels, recorded_events(CopyEvent) as copies:
            realize(values, next((v.device for v in values if v.device), "PYTHON"))
        ran += [event.name.rsplit("_", 1)[0] for event in kernels]
        return ran + ["copy" for _ in copies]

    return run


@pytest.fixture
def cold_kernels() -> Iterator[None]:
    """Forget the kernels of this process before and after."""
    clear_loaded()
    yield
    clear_loaded()
