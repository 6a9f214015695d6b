"""Random graphs, realized and interpreted."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from plugrad.engine.realize import realize
from plugrad_conformance.testing.memory import get
from plugrad_conformance.testing.random_graphs import random_graph
from plugrad_conformance.testing.tensor_oracle import evaluate

Hold = Callable[..., None]


def check_random_graph(seed: int, devices: tuple[str, ...], hold: Hold) -> None:
    rng = random.Random(seed)
    graph = random_graph(seed, steps=rng.choice((6, 10, 16, 24)), devices=devices)
    want = evaluate(graph.values, graph.memory)
    hold(*graph.values)
    some = [rng.sample(graph.values, min(len(graph.values), rng.randint(1, 4))) for _ in range(3)]
    for roots in (*some, graph.values):
        realize(roots, devices[0])
        for root in filter(graph.keeps_value, roots):
            got = get(root)
            assert got.shape == root.shape
            np.testing.assert_array_equal(got, np.broadcast_to(want.values[root], root.shape), f"seed {seed}")


@pytest.mark.parametrize("seed", range(80))
def test_random_graphs_give_what_the_oracle_gives(seed: int, hold: Hold) -> None:
    check_random_graph(seed, ("PYTHON",), hold)


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_random_graphs_over_two_devices_give_what_the_oracle_gives(seed: int, hold: Hold) -> None:
    check_random_graph(seed, ("PYTHON", "PYTHON:1"), hold)


@pytest.mark.parametrize("seed", range(2000, 2030))
def test_random_graphs_give_what_the_oracle_gives_on_the_other_device(
    seed: int, device: str, hold: Hold
) -> None:
    if device == "PYTHON":
        pytest.skip("done above")
    check_random_graph(seed, (device,), hold)
