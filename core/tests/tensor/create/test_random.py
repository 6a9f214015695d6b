import struct
from collections.abc import Callable

import numpy as np
import pytest

from plugrad import Device, Tensor, dtypes
from plugrad.engine import storage
from plugrad.tensor.create.random import RandomStream, stream
from plugrad.uop.ops import Ops
from plugrad_conformance.testing.tensor_oracle import threefry


def test_threefry_gives_the_known_answers() -> None:
    # Random123, kat_vectors: threefry2x32 20
    cases = [
        (0x0000000000000000, 0x0000000000000000, (0x6B200159, 0x99BA4EFE)),
        (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, (0x1CB996FC, 0xBB002BE7)),
        (0x85A308D3243F6A88, 0x0370734413198A2E, (0xC4923A9C, 0x483DF7A0)),
    ]
    for counter, key, (low, high) in cases:
        expected = [low | high << 32]
        assert threefry(np.array([counter], np.uint64), np.array([key], np.uint64)).tolist() == expected
        on_device = Tensor([counter], dtype="uint64").uop.threefry(Tensor([key], dtype="uint64").uop)
        assert Tensor(on_device).tolist() == expected


@pytest.mark.parametrize("make", [Tensor.rand, Tensor.randn, Tensor.randint])
def test_a_seed_gives_the_same_numbers_again_and_each_draw_others(make: Callable[..., Tensor]) -> None:
    Tensor.manual_seed(3)
    first, second = make(20), make(20)
    assert first.tolist() != second.tolist()
    Tensor.manual_seed(3)
    again = make(40)
    assert again.tolist() == first.tolist() + second.tolist()


def test_the_bits_are_those_of_the_counter_on_every_device() -> None:
    Tensor.manual_seed(11)
    Tensor.rand(5)
    bits = threefry(np.arange(5, 13, dtype=np.uint64), np.full(8, 11, np.uint64))
    expected = ((bits >> np.uint64(40)).astype(np.float64) * 2.0**-24).astype(np.float32)
    np.testing.assert_array_equal(Tensor.rand(2, 4).numpy().reshape(-1), expected)


def test_a_lazy_draw_keeps_its_numbers_whenever_it_is_computed() -> None:
    Tensor.manual_seed(5)
    early, late = Tensor.rand(4), Tensor.rand(4)
    numbers = late.tolist()
    Tensor.manual_seed(5)
    assert early.tolist() == Tensor.rand(4).tolist()
    assert Tensor.rand(4).tolist() == numbers


def test_two_draws_are_one_schedule_with_other_memory() -> None:
    first, second = Tensor.rand(4), Tensor.rand(4)
    assert [s.ast for s in first.schedule()] == [s.ast for s in second.schedule()]


def test_a_replayed_draw_gets_the_next_numbers_of_the_stream() -> None:
    Tensor.manual_seed(9)
    t = Tensor.rand(3)
    state = next(u for u in t.uop.toposort() if u.op is Ops.BUFFER)
    buffer = storage.buffer_of(state)
    assert stream.is_draw(buffer)
    assert not stream.is_draw(storage.buffer_of(Tensor([1], device="PYTHON").uop))
    assert struct.unpack("=2Q", bytes(buffer.as_memoryview())) == (9, 0)
    stream.refresh(buffer, {})
    assert struct.unpack("=2Q", bytes(buffer.as_memoryview())) == (9, 3)
    assert stream.counter == 6


def test_streams_are_independent_and_wrap_their_seed() -> None:
    one = RandomStream(-1)
    assert struct.unpack("=2Q", one.take(5)) == ((1 << 64) - 1, 0)
    assert struct.unpack("=2Q", one.take(5)) == ((1 << 64) - 1, 5)
    assert one.draw(4, Device.DEFAULT).dtype is dtypes.uint64
