import numpy as np
import pytest
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from plugrad import Tensor, dtypes
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.jit import jit


@pytest.mark.parametrize("n", [0, 1, 2, 50, 512, 513, 520, 700, 4099, 100003])
def test_a_permutation_has_each_number_once(n: int) -> None:
    out = Tensor.randperm(n)
    assert out.dtype is dtypes.default_int
    assert sorted(out.tolist()) == list(range(n))


def test_permutations_are_all_equally_likely() -> None:
    counts = {}
    for _ in range(60):
        order = tuple(Tensor.randperm(3, dtype="uint8").tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > 0.001
    with pytest.raises(ShapeError, match="negative size"):
        Tensor.randperm(-1)


def test_long_permutations_are_random_in_each_way_that_is_tried() -> None:
    Tensor.manual_seed(5)
    size, count = 521, 1000
    draw = jit(lambda: Tensor.randperm(size).realize())
    found = np.stack([draw().numpy() for _ in range(count)])
    # one place, how far apart neighbours are and those a row or a column away, which of three comes first
    apart = [(found[:, 40 + step] - found[:, 40]) % size for step in (1, 18, 29)]
    for values in (found[:, 17], *apart, np.argsort(found[:, 3:6], axis=1) @ [9, 3, 1]):
        assert stats.chisquare(np.unique(values, return_counts=True)[1]).pvalue > 0.001
    # numbers that stay where they are, of which there is one on average
    assert abs((found == np.arange(size)).sum(1).mean() - 1) < 0.15
    assert 0.4 < np.mean([_is_odd(order) for order in found[:200]]) < 0.6


def _is_odd(order: np.ndarray) -> bool:
    """Say whether an odd number of swaps makes this order."""
    return bool(
        (len(order) - connected_components(coo_array((order * 0 + 1, (np.arange(len(order)), order))))[0]) % 2
    )


WEIGHTS = np.array([1, 0, 2, 4, 0.5, 0], np.float32)


def test_draws_with_replacement_have_the_frequencies_of_the_weights() -> None:
    found = np.bincount(Tensor(WEIGHTS).multinomial(3000, replacement=True).numpy(), minlength=6)
    assert found[[1, 5]].tolist() == [0, 0]
    some = WEIGHTS > 0
    assert stats.chisquare(found[some], WEIGHTS[some].astype(np.float64) / 7.5 * 3000).pvalue > 0.01


def test_draws_without_replacement_have_the_probabilities_of_their_order() -> None:
    rows = np.tile(np.array([1, 2, 5], np.float32), (3000, 1))
    out = Tensor(rows).multinomial(2).numpy()
    assert (out[:, 0] != out[:, 1]).all()
    first = np.bincount(out[:, 0], minlength=3)
    assert stats.chisquare(first, np.array([1, 2, 5]) / 8 * 3000).pvalue > 0.01
    # after 2, the others remain with 1 to 2
    second = np.bincount(out[out[:, 0] == 2, 1], minlength=3)[:2]
    assert stats.chisquare(second, np.array([1, 2]) / 3 * second.sum()).pvalue > 0.01


def test_weights_of_zero_come_last_and_rows_are_apart() -> None:
    out = Tensor(WEIGHTS).multinomial(6).tolist()
    assert sorted(out[:4]) == [0, 2, 3, 4]
    assert sorted(out[4:]) == [1, 5]
    rows = Tensor([[1.0, 0.0], [0.0, 1.0]], dtype="float16")
    assert rows.multinomial(3, replacement=True).tolist() == [[0] * 3, [1] * 3]
    assert rows.multinomial(0).shape == (2, 0)
    assert rows.multinomial(1).dtype is dtypes.default_int


def test_draws_that_cannot_be_are_refused() -> None:
    with pytest.raises(ArgumentError, match="num_samples=7 of 6 weights"):
        Tensor(WEIGHTS).multinomial(7)
    with pytest.raises(ShapeError, match="negative size"):
        Tensor(WEIGHTS).multinomial(-1, replacement=True)
    with pytest.raises(DtypeError, match="multinomial of int32"):
        Tensor([1, 2]).multinomial(1)
    with pytest.raises(ShapeError, match=r"multinomial of shape \(\)"):
        Tensor(1.0).multinomial(1)
    with pytest.raises(ShapeError, match=r"shape \(2, 0\)"):
        Tensor.zeros(2, 0).multinomial(0)


def test_positions_exist_whatever_the_weights() -> None:
    for weights in ([0.0, 0.0, 0.0], [float("nan"), 1.0, 1.0], [1.0, 0.0, 0.0]):
        drawn = Tensor(weights).multinomial(50, replacement=True).numpy()
        assert drawn.min() >= 0
        assert drawn.max() <= 2
    assert Tensor([0.0, 1.0]).multinomial().tolist() == [1]


def test_a_permutation_is_of_a_dtype_that_holds_it() -> None:
    assert Tensor.randperm(np.int64(256), dtype="uint8").dtype.name == "uint8"
    with pytest.raises(DtypeError, match=r"uint8 does not hold all of 0\.\.256"):
        Tensor.randperm(257, dtype="uint8")
    with pytest.raises(DtypeError, match=r"float16 does not hold all of 0\.\.2049"):
        Tensor.randperm(2050, dtype="float16")
