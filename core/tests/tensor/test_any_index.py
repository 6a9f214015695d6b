"""Random indices of every kind, mixed, read and write as in NumPy; their gradients are those of torch."""

import random
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import PlugradError

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ELEMENTS = ["float32", "int32", "bool", "float64", "int8", "uint64", "float16"]

BATCHES = range(6)
EACH = {"PYTHON": 25, "CPU": 5}


def a_slice(rng: random.Random, size: int) -> slice:
    begin, end = (None if rng.random() < 0.35 else rng.randint(-size - 2, size + 2) for _ in range(2))
    return slice(begin, end, rng.choice([None, None, 1, 2, 3, -1, -1, -2, -3, 7, -7]))


def in_some_form(rng: random.Random, array: Any) -> Any:
    """Return the elements of an index as a tensor, an array, a list or a tuple."""
    form = rng.choice(["tensor", "tensor", "array", "list", "tuple"])
    if form == "tensor":
        return Tensor(array)
    if form == "array" or array.ndim == 0 or not array.size:
        return array
    return array.tolist() if form == "list" else tuple(array.tolist())


def an_index(rng: random.Random, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return one index twice: for NumPy and for us."""
    common = tuple(rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 1, 1, 2])))
    items: list[Any] = []
    ours: list[Any] = []
    axis, has_dots = 0, False
    while axis < len(shape) and len(items) < 6 and rng.random() < 0.9:
        size = shape[axis]
        kind = rng.choice(["none", "dots", "truth", "slice", "slice", "int", "array", "array", "mask"])
        item: Any = None
        if kind == "dots":
            if has_dots:
                continue
            item, has_dots = ..., True
            axis += rng.randint(0, len(shape) - axis)
        elif kind == "truth":
            item = rng.random() < 0.7
        elif kind == "slice":
            item = a_slice(rng, size)
            axis += 1
        elif kind == "int":
            item = rng.randint(-size - (rng.random() < 0.1), max(size - 1, 0))
            axis += 1
        elif kind == "array":
            dtype = rng.choice(INTEGERS)
            here = tuple(1 if rng.random() < 0.2 else n for n in common[rng.randint(0, len(common)) :])
            here = here if size else (*here, 0)
            low = 0 if dtype.startswith("u") else -size
            numbers = [rng.randint(low, size - 1) for _ in range(int(np.prod(here)))]
            item = np.array(numbers, dtype).reshape(here)
            axis += 1
        elif kind == "mask":
            covered = shape[axis : axis + rng.choice([1, 1, 2])]
            item = np.array([rng.random() < 0.5 for _ in range(int(np.prod(covered)))], bool).reshape(covered)
            axis += len(covered)
        items.append(item)
        ours.append(in_some_form(rng, item) if isinstance(item, np.ndarray) else item)
    return tuple(items), tuple(ours)


def a_tensor(rng: random.Random) -> tuple[Any, Tensor]:
    shape = tuple(rng.choice([0, 1, 2, 2, 3, 3, 4, 5]) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4])))
    x = (np.arange(int(np.prod(shape))) % 120).astype(rng.choice(ELEMENTS)).reshape(shape)
    t = Tensor(x)
    if shape and rng.random() < 0.4:
        return (x[::-1].T, t.flip(0).T) if rng.random() < 0.5 else (x[1:], t[1:])
    return x, t


def seeds(batch: int, device: str) -> list[int]:
    count = EACH.get(device, 5)
    return list(range(batch * count, (batch + 1) * count))


@pytest.mark.parametrize("batch", BATCHES)
def test_reading_is_that_of_numpy(batch: int, device: str) -> None:
    for seed in seeds(batch, device):
        rng = random.Random(seed)
        x, t = a_tensor(rng)
        index, ours = an_index(rng, x.shape)
        try:
            expected = x[index]
        except IndexError:
            with pytest.raises(PlugradError):
                t[ours].numpy()
            continue
        out = t[ours]
        assert out.shape == expected.shape, (seed, index)
        assert out.numpy().dtype == expected.dtype, (seed, index)
        np.testing.assert_array_equal(out.numpy(), expected, err_msg=f"seed {seed}: {index}")


@pytest.mark.parametrize("batch", BATCHES)
def test_writing_is_that_of_numpy(batch: int, device: str) -> None:
    for seed in seeds(batch, device):
        rng = random.Random(seed + 1_000_000)
        x, t = a_tensor(rng)
        x, t = x.copy(), t.contiguous() if rng.random() < 0.5 else t
        index, ours = an_index(rng, x.shape)
        try:
            shape = x[index].shape
        except IndexError:
            with pytest.raises(PlugradError):
                t[ours] = 1
            continue
        narrow = tuple(1 if rng.random() < 0.5 else n for n in shape)
        shape = rng.choice([shape, narrow, narrow[rng.randint(0, len(narrow)) :], ()])
        value = (np.arange(int(np.prod(shape))) % 27 + 90).astype(x.dtype).reshape(shape)
        x[index] = value
        t[ours] = Tensor(value) if rng.random() < 0.5 else value
        np.testing.assert_array_equal(t.numpy(), x, err_msg=f"seed {seed}: {index} of {x.shape}")


def for_torch(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return torch.tensor(item if item.dtype == bool else item.astype(np.int64))
    return item


@pytest.mark.parametrize("batch", BATCHES)
def test_gradients_are_those_of_torch(batch: int, device: str) -> None:
    for seed in seeds(batch, device):
        rng = random.Random(seed + 2_000_000)
        shape = tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.choice([1, 2, 3])))
        index, ours = an_index(rng, shape)
        x = np.random.default_rng(seed).standard_normal(shape)
        leaf = torch.tensor(x, requires_grad=True)
        try:
            out = leaf[tuple(map(for_torch, index))]
        except (IndexError, ValueError):
            continue
        if not out.numel() or out.shape != x[index].shape:
            continue
        t = Tensor(x, requires_grad=True)
        factor = np.random.default_rng(seed + 1).standard_normal(out.shape)
        (expected,) = torch.autograd.grad((out * out * torch.tensor(factor)).sum(), leaf)
        found = t[ours]
        (grad,) = (found * found * Tensor(factor)).sum().gradient(t)
        np.testing.assert_allclose(grad.numpy(), expected.numpy(), rtol=1e-9, err_msg=f"{seed}: {index}")
