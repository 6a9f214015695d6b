"""Tests of plugrad.nn.layers.recurrent, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Variable, context, events, nn
from plugrad.errors import ArgumentError, DtypeError, ShapeError
from plugrad.jit import jit
from plugrad.nn import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict
from plugrad.tensor import Tensor
from plugrad_conformance.testing.realize_all import realize_all

RNG = np.random.default_rng(1)


def load(ours: Any, theirs: torch.nn.Module) -> None:
    """Give our layer the values of torch's, whose names and their order it has to share."""
    state = {name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    assert list(get_state_dict(ours)) == list(state)
    load_state_dict(ours, state)


def random(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def close(ours: Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"bias": False}], ids=str)
def test_cells_step_as_torchs(options: Any) -> None:
    x, h, c = random(2, 3), random(2, 4), random(2, 4)
    ours, theirs = LSTMCell(3, 4, **options), torch.nn.LSTMCell(3, 4, **options)
    load(ours, theirs)
    for start in (None, (h, c)):
        mine = ours(Tensor(x), None if start is None else (Tensor(h), Tensor(c)))
        realize_all(mine)
        other = theirs(torch.tensor(x), None if start is None else (torch.tensor(h), torch.tensor(c)))
        for left, right in zip(mine, other, strict=True):
            close(left, right)
    unit, theirs = GRUCell(3, 4, **options), torch.nn.GRUCell(3, 4, **options)
    load(unit, theirs)
    for start in (None, h):
        mine = unit(Tensor(x), None if start is None else Tensor(start))
        close(mine, theirs(torch.tensor(x), None if start is None else torch.tensor(start)))


OPTIONS: list[dict[str, Any]] = [
    {}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "kinds",
    [(LSTM, torch.nn.LSTM), (GRU, torch.nn.GRU), (RNN, torch.nn.RNN)],
    ids=["LSTM", "GRU", "RNN"],
)
def test_sequences_give_what_they_give_in_torch(kinds: Any, options: Any) -> None:
    ours, theirs = kinds[0](3, 4, **options), kinds[1](3, 4, **options)
    load(ours, theirs)
    x = random(5, 2, 3)
    mine, other = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    (out, last), (expected, expected_last) = ours(mine), theirs(other)
    out.square().sum().backward()
    expected.square().sum().backward()
    realize_all(out, last, mine.grad, [p.grad for p in get_parameters(ours)])
    close(out, expected)
    for left, right in zip(
        last if isinstance(last, tuple) else (last,),
        expected_last if isinstance(expected_last, tuple) else (expected_last,),
        strict=True,
    ):
        close(left, right)
    assert mine.grad is not None
    close(mine.grad, other.grad)
    for left, right in zip(get_parameters(ours), theirs.parameters(), strict=True):
        assert left.grad is not None
        np.testing.assert_allclose(left.grad.numpy(), right.grad.numpy(), rtol=1e-3, atol=1e-4)


def test_first_states_and_single_sequences_are_taken() -> None:
    ours, theirs = LSTM(3, 4, num_layers=2), torch.nn.LSTM(3, 4, num_layers=2)
    load(ours, theirs)
    x, h, c = random(5, 3), random(2, 4), random(2, 4)
    out, (hidden, cell) = ours(Tensor(x), (Tensor(h), Tensor(c)))
    realize_all(out, hidden, cell)
    expected, (expected_hidden, expected_cell) = theirs(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    close(out, expected)
    close(hidden, expected_hidden)
    close(cell, expected_cell)


def test_longer_sequences_run_the_same_kernels() -> None:
    def kernels(length: int) -> tuple[int, int]:
        names: list[str] = []
        layer, x = LSTM(3, 4), Tensor(random(length, 2, 3)).realize()
        Tensor.realize(*get_state_dict(layer).values())
        with events.subscribe(events.KernelEvent, lambda event: names.append(event.name)):
            layer(x)[0].realize()
        return len(names), len(set(names))

    (few, few_kinds), (many, many_kinds) = kernels(12), kernels(100)
    assert few < 12 * 5 + 10
    assert many < 100 * 5 + 20
    assert many_kinds <= few_kinds + 30


@pytest.mark.parametrize("is_bidirectional", [False, True])
def test_gradients_from_first_states_and_of_gradients_are_torchs(is_bidirectional: bool) -> None:
    ours, theirs = (kind(3, 4, bidirectional=is_bidirectional) for kind in (GRU, torch.nn.GRU))
    load(ours, theirs)
    x, h = random(4, 2, 3), random(1 + is_bidirectional, 2, 4)
    start, first = Tensor(h, requires_grad=True), torch.tensor(h, requires_grad=True)
    mine = [start, *get_parameters(ours)]
    others = [first, *theirs.parameters()]
    gradients = ours(Tensor(x), start)[0].square().sum().gradient(*mine)
    norm = sum((g.square().sum() for g in gradients), Tensor(0.0))
    expected = torch.autograd.grad(
        theirs(torch.tensor(x), first)[0].square().sum(), others, create_graph=True
    )
    expected_norm = torch.stack([g.square().sum() for g in expected]).sum()
    again, expected_again = norm.gradient(*mine), torch.autograd.grad(expected_norm, others)
    realize_all(gradients, again)
    for left, right in zip((*gradients, *again), (*expected, *expected_again), strict=True):
        np.testing.assert_allclose(left.numpy(), right.detach().numpy(), rtol=1e-3, atol=1e-3)


def test_gradients_of_recurrent_weights_are_one_product() -> None:
    layer, x = LSTM(3, 16), Tensor(random(9, 2, 3)).realize()
    Tensor.realize(*get_parameters(layer))
    layer(x)[0].square().sum().backward()

    names: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: names.append(event.name)):
        Tensor.realize(*[parameter.grad for parameter in get_parameters(layer)])
    assert sum(name.startswith("reduce_64_16_16_") for name in names) == 1


@pytest.mark.parametrize("kind", [LSTM, GRU, RNN])
def test_gradients_of_longer_sequences_run_the_same_kernels(kind: Any) -> None:
    def kinds(length: int) -> int:
        names: set[str] = set()
        # a state of 64 bytes: parts of memory begin at multiples of that
        layer, x = kind(3, 16), Tensor(random(length, 2, 3)).realize()
        Tensor.realize(*get_state_dict(layer).values())
        layer(x)[0].square().sum().backward()
        gradients = [parameter.grad for parameter in get_parameters(layer)]
        with events.subscribe(events.KernelEvent, lambda event: names.add(event.name)):
            Tensor.realize(*gradients)
        return len(names)

    assert kinds(14) <= kinds(6) + 2


@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True, "bias": False}, {"batch_first": True}], ids=str
)
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_hidden_states_are_projected_as_in_torch(options: Any) -> None:
    ours = LSTM(3, 4, proj_size=2, **options)
    theirs = torch.nn.LSTM(3, 4, proj_size=2, **options)
    load(ours, theirs)
    x = random(5, 2, 3)
    count = 4 if "num_layers" in options else 1
    batch = 5 if "batch_first" in options else 2
    first = random(count, batch, 2), random(count, batch, 4)
    for start in (None, first):
        mine = ours(Tensor(x), None if start is None else (Tensor(start[0]), Tensor(start[1])))
        other = theirs(torch.tensor(x), None if start is None else tuple(map(torch.tensor, start)))
        if start is not None:
            (mine[0] * mine[0]).sum().backward()
            (other[0] * other[0]).sum().backward()
        realize_all(mine, [p.grad for p in get_parameters(ours)])
        for left, right in zip((mine[0], *mine[1]), (other[0], *other[1]), strict=True):
            close(left, right)
    for name, p in theirs.named_parameters():
        np.testing.assert_allclose(getattr(ours, name).grad.numpy(), p.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_a_projection_is_smaller_than_the_state() -> None:
    with pytest.raises(ArgumentError, match="LSTM: proj_size=4 of hidden_size=4"):
        LSTM(3, 4, proj_size=4)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"LSTMCell of 3 inputs got shape \(2, 4\)"):
        LSTMCell(3, 4)(Tensor.ones(2, 4))
    with pytest.raises(ShapeError, match=r"GRU of 3 inputs got shape \(2, 4\); it takes \(T, N, 3\)"):
        GRU(3, 4)(Tensor.ones(2, 4))
    with pytest.raises(ShapeError, match=r"GRU: a first state of shape \(2, 2, 4\); it takes \(1, 2, 4\)"):
        GRU(3, 4)(Tensor.ones(5, 2, 3), Tensor.ones(2, 2, 4))
    with pytest.raises(ArgumentError, match=r"LSTM: num_layers=0: pass an integer, 1 or more"):
        LSTM(3, 4, 0)


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_plain_cells_and_layers_have_two_activations(nonlinearity: Any) -> None:
    x, h = random(2, 3), random(2, 4)
    cell, other_cell = (module.RNNCell(3, 4, nonlinearity=nonlinearity) for module in (nn, torch.nn))
    load(cell, other_cell)
    close(cell(Tensor(x), Tensor(h)), other_cell(torch.tensor(x), torch.tensor(h)))
    layer, other = (module.RNN(3, 4, 2, nonlinearity, bidirectional=True) for module in (nn, torch.nn))
    load(layer, other)
    sequence = random(5, 2, 3)
    found = layer(Tensor(sequence))
    realize_all(found)
    for mine, theirs in zip(found, other(torch.tensor(sequence)), strict=True):
        close(mine, theirs)


def test_other_activations_and_projections_are_refused() -> None:
    with pytest.raises(ArgumentError, match="RNN: nonlinearity='gelu' is none of"):
        RNN(3, 4, nonlinearity="gelu")
    with pytest.raises(ArgumentError, match="RNNCell: nonlinearity='gelu' is none of"):
        RNNCell(3, 4, nonlinearity="gelu")
    with pytest.raises(ArgumentError, match=r"GRU: proj_size=2\. Only LSTM has projections"):
        GRU(3, 4, proj_size=2)


def test_states_of_another_size_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"GRUCell: states of shapes \(3, 4\); it takes 1 of \(2, 4\)"):
        GRUCell(3, 4)(Tensor.ones(2, 3), Tensor.ones(3, 4))


@pytest.mark.parametrize("make", [LSTM, RNN, GRUCell, RNNCell], ids=str)
def test_parameters_have_the_dtype_and_device_that_are_asked_for(make: Any) -> None:
    for p in get_state_dict(make(2, 3, dtype="float64", device="PYTHON")).values():
        assert (p.dtype.name, p.device) == ("float64", "PYTHON")


def test_sequences_have_steps_and_layers_their_states() -> None:
    with pytest.raises(ShapeError, match="LSTM: a sequence of no steps"):
        LSTM(3, 4)(Tensor.ones(0, 2, 3))
    with pytest.raises(ShapeError, match="LSTM: 1 first states; it takes 2"):
        LSTM(3, 4)(Tensor.ones(5, 2, 3), (Tensor.ones(1, 2, 4),))
    with pytest.raises(DtypeError, match=r"(?s)GRU: state 0 is \(.* which is no tensor"):
        GRU(3, 4)(Tensor.ones(5, 2, 3), (Tensor.ones(1, 2, 4),))


def test_sequences_may_be_of_a_symbolic_number() -> None:
    layer, x = LSTM(3, 2), Tensor(random(4, 5, 3))
    n = Variable("n", 1, 5).bind(2)
    whole = layer(x)[0].numpy()
    np.testing.assert_allclose(layer(x[:, :n])[0].sum().item(), whole[:, :2].sum(), rtol=1e-5)


def ran(layer: Any, x: Tensor, steps: Any, hx: Any) -> list[Tensor]:
    """Return outputs, with zeros behind them, last states, and the gradients of a function of all."""
    is_second = layer.batch_first and x.ndim == 3
    out, last = layer(x[:, :steps] if is_second else x[:steps], hx)
    states = last if isinstance(last, tuple) else (last,)
    total = sum((2 * state.sum() for state in states), out.square().sum())
    missing = [(0, 0)] * out.ndim
    missing[int(is_second)] = (0, 4 - steps)
    return [out.pad(tuple(missing)), *states, *total.gradient(x, *get_parameters(layer))]


@pytest.mark.parametrize(
    ("kind", "options", "is_single"),
    [
        (LSTM, {"bidirectional": True, "proj_size": 1}, False),
        (LSTM, {"bias": False, "batch_first": True}, False),
        (GRU, {"bidirectional": True}, True),
        (RNN, {"num_layers": 2, "dropout": 0.5}, False),
    ],
    ids=str,
)
def test_a_symbolic_number_of_steps_gives_what_a_known_one_does(
    kind: Any, options: Any, is_single: bool
) -> None:
    with context(DEVICE="PYTHON", SPEC=0):
        layer = kind(3, 2, **options)
        Tensor.realize(*get_state_dict(layer).values())
        first_axis = (2, 4) if options.get("batch_first") else (4, 2)
        x = Tensor(random(4, 3) if is_single else random(*first_axis, 3))
        count = layer.num_layers * len(layer.suffixes)
        starts = [random(count, *([] if is_single else [2]), size) for size in layer.state_sizes]
        hx = tuple(map(Tensor, starts)) if kind is LSTM else Tensor(starts[0])
        programs: set[tuple[Any, ...]] = set()
        for steps in (4, 2):
            with Tensor.train("dropout" in options):
                Tensor.manual_seed(3)
                known = ran(layer, x, steps, hx)
                realize_all(known)
                Tensor.manual_seed(3)
                found = ran(layer, x, Variable("n", 1, 4).bind(steps), hx)
            programs.add(tuple(item.ast for item in found[0].schedule(*found[1:])))
            found[0].realize(*found[1:])
            for got, want in zip(found, known, strict=True):
                np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-4, atol=1e-6)
        assert len(programs) == 1


def test_a_replay_takes_another_number_of_steps() -> None:
    layer, x = GRU(3, 2, bidirectional=True), Tensor(random(5, 2, 3))

    @jit
    def last(x: Tensor, n: Any) -> Tensor:
        return layer(x[:n])[1] + 0

    for steps in (5, 2, 3, 1):
        expected = layer(x[:steps])[1].numpy()
        found = last(x, Variable("n", 0, 5).bind(steps)).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert last.captures == 1
    with pytest.raises(ShapeError, match="GRU: a sequence of no steps"):
        layer(x[: Variable("n", 0, 5).bind(0)])
