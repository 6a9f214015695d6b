"""Tests of plugrad.codegen.decompositions.threefry."""

import numpy as np
import pytest

from plugrad.builtin.python import CAPABILITIES
from plugrad.codegen.decompositions import decompose
from plugrad_conformance.testing.elementwise import compute_elementwise

# Source: Random123's kat_vectors, threefry2x32 with 20 rounds: counter, key and result as (low, high) words.
KNOWN_ANSWERS = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


def _join(words: tuple[int, int]) -> int:
    return words[0] | words[1] << 32


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
@pytest.mark.parametrize("lanes", [1, 2])
def test_the_published_answers_come_out(
    counter: tuple[int, int], key: tuple[int, int], expected: tuple[int, int], lanes: int
) -> None:
    got = compute_elementwise(
        lambda x, k: x.threefry(k),
        np.full(2, _join(counter), np.uint64),
        np.full(2, _join(key), np.uint64),
        lanes=lanes,
        lower=lambda sink: decompose(sink, CAPABILITIES),
    )
    assert got.tolist() == [_join(expected)] * 2
