"""Recurrent cells: one step, from a state to the next.

Source: Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; Cho et al. 2014, in the
variants of PyTorch's documentation.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

from plugrad.errors import ShapeError
from plugrad.nn.checks import check_counts, check_tensors
from plugrad.nn.functional import linear
from plugrad.nn.init import draw_by_fan_in
from plugrad.nn.module import Module
from plugrad.tensor import Tensor
from plugrad.tensor.base import DTypeLike
from plugrad.tensor.realization import boundary
from plugrad.tensor.shapes import check_choice

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]

Activation = Literal["tanh", "relu"]
State = tuple[Tensor, ...]
# what a state becomes, and what it was, of a step that may lie behind the last one
Keep = Callable[[Tensor, Tensor], Tensor]
# the product of a state with the recurrent weight, bias included
Product = Callable[[Tensor], Tensor]
# the products of a step's input (biases included), the state, its product, what to keep
Step = Callable[[Tensor, State, Product, Keep], State]


def new_state(new: Tensor, old: Tensor) -> Tensor:
    """Return the new state, of a step that there is."""
    return new.contiguous()


def lstm_step(
    gates: Tensor, state: State, product: Product, keep: Keep, projection: Tensor | None = None
) -> State:
    """Return hidden and cell state after one step, with the hidden state projected if asked."""
    hidden, cell = map(boundary, state)
    total = boundary(gates + product(hidden))
    enter, forget, new, out = total.chunk(4, -1)
    cell = keep(forget.sigmoid() * cell + enter.sigmoid() * new.tanh(), cell)
    shown = out.sigmoid() * cell.tanh()
    return keep(
        shown if projection is None else shown.contiguous() @ projection.transpose(0, 1), hidden
    ), cell


def gru_step(gates: Tensor, state: State, product: Product, keep: Keep) -> State:
    """Return the hidden state after one step."""
    (hidden,) = map(boundary, state)
    own = boundary(product(hidden))
    reset, update, new = boundary(gates).chunk(3, -1)
    own_reset, own_update, own_new = own.chunk(3, -1)
    share = (update + own_update).sigmoid()
    candidate = (new + (reset + own_reset).sigmoid() * own_new).tanh()
    return (keep((1 - share) * candidate + share * hidden, hidden),)


def rnn_step(
    gates: Tensor, state: State, product: Product, keep: Keep, activation: Activation = "tanh"
) -> State:
    """Return the hidden state after one step."""
    (hidden,) = map(boundary, state)
    total = gates + product(hidden)
    return (keep(total.tanh() if activation == "tanh" else total.relu(), hidden),)


class _Cell(Module):
    """One step, with its weights: `gates` rows for each element of the state."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_counts(self, 0, input_size=input_size, hidden_size=hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        draw = functools.partial(draw_by_fan_in, fan_in=hidden_size, device=device, dtype=dtype)
        width = self.gates * hidden_size
        self.weight_ih, self.weight_hh = draw(width, input_size), draw(width, hidden_size)
        self.bias_ih, self.bias_hh = (draw(width), draw(width)) if bias else (None, None)

    def _advance(self, step: Step, x: Tensor, state: State | None, count: int) -> State:
        name = type(self).__name__
        check_tensors(self, x=x, **name_states(state))
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name} of {self.input_size} inputs got shape {x.shape}; it takes "
                f"(N, {self.input_size}) or ({self.input_size},)."
            )
        wanted = (*x.shape[:-1], self.hidden_size)
        if state is None:
            state = (x.new_zeros(*wanted),) * count
        if len(state) != count or any(part.shape != wanted for part in state):
            shapes = ", ".join(str(part.shape) for part in state)
            raise ShapeError(f"{name}: states of shapes {shapes}; it takes {count} of {wanted}.")
        product = functools.partial(linear, weight=self.weight_hh, bias=self.bias_hh)
        return step(linear(x, self.weight_ih, self.bias_ih), state, product, new_state)


class LSTMCell(_Cell):
    """One step of long short-term memory: (N, input_size) -> state and cell (N, hidden_size).

    Args:
        bias: add learnt numbers.
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Example:
        >>> hidden, cell = LSTMCell(3, 4)(Tensor.ones(2, 3))
        >>> hidden.shape, cell.shape
        ((2, 4), (2, 4))
    """

    gates = 4

    def forward(self, x: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return the next state and cell, from zeros if `hx` is left out.

        Raises:
            ShapeError: input or states have other sizes than the layer.
        """
        hidden, cell = self._advance(lstm_step, x, hx, 2)
        return hidden, cell


class GRUCell(_Cell):
    """One step of a gated recurrent unit: (N, input_size) -> state (N, hidden_size).

    Takes the arguments of `LSTMCell`.

    Example:
        >>> GRUCell(3, 4)(Tensor.ones(2, 3)).shape
        (2, 4)
    """

    gates = 3

    def forward(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state, from zeros if `hx` is left out.

        Raises:
            ShapeError: input or state have other sizes than the layer.
        """
        return self._advance(gru_step, x, None if hx is None else (hx,), 1)[0]


class RNNCell(_Cell):
    """One step of a plain recurrent layer: (N, input_size) -> state (N, hidden_size).

    Args:
        bias: add learnt numbers.
        nonlinearity: "tanh" or "relu".
        device: where the parameters live; `Device.DEFAULT` if left out.
        dtype: of the parameters; the default float if left out.

    Raises:
        ArgumentError: there is no such `nonlinearity`.

    Source: Elman 1990.

    Example:
        >>> RNNCell(3, 4)(Tensor.ones(2, 3)).shape
        (2, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Activation = "tanh",
        device: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        check_choice(nonlinearity, get_args(Activation), "RNNCell: nonlinearity")
        self.nonlinearity: Activation = nonlinearity

    def forward(self, x: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state, from zeros if `hx` is left out.

        Raises:
            ShapeError: input or state have other sizes than the layer.
        """
        step = functools.partial(rnn_step, activation=self.nonlinearity)
        return self._advance(step, x, None if hx is None else (hx,), 1)[0]


def name_states(states: Any) -> dict[str, Any]:
    """Return the given states by the names for messages."""
    if states is None:
        return {}
    several = cast("Sequence[Any]", states) if isinstance(states, (tuple, list)) else (states,)
    return {f"state {number}": state for number, state in enumerate(several)}
