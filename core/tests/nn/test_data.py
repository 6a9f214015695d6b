"""Tests of plugrad.nn.data."""

import importlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import torch.utils.data

from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.nn.data import DataLoader, TensorDataset, collate
from plugrad.tensor import Tensor

SQUARES = """
import numpy as np

class Squares:
    def __init__(self, broken=False):
        self.broken = broken
    def __len__(self):
        return 7
    def __getitem__(self, index):
        if self.broken:
            raise ValueError(f"example {index} is broken")
        return np.array([index, -index], np.float32), index * index
"""


@pytest.fixture
def squares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A class of data sets that worker processes can import."""
    (tmp_path / "squares_of_numbers.py").write_text(SQUARES)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("squares_of_numbers").Squares


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 7, 8])
def test_batches_are_torchs(batch_size: int, drop_last: bool, squares: Any) -> None:
    ours = DataLoader(squares(), batch_size, drop_last=drop_last)
    theirs = torch.utils.data.DataLoader(squares(), batch_size, drop_last=drop_last)
    assert len(ours) == len(theirs)
    found = [(x.tolist(), y.tolist()) for x, y in ours]
    assert found == [(x.tolist(), y.tolist()) for x, y in theirs]


def test_tensors_are_cut_into_batches() -> None:
    x = Tensor.arange(10).reshape(5, 2)
    loader = DataLoader(TensorDataset(x, x.sum(1)), 2)
    assert [(a.tolist(), b.tolist()) for a, b in loader] == [
        ([[0, 1], [2, 3]], [1, 5]),
        ([[4, 5], [6, 7]], [9, 13]),
        ([[8, 9]], [17]),
    ]


@pytest.mark.parametrize(
    "dataset", [TensorDataset(Tensor.arange(20)), list(range(20))], ids=["tensors", "list"]
)
def test_shuffled_epochs_have_all_examples_in_other_orders(dataset: Any) -> None:
    def epochs(seed: int) -> list[list[int]]:
        loader = DataLoader(dataset, 6, shuffle=True, seed=seed)
        parts = [[batch[0] if isinstance(batch, tuple) else batch for batch in loader] for _ in range(2)]
        return [[i for part in epoch for i in part.tolist()] for epoch in parts]

    first, second = epochs(1)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert epochs(1) == [first, second]


def test_workers_fetch_the_same_batches(squares: Any) -> None:
    loader = DataLoader(squares(), 3, num_workers=2, prefetch_factor=1)
    found = [(x.tolist(), y.tolist()) for x, y in loader]
    assert found == [(x.tolist(), y.tolist()) for x, y in DataLoader(squares(), 3)]
    # an epoch may be given up
    assert next(iter(loader))[1].tolist() == [0, 1, 4]


def test_an_error_of_a_worker_is_raised(squares: Any) -> None:
    with pytest.raises(ValueError, match="example 0 is broken"):
        list(DataLoader(squares(broken=True), 3, num_workers=1))


def test_a_worker_that_dies_says_what_belongs_below_main(
    monkeypatch: pytest.MonkeyPatch, squares: Any
) -> None:
    monkeypatch.setattr("plugrad.nn.data._start_worker", os._exit)
    with pytest.raises(RuntimeError) as caught:
        list(DataLoader(squares(), 3, num_workers=1))
    assert any('if __name__ == "__main__"' in note for note in caught.value.__notes__)


def test_examples_of_many_kinds_are_joined() -> None:
    found = collate([{"x": Pair(Tensor([1.0]), "a"), "y": [True, np.int8(3)]}] * 2)
    assert found["x"].left.tolist() == [[1.0], [1.0]]
    assert found["x"].right == ["a", "a"]
    assert found["y"][0].tolist() == [True, True]
    assert found["y"][1].dtype.name == "int8"


def test_a_function_may_make_batches() -> None:
    assert list(DataLoader([1, 2, 3], 2, collate_fn=sum)) == [3, 3]
    data = TensorDataset(Tensor([1, 2, 3]))
    assert [len(batch) for batch in DataLoader(data, 2, collate_fn=list)] == [2, 1]


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(ArgumentError, match="batch_size=0: pass an integer, 1 or more"):
        DataLoader([1], 0)
    with pytest.raises(ShapeError, match=r"tensors of shapes \(2,\), \(3,\): their first axes differ"):
        TensorDataset(Tensor.ones(2), Tensor.ones(3))
    with pytest.raises(ShapeError, match="first axes differ"):
        TensorDataset(Tensor(1.0))
    with pytest.raises(DtypeError, match="tensor 0 is"):
        TensorDataset([1])  # pyright: ignore[reportArgumentType]


def test_batches_are_the_same_where_their_progress_is_shown() -> None:
    dataset = TensorDataset(Tensor.arange(5))
    loaders = [DataLoader(dataset, batch_size=2, progress=shown) for shown in (False, True)]
    plain, shown = ([x.tolist() for (x,) in loader] for loader in loaders)
    assert plain == shown == [[0, 1], [2, 3], [4]]


def test_data_sets_and_loaders_print_their_sizes() -> None:
    dataset = TensorDataset(Tensor([[1.0, 2.0]] * 5), Tensor([0] * 5))
    assert repr(dataset) == "TensorDataset(5 examples of float32 (2,), int32 ())"
    loader = DataLoader(dataset, batch_size=2, shuffle=True)
    assert repr(loader) == f"DataLoader(3 batches of 2, shuffled, from {dataset!r})"
    assert repr(DataLoader([1, 2])) == "DataLoader(2 batches of 1, from list)"
