"""Recurrent layers: state that is carried from step to step.

The products with the inputs of all steps do not depend on the state and are one matrix product. The rest is
the same few kernels for every step, run one after the other.

A symbolic number of steps is run up to the greatest that it may be: behind its last one the state stays as it
is, so that the kernels of a step do not depend on how many there are.
"""

import functools
from collections.abc import Sequence
from typing import Any, get_args

from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, ShapeError
from plugrad.nn.checks import check_counts, check_tensors
from plugrad.nn.functional import linear
from plugrad.nn.init import draw_by_fan_in
from plugrad.nn.layers.cells import (
    Activation,
    Keep,
    State,
    Step,
    gru_step,
    lstm_step,
    name_states,
    new_state,
    rnn_step,
)
from plugrad.nn.module import Module
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.functional.dropout import check_probability
from plugrad.tensor.linalg.recurrence import Recurrence, joined_steps, steps_of
from plugrad.tensor.realization import boundary
from plugrad.tensor.shapes import check_choice, size_today
from plugrad.uop import greatest

__all__ = ["GRU", "LSTM", "RNN"]


class _Recurrent(Module):
    """Layers of cells over sequences, forwards and, if wanted, backwards."""

    gates = 1
    states = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "proj_size": proj_size}
        check_counts(self, 0, **sizes)
        check_counts(self, 1, num_layers=num_layers)
        check_probability(dropout, type(self).__name__)
        if proj_size and self.states < 2:
            raise ArgumentError(f"{type(self).__name__}: proj_size={proj_size}. Only LSTM has projections.")
        if not 0 <= proj_size < hidden_size:
            raise ArgumentError(
                f"{type(self).__name__}: proj_size={proj_size} of hidden_size={hidden_size}. Pass a number "
                "below it, or 0 for no projection."
            )
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.proj_size = proj_size
        self.num_layers = num_layers
        self.batch_first = batch_first
        self.dropout = dropout
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        width, out_size = self.gates * hidden_size, proj_size or hidden_size
        # the hidden state, and, if the cells have one, the state that nobody else sees
        self.state_sizes = (out_size, hidden_size)[: self.states]
        draw = functools.partial(draw_by_fan_in, fan_in=hidden_size, device=device, dtype=dtype)
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else out_size * len(self.suffixes)
            for suffix in self.suffixes:
                shapes = {"weight_ih": (width, inputs), "weight_hh": (width, out_size)}
                shapes |= {"bias_ih": (width,), "bias_hh": (width,)} if bias else {}
                shapes |= {"weight_hr": (proj_size, hidden_size)} if proj_size else {}
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", draw(*shape))

    def _step(self, suffix: str) -> Step:
        """Return the step function of the layer and direction that `suffix` names."""
        raise NotImplementedError

    def _run(self, x: Tensor, start: Sequence[Tensor] | None) -> tuple[Tensor, State]:
        """Return the output (T, N, size) and the last states (layers*ways, N, size)."""
        check_tensors(self, x=x, **name_states(start))
        is_single = x.ndim == 2
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__} of {self.input_size} inputs got shape {x.shape}; it takes "
                f"{'(N, T, ' if self.batch_first else '(T, N, '}{self.input_size}) or (T, {self.input_size})."
            )
        if is_single:
            x = x.unsqueeze(1)
            start = None if start is None else [state.unsqueeze(1) for state in start]
        elif self.batch_first:
            x = x.transpose(0, 1)
        if size_today(x.shape[0]) == 0:
            raise ShapeError(f"{type(self).__name__}: a sequence of no steps has no last state.")
        keeps = _step_masks(x)
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer:
                x = x.dropout(self.dropout)
            outputs: list[Tensor] = []
            for way, suffix in enumerate(self.suffixes):
                number = layer * len(self.suffixes) + way
                first = self._first_state(x, start, number)
                out, state = self._run_direction(x, f"_l{layer}{suffix}", bool(way), first, keeps)
                outputs.append(out)
                last.append(state)
            x = outputs[0].cat(*outputs[1:], axis=-1) if len(outputs) > 1 else outputs[0]
        states = tuple(parts[0].stack(*parts[1:]) for parts in zip(*last, strict=True))
        if is_single:
            return x.squeeze(1), tuple(state.squeeze(1) for state in states)
        return x.transpose(0, 1) if self.batch_first else x, states

    def _first_state(self, x: Tensor, start: Sequence[Tensor] | None, number: int) -> State | None:
        if start is None:
            return None
        if len(start) != self.states:
            raise ShapeError(f"{type(self).__name__}: {len(start)} first states; it takes {self.states}.")
        for state, size in zip(start, self.state_sizes, strict=True):
            wanted = (self.num_layers * len(self.suffixes), x.shape[1], size)
            if state.shape != wanted:
                raise ShapeError(
                    f"{type(self).__name__}: a first state of shape {state.shape}; it takes {wanted}."
                )
        return tuple(state[number].contiguous() for state in start)

    def _run_direction(
        self, x: Tensor, suffix: str, is_backward: bool, start: State | None, keeps: Sequence[Keep]
    ) -> tuple[Tensor, State]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        weights: list[Any] = [getattr(self, name + suffix, None) for name in names]
        inputs = linear(_pad_steps(x), weights[0], weights[2]).contiguous()
        steps = steps_of(inputs)
        outputs: list[Tensor] = []
        products: list[Tensor] = []

        def product(hidden: Tensor) -> Tensor:
            products.append(linear(hidden, weights[1], weights[3]))
            return products[-1]

        step = self._step(suffix)
        state = start or tuple(x.new_zeros(x.shape[1], size) for size in self.state_sizes)
        way = -1 if is_backward else 1
        for gates, keep in list(zip(steps, keeps, strict=True))[::way]:
            state = step(gates, state, product, keep)
            outputs.append(state[0])
        joined = boundary(joined_steps(outputs[::way]))
        if len(steps) > 1:
            others = [*(start or ()), *([] if weights[4] is None else [weights[4]])]
            recurrence = Recurrence(inputs, steps, products[::way], joined, start is not None, is_backward)
            joined, *state = recurrence.with_gradients(state, weights[1], weights[3], others)
        return joined[: x.shape[0]], tuple(state)


class LSTM(_Recurrent):
    """Long short-term memory over sequences: (T, N, input_size) -> (T, N, ways * hidden_size).

    T and N may be symbolic. A symbolic T costs as many steps as it may be at most: the state stays as it is
    behind the last one, and the way backwards begins there.

    Args:
        num_layers: how many layers take each other's outputs.
        bias: add learnt numbers.
        batch_first: inputs and outputs are (N, T, ...).
        dropout: probability for the inputs of all layers but the first, while training.
        bidirectional: also run backwards, with weights of their own; outputs of both ways are joined.
        proj_size: if not 0, multiply the hidden state by a learnt matrix to this size; outputs have it, too.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ArgumentError: there are no layers, `dropout` is no probability, or `proj_size` not below
            `hidden_size`.

    Source: projections: Sak et al. 2014, "Long short-term memory based recurrent neural network
    architectures for large vocabulary speech recognition".

    Example:
        >>> out, (hidden, cell) = LSTM(3, 4, num_layers=2)(Tensor.ones(5, 2, 3))
        >>> out.shape, hidden.shape, cell.shape
        ((5, 2, 4), (2, 2, 4), (2, 2, 4))
    """

    gates = 4
    states = 2

    def _step(self, suffix: str) -> Step:
        return functools.partial(lstm_step, projection=getattr(self, f"weight_hr{suffix}", None))

    def forward(
        self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the outputs of the last layer, and the last states and cells."""
        out, (hidden, cell) = self._run(x, hx)
        return out, (hidden, cell)


class _OneState(_Recurrent):
    """Layers whose hidden state is all that they remember."""

    def forward(self, x: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the outputs of the last layer, and the last states."""
        out, (hidden,) = self._run(x, None if hx is None else (hx,))
        return out, hidden


class GRU(_OneState):
    """Gated recurrent units over sequences: (T, N, input_size) -> (T, N, ways * hidden_size).

    Takes the arguments of `LSTM` without `proj_size`.

    Example:
        >>> out, hidden = GRU(3, 4, bidirectional=True)(Tensor.ones(5, 2, 3))
        >>> out.shape, hidden.shape
        ((5, 2, 8), (2, 2, 4))
    """

    gates = 3

    def _step(self, suffix: str) -> Step:
        return gru_step


class RNN(_OneState):
    """Plain recurrent layers over sequences: (T, N, input_size) -> (T, N, ways * hidden_size).

    Takes the arguments of `LSTM` without `proj_size`, and `nonlinearity` ("tanh" or "relu") as the fourth.

    Raises:
        ArgumentError: there are no layers, `dropout` is no probability, or there is no such `nonlinearity`.

    Source: Elman 1990.

    Example:
        >>> out, hidden = RNN(3, 4, nonlinearity="relu")(Tensor.ones(5, 2, 3))
        >>> out.shape, hidden.shape
        ((5, 2, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Activation = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_choice(nonlinearity, get_args(Activation), "RNN: nonlinearity")
        sizes = (input_size, hidden_size, num_layers)
        super().__init__(*sizes, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype)
        self.nonlinearity: Activation = nonlinearity

    def _step(self, suffix: str) -> Step:
        return functools.partial(rnn_step, activation=self.nonlinearity)


def _pad_steps(x: Tensor) -> Tensor:
    """Pad a symbolic number of steps with zeros to the greatest that it may be."""
    steps = x.shape[0]
    if isinstance(steps, int):
        return x
    return x.pad(((0, greatest(steps) - steps), *[(0, 0)] * (x.ndim - 1)))


def _step_masks(x: Tensor) -> list[Keep]:
    """Return for each step the choice between its new state and the old one."""
    steps = x.shape[0]
    if isinstance(steps, int):
        return [new_state] * steps
    is_step = _pad_steps(Tensor.ones(steps, dtype=dtypes.bool, device=x.device))
    return [functools.partial(_new_where, is_one) for is_one in steps_of(is_step)]


def _new_where(is_step: Tensor, new: Tensor, old: Tensor) -> Tensor:
    return is_step.where(new, old).contiguous()
