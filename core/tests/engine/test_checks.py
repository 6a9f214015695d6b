"""CHECK=1 on the default device: what is reported, and that nothing else changes."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plugrad import Device, Tensor, Variable, dtypes, jit, nn
from plugrad.dtype import DType
from plugrad.errors import NotFiniteError, PositionError
from plugrad.settings import context


@pytest.fixture(autouse=True)
def checking() -> Iterator[None]:
    with context(CHECK=1):
        yield


def test_a_position_beyond_the_axis_is_reported_with_its_place_and_line() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    asked = x[Tensor([[0, 2], [-3, 7]])]
    with pytest.raises(
        PositionError, match=r"position 7 at \(1, 1\) .* axis of size 3\. .* in test_a_posi"
    ) as e:
        asked.realize()
    assert (e.value.index, e.value.place, e.value.size) == (7, (1, 1), 3)
    assert isinstance(e.value, IndexError)


@pytest.mark.parametrize("label", [2, -1])
def test_a_label_that_is_no_class_is_reported(label: int) -> None:
    scores, labels = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([0, label])
    with pytest.raises(
        PositionError, match=rf"position {label} at \(1,\) .* Valid are 0 to 1\. .* in test_a_l"
    ):
        scores.cross_entropy(labels).realize()


def test_an_ignored_label_may_be_any_number() -> None:
    scores, labels = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1, -100])
    with context(CHECK=0):
        expected = scores.cross_entropy(labels).item()
    assert scores.cross_entropy(labels).item() == expected


@pytest.mark.parametrize("read", [True, False])
def test_a_position_before_the_axis_is_reported_as_it_was_given(read: bool) -> None:
    x, index = Tensor([1.0, 2.0, 3.0]), Tensor([1, -4])
    with pytest.raises(PositionError, match=r"position -4 at \(1,\)"):
        (x.gather(0, index) if read else x.scatter(0, index, 5.0)).realize()


def test_a_single_position_is_reported_where_it_is_used() -> None:
    with pytest.raises(PositionError, match="position 5 is out of range"):
        Tensor([1.0, 2.0])[Tensor(5)].realize()


def test_an_unsigned_position_beyond_all_axes_is_reported() -> None:
    index = Tensor([1, 2**64 - 1], dtype=dtypes.uint64)
    with pytest.raises(PositionError, match=r"a position beyond its end at \(1,\)"):
        Tensor([1.0, 2.0])[index].realize()


def test_positions_of_several_axes_are_checked_on_each() -> None:
    x = Tensor.arange(6).reshape(2, 3)
    with pytest.raises(PositionError, match=r"position 2 .* size 2"):
        x[Tensor([0, 2]), Tensor([2, 2])].realize()


def test_writing_by_positions_is_checked_before_anything_is_written() -> None:
    x = Tensor.zeros(3).contiguous().realize()
    x[Tensor([1, 5])] = 2.0
    with pytest.raises(PositionError, match="position 5"):
        x.realize()


def test_positions_that_are_computed_are_checked() -> None:
    x = Tensor([3.0, 1.0, 2.0])
    assert x[x.argmax()].item() == 3.0
    with pytest.raises(PositionError, match="position 3"):
        x[x.argmax() + 3].item()


def test_positions_on_an_axis_of_variable_size_are_checked_at_its_size_today() -> None:
    n = Variable("n", 1, 4)
    x = Tensor([1.0, 2.0, 3.0, 4.0])[: n.bind(2)]
    assert x[Tensor([0, 1])].tolist() == [1.0, 2.0]
    with pytest.raises(PositionError, match=r"position 2 .* size 2"):
        x[Tensor([0, 2])].tolist()


def test_jitted_functions_are_checked_at_each_call() -> None:
    @jit
    def pick(x: Tensor, index: Tensor) -> Tensor:
        return x[index] * 2

    x = Tensor([1.0, 2.0, 3.0, 4.0])
    assert [pick(x, Tensor([k])).item() for k in range(4)] == [2.0, 4.0, 6.0, 8.0]
    with pytest.raises(PositionError, match=r"position 4 .*\.pick\."):
        pick(x, Tensor([4])).item()


def test_the_kernel_that_makes_nan_is_reported_with_its_operations_and_lines() -> None:
    x = Tensor([1.0, -1.0]).realize()
    with pytest.raises(
        NotFiniteError, match=r"NaN first appears at \(1,\).*sqrt(.|\n)*in test_the_kernel"
    ) as e:
        (x.sqrt() + 1).realize()
    assert e.value.kind == "NaN"
    assert "sqrt" in [operation for operation, _ in e.value.made]
    assert isinstance(e.value, FloatingPointError)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])
def test_infinity_is_found_in_every_float(dtype: DType) -> None:
    if dtype not in Device[Device.DEFAULT].capabilities.storage_dtypes:
        pytest.skip(f"this device has no {dtype.name}")
    x = Tensor([[1.0], [0.0]], dtype=dtype).realize()
    with pytest.raises(NotFiniteError, match=r"infinity first appears at \((1,|1, 0)\)"):
        (1 / x).realize()


def test_what_was_not_finite_before_is_not_reported_again() -> None:
    with context(CHECK=0):
        x = (Tensor([1.0, 0.0]).log() * 1).realize()
    (x + 1).realize()
    x.assign(x * 2).realize()


def test_infinity_that_a_program_writes_is_no_mistake() -> None:
    scores, mask = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[True, False], [True, True]])
    hidden = mask.where(scores, -float("inf")).realize()
    assert hidden.softmax(-1)[0].tolist() == [1.0, 0.0]


def test_nan_that_a_program_fills_memory_with_is_no_mistake() -> None:
    assert Tensor.full((2,), float("nan")).contiguous().realize().isnan().tolist() == [True, True]


def test_nan_made_of_infinity_is_reported() -> None:
    x = Tensor([float("inf"), 1.0]).realize()
    with pytest.raises(NotFiniteError, match="NaN"):
        (x - x).realize()


def test_an_update_in_place_that_makes_nan_is_reported_and_kept() -> None:
    x = Tensor([1.0, 4.0]).realize()
    with pytest.raises(NotFiniteError):
        x.assign((x - 2).sqrt()).realize()
    with context(CHECK=0):
        assert x.isnan().tolist() == [True, False]


def test_training_computes_the_same() -> None:
    def steps() -> list[list[float]]:
        Tensor.manual_seed(0)
        table, layer = nn.Embedding(5, 4), nn.Linear(4, 2)
        optimizer = nn.optim.Adam([*nn.state.get_parameters(table), *nn.state.get_parameters(layer)], lr=0.1)
        with Tensor.train():
            for _ in range(3):
                optimizer.zero_grad()
                loss = layer(table(Tensor([0, 4, 2]))).sparse_categorical_crossentropy(Tensor([1, 0, 1]))
                loss.backward()
                optimizer.step()
        return layer.weight.tolist()

    checked = steps()
    with context(CHECK=0):
        assert steps() == checked


def test_nothing_is_marked_while_it_is_off() -> None:
    x, index = Tensor([1.0, 2.0]), Tensor([0, 5])
    with context(CHECK=0):
        picked = x[index]
        assert all(u.tag is None for u in picked.uop.toposort())
        assert picked.tolist() == [1.0, 0.0]


# --- the same on every device ---

# a simulated one is not listed
_DEVICES = [
    n
    for n in dict.fromkeys((Device.DEFAULT, *Device.devices()))
    if n not in ("NULL", "DISK") and ":" not in n
]


def _written(x: Tensor) -> Tensor:
    y = (x * 1).contiguous().realize()
    y[Tensor([0, 2], device=x.device)] = 2.0
    return y


def _asked(x: Tensor, *positions: Any) -> Tensor:
    return Tensor([*positions], device=x.device)


def _table(x: Tensor) -> Tensor:
    table = nn.Embedding(4, 2)
    table.weight.to_(x.device)
    return table(_asked(x, [1, 4]))


_REPORTS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "index": (
        lambda x: x[_asked(x, 0, 2)],
        "position 2 at (1,) of the index is out of range for an axis of size 2",
    ),
    "indices": (lambda x: x[_asked(x, 0, 1), _asked(x, 0, -4)], "position -4 at (1,)"),
    "gather": (lambda x: x.gather(1, _asked(x, [0], [3])), "position 3 at (1, 0)"),
    "scatter": (lambda x: x.scatter(1, _asked(x, [0], [3]), 9.0), "position 3 at (1, 0)"),
    "assign": (_written, "position 2 at (1,)"),
    "embedding": (_table, "position 4 at (0, 1)"),
    "cross entropy": (lambda x: x.cross_entropy(_asked(x, 0, 3)), "position 3 at (1,)"),
    "NaN": (lambda x: (x - 3).sqrt(), "NaN first appears at (0, 0)"),
    "infinity": (lambda x: 1 / (x - 3), "infinity first appears at (0, 2)"),
    "NaN of a sum": (lambda x: ((x - 3).log() * 2).sum(), "NaN first appears at ()"),
}


@pytest.mark.parametrize("device", _DEVICES)
@pytest.mark.parametrize("name", _REPORTS)
def test_each_device_gives_the_same_report(name: str, device: str) -> None:
    compute, report = _REPORTS[name]
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device).realize()
    with pytest.raises(
        (PositionError, NotFiniteError), match=rf"^{re.escape(report)}(.|\n)*test_checks\.py:\d+ in "
    ):
        compute(x).realize()
