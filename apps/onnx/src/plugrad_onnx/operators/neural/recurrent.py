"""Run recurrent layers, forward, backward or both."""

from collections.abc import Callable, Sequence
from typing import Literal

from plugrad import Tensor
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import shape_of, sizes_of

Activation = Callable[[Tensor], Tensor]
State = tuple[Tensor, ...]
Direction = Literal["forward", "reverse", "bidirectional"]


def _activation(name: str, alpha: float | None, beta: float | None) -> Activation:
    """Return the function with this name; `alpha` and `beta` are its parameters."""

    def a(default: float) -> float:
        return default if alpha is None else alpha

    def b(default: float) -> float:
        return default if beta is None else beta

    table: dict[str, Activation] = {
        "relu": Tensor.relu,
        "tanh": Tensor.tanh,
        "sigmoid": Tensor.sigmoid,
        "affine": lambda x: a(1.0) * x + b(0.0),
        "leakyrelu": lambda x: (x < 0).where(a(0.01) * x, x),
        "thresholdedrelu": lambda x: (x > a(1.0)).where(x, 0),
        "scaledtanh": lambda x: a(1.0) * (b(1.0) * x).tanh(),
        "hardsigmoid": lambda x: (a(0.2) * x + b(0.5)).clip(0, 1),
        "elu": lambda x: (x < 0).where(a(1.0) * x.minimum(0).expm1(), x),
        "softsign": lambda x: x / (1 + x.abs()),
        "softplus": Tensor.softplus,
    }
    return table[name.lower()]


def _activations(
    names: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    default: Sequence[str],
    directions: int,
) -> list[list[Activation]]:
    """Return the functions of each direction; parameters go to those that take some, in order."""
    wanted = list(names) if names else [*default] * directions
    left_alphas, left_betas = list(alphas or ()), list(betas or ())
    out: list[Activation] = []
    for name in wanted:
        has_alpha = name.lower() not in ("relu", "tanh", "sigmoid", "softsign", "softplus")
        has_beta = name.lower() in ("affine", "scaledtanh", "hardsigmoid")
        alpha = left_alphas.pop(0) if has_alpha and left_alphas else None
        out.append(_activation(name, alpha, left_betas.pop(0) if has_beta and left_betas else None))
    each = len(out) // directions
    return [out[i * each : (i + 1) * each] for i in range(directions)]


def _run(
    x: Tensor,
    states: Sequence[Sequence[Tensor]],
    steps: Sequence[Callable[[Tensor, State], State]],
    lengths: Tensor | None,
    direction: str,
    layout: int,
) -> tuple[Tensor, list[Tensor]]:
    """Run a cell over time in each direction.

    Returns:
        the first state at all times, `(time, directions, batch, hidden)` or in layout 1 with batch first; and
        the last states, each `(directions, batch, hidden)` or `(batch, directions, hidden)`.
    """
    time = as_number(sizes_of(x)[0])
    histories: list[Tensor] = []
    finals: list[State] = []
    for d, step in enumerate(steps):
        backward = direction == "reverse" or d == 1
        state = tuple(states[d])
        outputs: list[Tensor] = []
        for t in reversed(range(time)) if backward else range(time):
            new = step(x[t], state)
            if lengths is not None:
                runs = (lengths > t).reshape(-1, 1)
                outputs.append(runs.where(new[0], 0).cast(x.dtype))
                state = tuple(runs.where(n, o) for n, o in zip(new, state, strict=True))
            else:
                outputs.append(new[0])
                state = new
        ordered = outputs[::-1] if backward else outputs
        histories.append(_stacked(ordered, 0))
        finals.append(state)
    history = _stacked(histories, 1)
    last = [_stacked([final[i] for final in finals], 0) for i in range(len(finals[0]))]
    if layout:
        return history.permute(2, 0, 1, 3), [final.transpose(0, 1) for final in last]
    return history, last


def _stacked(tensors: Sequence[Tensor], axis: int) -> Tensor:
    return tensors[0].stack(*tensors[1:], axis=axis) if len(tensors) > 1 else tensors[0].unsqueeze(axis)


def _initial(state: Tensor | None, x: Tensor, count: int, hidden: int, layout: int) -> list[Tensor]:
    """Return the first state of each direction."""
    if state is None:
        return [Tensor.zeros(sizes_of(x)[1], hidden, dtype=x.dtype)] * count
    first = state.transpose(0, 1) if layout else state
    return [first[d] for d in range(count)]


def _biases(b: Tensor | None, w: Tensor, d: int) -> tuple[Tensor, Tensor]:
    """Return the biases of the input's and of the state's weights."""
    size = shape_of(w)[1]
    if b is None:
        zeros = Tensor.zeros(size, dtype=w.dtype)
        return zeros, zeros
    return b[d][:size], b[d][size:]


def _clipped(clip: float | None) -> Activation:
    return (lambda x: x) if clip is None else (lambda x: x.clip(-clip, clip))


@operator("RNN")
def rnn(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    activations: tuple[str, ...] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    layout: Literal[0, 1] = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, Tensor]:
    """Return the states of a layer at all times, and the last ones."""
    x = x.transpose(0, 1) if layout else x
    count, hidden = shape_of(w)[0], shape_of(r)[2]
    functions = _activations(activations, activation_alpha, activation_beta, ["Tanh"], count)
    limit = _clipped(clip)

    def cell(d: int) -> Callable[[Tensor, State], State]:
        of_input, of_state = _biases(b, w, d)
        weights, recurrence, f = w[d].transpose(0, 1), r[d].transpose(0, 1), functions[d][0]
        bias = of_input + of_state
        return lambda at, state: (f(limit(at.matmul(weights) + state[0].matmul(recurrence) + bias)),)

    states = [[h] for h in _initial(initial_h, x, count, hidden, layout)]
    history, (last,) = _run(x, states, [cell(d) for d in range(count)], sequence_lens, direction, layout)
    return history, last


@operator("GRU")
def gru(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    activations: tuple[str, ...] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    layout: Literal[0, 1] = 0,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, Tensor]:
    """Return the states of a gated layer at all times, and the last ones."""
    x = x.transpose(0, 1) if layout else x
    count, hidden = shape_of(w)[0], shape_of(r)[2]
    functions = _activations(activations, activation_alpha, activation_beta, ["Sigmoid", "Tanh"], count)
    limit = _clipped(clip)

    def cell(d: int) -> Callable[[Tensor, State], State]:
        of_input, of_state = _biases(b, w, d)
        weights, recurrence, (f, g) = w[d].transpose(0, 1), r[d].transpose(0, 1), functions[d]
        gates, candidate = recurrence[:, : 2 * hidden], recurrence[:, 2 * hidden :]

        def step(at: Tensor, state: State) -> State:
            (h,) = state
            given = at.matmul(weights) + of_input
            z_r = f(limit(given[:, : 2 * hidden] + h.matmul(gates) + of_state[: 2 * hidden]))
            update, reset = z_r[:, :hidden], z_r[:, hidden:]
            if linear_before_reset:
                inner = reset * (h.matmul(candidate) + of_state[2 * hidden :])
            else:
                inner = (reset * h).matmul(candidate) + of_state[2 * hidden :]
            new = g(limit(given[:, 2 * hidden :] + inner))
            return ((1 - update) * new + update * h,)

        return step

    states = [[h] for h in _initial(initial_h, x, count, hidden, layout)]
    history, (last,) = _run(x, states, [cell(d) for d in range(count)], sequence_lens, direction, layout)
    return history, last


@operator("LSTM")
def lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    *,
    activation_alpha: tuple[float, ...] | None = None,
    activation_beta: tuple[float, ...] | None = None,
    activations: tuple[str, ...] | None = None,
    clip: float | None = None,
    direction: Direction = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: Literal[0, 1] = 0,
    output_sequence: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return all states of an LSTM layer, its last states, and its last memory."""
    x = x.transpose(0, 1) if layout else x
    count, hidden = shape_of(w)[0], shape_of(r)[2]
    default = ["Sigmoid", "Tanh", "Tanh"]
    functions = _activations(activations, activation_alpha, activation_beta, default, count)
    limit = _clipped(clip)

    def cell(d: int) -> Callable[[Tensor, State], State]:
        of_input, of_state = _biases(b, w, d)
        weights, recurrence, (f, g, out) = w[d].transpose(0, 1), r[d].transpose(0, 1), functions[d]
        bias = of_input + of_state
        peep = Tensor.zeros(3 * hidden, dtype=x.dtype) if p is None else p[d]

        def step(at: Tensor, state: State) -> State:
            h, c = state
            i, o, forget, new = (at.matmul(weights) + h.matmul(recurrence) + bias).split(hidden, 1)
            i = f(limit(i + peep[:hidden] * c))
            forget = 1 - i if input_forget else f(limit(forget + peep[2 * hidden :] * c))
            memory = forget * c + i * g(limit(new))
            o = f(limit(o + peep[hidden : 2 * hidden] * memory))
            return o * out(memory), memory

        return step

    firsts = zip(
        _initial(initial_h, x, count, hidden, layout),
        _initial(initial_c, x, count, hidden, layout),
        strict=True,
    )
    states = [[h, c] for h, c in firsts]
    history, last = _run(x, states, [cell(d) for d in range(count)], sequence_lens, direction, layout)
    return history, last[0], last[1]
