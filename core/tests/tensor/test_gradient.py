from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import DtypeError, GradientError, ShapeError
from plugrad.jit import jit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4)).astype(np.float32)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: (x * x * 2).sum(),
    "quotient": lambda x: (1 / (x * x + 1)).sum(),
    "exponential": lambda x: x.exp().sum(),
    "logarithm": lambda x: (x * x + 0.5).log().sum(),
    "cosine": lambda x: (x.cos() * x.sin()).sum(),
    "softmax": lambda x: (x.softmax(-1) ** 2).sum(),
    "log_softmax": lambda x: (x.log_softmax(0) * x).sum(),
    "logsumexp": lambda x: x.logsumexp(1).sum(),
    "variance": lambda x: x.var(1).sum(),
    "deviation": lambda x: x.std().sum(),
    "greatest": lambda x: (x.max(1) if isinstance(x, Tensor) else x.max(1).values).sum(),
    "least": lambda x: x.min(),
    "all_multiplied": lambda x: x.prod(1).sum(),
    "matrix": lambda x: (x @ x.T).square().sum(),
    "moved": lambda x: (x.permute(1, 0).reshape(2, 6) * x.reshape(2, 6)).sum(),
    "sliced": lambda x: (x[1:, ::2] * 3).sum() + x[0, 1],
    "flipped": lambda x: (x.flip(0) * x).sum(),
    "expanded": lambda x: (x[:, :1].expand(3, 4) * x).square().sum(),
    "joined": lambda x: (
        (type(x).cat(x, x * 2) if isinstance(x, Tensor) else torch.cat([x, x * 2])).square().sum()
    ),
    "chosen": lambda x: (
        x.where(x > 0, x * 2).sum() if isinstance(x, torch.Tensor) else (x > 0).where(x, x * 2).sum()
    ),
    "absolute": lambda x: x.abs().sum(),
    "power": lambda x: (x.abs() + 0.1).pow(1.7).sum(),
    "remainder": lambda x: (x % 0.3).sum(),
    "mean": lambda x: (x.mean(0) * x.mean(1)[0]).sum(),
    "tanh": lambda x: x.tanh().square().sum(),
    "sigmoid": lambda x: x.sigmoid().log().sum(),
    "clamped": lambda x: x.clamp(-0.5, 0.5).square().sum(),
    "square_root": lambda x: (x * x + 1).sqrt().sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_torch(name: str) -> None:
    x, y = Tensor(X), torch.tensor(X, requires_grad=True)
    FUNCTIONS[name](y).backward()
    (gradient,) = FUNCTIONS[name](x).gradient(x)
    assert gradient.shape == x.shape
    np.testing.assert_allclose(gradient.numpy(), y.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["exponential", "softmax", "matrix", "sigmoid", "square_root", "tanh", "quotient"]
)
def test_gradients_have_gradients(name: str) -> None:
    x, y = Tensor(X), torch.tensor(X, requires_grad=True)
    (first,) = torch.autograd.grad(FUNCTIONS[name](y), y, create_graph=True)
    (second,) = torch.autograd.grad((first * first).sum(), y)
    (ours,) = FUNCTIONS[name](x).gradient(x)
    (ours,) = (ours * ours).sum().gradient(x)
    np.testing.assert_allclose(ours.numpy(), second.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["product", "softmax", "matrix", "logsumexp", "tanh", "variance"])
def test_gradients_are_slopes(name: str) -> None:
    x = RNG.standard_normal((3, 4))
    (gradient,) = FUNCTIONS[name](t := Tensor(x)).gradient(t)
    direction = RNG.standard_normal((3, 4))
    step = 1e-5
    ends = [FUNCTIONS[name](Tensor(x + sign * step * direction)).item() for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose((gradient.numpy() * direction).sum(), slope, rtol=1e-4, atol=1e-6)


def test_several_targets_at_once() -> None:
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    da, db = (a * b).sum().gradient(a, b)
    assert (da.tolist(), db.tolist()) == ([3.0, 4.0], [1.0, 2.0])


def test_an_inner_value_may_be_a_target() -> None:
    x = Tensor([1.0, 2.0])
    h = x * 3
    dh, dx = (h * h).sum().gradient(h, x)
    assert (dh.tolist(), dx.tolist()) == ([6.0, 12.0], [18.0, 36.0])


def test_a_gradient_may_flow_into_any_shape() -> None:
    x = Tensor([1.0, 2.0])
    (dx,) = (x * x).gradient(x, gradient=Tensor([1.0, 10.0]))
    assert dx.tolist() == [2.0, 40.0]
    with pytest.raises(ShapeError, match=r"gradient of shape \(3,\) for a tensor of shape \(2,\)"):
        (x * x).gradient(x, gradient=Tensor.ones(3))


def test_what_cannot_have_a_gradient_is_refused() -> None:
    x = Tensor([1.0, 2.0])
    with pytest.raises(GradientError, match=r"has 2 elements; a gradient starts at one. Reduce it"):
        (x * x).gradient(x)
    with pytest.raises(GradientError, match="does not depend on"):
        (x * x).sum().gradient(Tensor([1.0]))
    with pytest.raises(GradientError, match="does not depend on"):
        (x.detach() * 2).sum().gradient(x)
    with pytest.raises(GradientError, match="holds no floats"):
        x.argmax().gradient(x)
    with pytest.raises(GradientError, match="does not depend on any tensor with requires_grad"):
        (x * x).sum().backward()
    with pytest.raises(GradientError, match="holds no floats, so it has no gradient"):
        Tensor([1], requires_grad=True)
    with pytest.raises(GradientError, match="one of them was realized before"):
        (x * x).sum().realize().gradient(x)


# --- backward ---


def test_backward_fills_the_leaves_and_adds_up() -> None:
    w, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([0.5], requires_grad=True)
    x = Tensor([3.0, 4.0])
    loss = (w * x + b).sum()
    assert loss.backward() is loss
    assert (w.grad.tolist(), b.grad.tolist()) == ([3.0, 4.0], [2.0])
    assert x.grad is None
    (w * w).sum().backward()
    assert w.grad.tolist() == [5.0, 8.0]


def test_a_grad_that_is_no_gradient_is_refused() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    wrong: Any = 3
    for grad, error, message in (
        (wrong, DtypeError, "has a .grad of int"),
        (Tensor([1.0, 1.0]).double(), DtypeError, "has a .grad of float64"),
        (Tensor([1.0]), ShapeError, r"has a .grad of shape \(1,\). Set it to None"),
    ):
        w.grad = grad
        with pytest.raises(error, match=message):
            (w * w).sum().backward()
        assert w.grad is grad
    w.grad = Tensor([10.0, 20.0])
    (w * w).sum().backward()
    assert w.grad.tolist() == [12.0, 24.0]


def test_equal_parameters_are_told_apart() -> None:
    a, b = Tensor.zeros(2, requires_grad=True), Tensor.zeros(2, requires_grad=True)
    c = Tensor.ones(2).contiguous()
    d = Tensor.ones(2).contiguous()
    c.requires_grad = d.requires_grad = True
    (a * 2 + b * 3 + c * 5 + d * 7).sum().backward()
    assert [t.grad.tolist()[0] for t in (a, b, c, d)] == [2.0, 3.0, 5.0, 7.0]
    assert [t.tolist()[0] for t in (a, b, c, d)] == [0.0, 0.0, 1.0, 1.0]


def test_backward_works_after_the_loss_or_a_parameter_was_computed() -> None:
    w = (Tensor.rand(3) + 1).contiguous()
    w.requires_grad = True
    loss = (w * w * w).sum()
    value = loss.item()
    numbers = w.numpy()
    np.testing.assert_allclose(value, (numbers**3).sum(), rtol=1e-5)
    loss.backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), 3 * numbers**2, rtol=1e-5)


def test_detach_and_integers_stop_the_gradient() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    out = w * 2
    assert out.requires_grad
    assert not out.detach().requires_grad
    assert not (out > 1).requires_grad
    assert not out.argmax().requires_grad
    (out.detach() * w).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]


def test_a_realized_result_that_needs_no_gradient_forgets_how_it_was_made() -> None:
    t = Tensor([1.0])
    for _ in range(5):
        t = (t + 1).realize()
    assert len(t.uop.toposort()) == 1
    assert t.item() == 6.0


def test_training_on_one_batch_reads_the_parameters_of_each_step() -> None:
    # every step builds the same graph, while the last step's tensors are still alive
    x, y = RNG.standard_normal((8, 3)).astype(np.float32), RNG.standard_normal((8, 1)).astype(np.float32)
    ours, inputs, targets = Tensor(np.ones((3, 1), np.float32), requires_grad=True), Tensor(x), Tensor(y)
    theirs = torch.ones(3, 1, requires_grad=True)
    losses: list[Tensor] = []
    for _ in range(4):
        loss = ((inputs @ ours - targets) ** 2).mean()
        ours.grad = None
        loss.backward()
        assert ours.grad is not None
        ours.assign(ours.detach() - ours.grad * 0.1).realize()
        losses.append(loss)
        expected = ((torch.tensor(x) @ theirs - torch.tensor(y)) ** 2).mean()
        theirs.grad = None
        expected.backward()
        with torch.no_grad():
            theirs -= theirs.grad * 0.1
        np.testing.assert_allclose(loss.item(), expected.item(), rtol=1e-5)
        np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-5)
    values = [loss.item() for loss in losses]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_losses_that_are_read_late_have_the_values_of_their_step() -> None:
    w = Tensor([1.0], requires_grad=True)
    losses: list[Tensor] = []
    for _ in range(3):
        loss = (w * w).sum()
        w.grad = None
        loss.backward()
        assert w.grad is not None
        w.assign(w.detach() - w.grad * 0.25).realize()
        losses.append(loss)
    assert [loss.item() for loss in losses] == [1.0, 0.25, 0.0625]


# --- values that were computed before ---


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_value_that_was_computed_before_stands_for_no_graph_that_is_built_again(is_kept: bool) -> None:
    x = Tensor([1.0, 2.0, 4.0]).realize()
    a = x.reciprocal()
    b = a - 2.5
    a.realize()
    if not is_kept:
        # `b` keeps the graph alive, whose memory nobody owns any more
        del a
    (gradient,) = ((x.reciprocal() - 2.5).sum() + (x * 3).sum()).gradient(x)
    assert gradient.tolist() == [2.0, 2.75, 2.9375]
    assert b.sum().gradient(x)[0].tolist() == [-1.0, -0.25, -0.0625]


def test_a_realized_root_has_no_history_whoever_was_realized_first() -> None:
    x = Tensor([1.0, 2.0])
    roots = [(x * x).sum(), (x * x).sum()]
    roots[0].realize(roots[1])
    for root in roots:
        with pytest.raises(GradientError, match="was realized before"):
            root.gradient(x)


def test_what_is_computed_for_another_value_keeps_its_history() -> None:
    x = Tensor([1.0, 2.0]).realize()
    y = (x * 2).contiguous()
    y.sum().realize()
    assert (y * x).sum().gradient(x)[0].tolist() == [4.0, 8.0]
    assert (y * x).sum().gradient(y)[0].tolist() == [1.0, 2.0]


def test_a_realized_value_is_a_constant_whatever_has_the_same_graph() -> None:
    x = Tensor([1.0, 2.0]).realize()
    first = (x * 2).realize()
    second = (x * 2).realize()
    for y in (first, second, second.reshape(2, 1).reshape(2)):
        assert (y * x).sum().gradient(x)[0].tolist() == [2.0, 4.0]
        with pytest.raises(GradientError, match="does not depend on"):
            y.sum().gradient(x)


def test_a_target_is_told_apart_from_another_value_in_the_same_memory() -> None:
    x = Tensor([1.0, 2.0]).realize()
    y, z = x.contiguous(), x.detach().contiguous()
    Tensor.realize(x.contiguous(), x.detach().contiguous())
    assert (y * z * 3).sum().gradient(y)[0].tolist() == [3.0, 6.0]


def test_a_target_that_was_realized_is_found_in_older_graphs() -> None:
    x = Tensor([1.0, 2.0]).realize()
    y = x * 2
    row = y.reshape(1, 2)[0]
    old = (y * row).sum()
    y.realize()
    assert old.gradient(y)[0].tolist() == [4.0, 8.0]
    assert old.gradient(row)[0].tolist() == [2.0, 4.0]
    assert (old + (y * 10).sum()).gradient(y)[0].tolist() == [14.0, 18.0]


def test_what_is_no_tensor_has_no_gradient() -> None:
    x = Tensor([1.0, 2.0])
    wrong: Any = "a"
    with pytest.raises(DtypeError, match=r"gradient for 'a' \(str\), which is no tensor"):
        x.sum().gradient(wrong)
    wrong = [x]
    with pytest.raises(DtypeError, match=r"\(list\), which is no tensor"):
        x.sum().gradient(wrong)
    wrong = 1.0
    with pytest.raises(DtypeError, match=r"gradient=1\.0 \(float\) is no tensor\. Pass one of shape \(2,\)"):
        x.gradient(x, gradient=wrong)


@pytest.mark.parametrize("made", [lambda: Tensor([1.0, 2.0]), lambda: Tensor.arange(2) + 1.0])
def test_no_gradient_flows_through_detached_memory_that_was_computed(made: Any) -> None:
    w = made()
    w.requires_grad = True
    loss = (w * w.detach()).sum()
    loss.realize(w)
    loss.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [1.0, 2.0]
    y = w * 3
    (y * y.detach().realize()).sum().backward()
    assert w.grad.tolist() == [10.0, 20.0]


@pytest.mark.parametrize("index", [slice(1, 3), slice(None, None, 2), slice(-1, 1, -1), [0, 3]], ids=str)
def test_gradients_flow_through_what_is_written_to_a_part_of_memory(index: Any) -> None:
    def gradients(make: Callable[[list[float]], Any]) -> list[Any]:
        memory, old, new = make([5.0, 6.0, 7.0, 8.0]), make([1.0, 2.0, 3.0, 4.0]), make([3.0, 2.0])
        old.requires_grad = new.requires_grad = True
        memory = memory.assign(old * 2) if isinstance(memory, Tensor) else old * 2
        if isinstance(index, slice) and (index.step or 1) < 0 and not isinstance(memory, Tensor):
            memory[[3, 2]] = new * new
        else:
            memory[index] = new * new
        ((memory * memory).sum() + new.sum()).backward()
        return [old.grad.tolist(), new.grad.tolist()]

    assert gradients(lambda values: Tensor(values).realize()) == gradients(torch.tensor)


def test_a_gradient_that_needs_overwritten_memory_is_refused() -> None:
    w = Tensor([1.0, 2.0]).realize()
    w.requires_grad = True
    square, cube, triple = (w * w).sum(), (w * w * w).sum(), (w * 3).sum()
    copy = w.contiguous()
    copied = (copy * copy).sum()
    waiting = square.gradient(w)[0]
    w.assign([5.0, 6.0])
    assert triple.gradient(w)[0].tolist() == [3.0, 3.0]
    w.realize()
    for ask in (cube.backward, lambda: cube.gradient(w)):
        with pytest.raises(GradientError, match=r"of shape \(2,\) held .* has been overwritten since"):
            ask()
    # written down before, and computed in time
    assert waiting.tolist() == [2.0, 4.0]
    assert triple.gradient(w)[0].tolist() == [3.0, 3.0]
    assert (w * w).sum().gradient(w)[0].tolist() == [10.0, 12.0]
    assert copied.gradient(w)[0].tolist() == [2.0, 4.0]


def test_gradients_do_not_take_a_passing_version_of_memory_for_the_last_one() -> None:
    for is_alone in (True, False):
        w = Tensor([3.0], requires_grad=True)
        x = Tensor([1.0, 2.0]).realize()
        x *= 2
        loss = (x * w).sum()
        if is_alone:
            x.realize()
        x[0] = 50.0
        x.realize()
        assert loss.item() == 18.0
        with pytest.raises(GradientError, match=r"of shape \(2,\) held .* has been overwritten since"):
            loss.gradient(w)


def test_a_gradient_that_needs_memory_that_a_replay_overwrote_is_refused() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True).realize()

    @jit
    def step() -> None:
        w.assign(w.detach() * 2)

    for _ in range(4):
        loss = (w * w).sum()
        step()
        with pytest.raises(GradientError, match="overwritten since"):
            loss.backward()


@pytest.mark.parametrize("realized", [False, True])
def test_no_gradient_flows_into_the_values_before_an_assign(realized: bool) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True).realize()
    (w * w).sum().backward()
    assert w.grad is not None
    old = w.sum()
    w.assign(w - w.grad * 0.25)
    w.grad = None
    loss = (w * w).sum()
    both = loss + old
    if realized:
        loss.realize(w, both)
    loss.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [1.0, 2.0]
    with pytest.raises(GradientError, match="held before and after it was written to"):
        both.backward()


def test_what_is_computed_without_gradients_has_none() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    with Tensor.no_grad():
        y, row = w * 2, w[:1]
        with Tensor.no_grad(mode=False):
            z = w * 3
    assert [t.requires_grad for t in (y, row, z, w * y)] == [False, False, True, True]
    (slope,) = (w * y + z).sum().gradient(w)
    assert slope.tolist() == [5.0, 7.0]
    with pytest.raises(GradientError, match="does not depend on"):
        (y.sum() + row.sum()).gradient(w)


def test_parameters_are_written_to_without_gradients() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    other = Tensor([1.0, 1.0], requires_grad=True)
    before = w
    with Tensor.no_grad():
        w -= other * 0.5
        w += other
        w[0] = other[1] * 8
    assert w is before
    assert w.requires_grad
    assert w.tolist() == [8.0, 2.5]
    (w * w).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [16.0, 5.0]
    assert other.grad is None


def test_a_function_can_be_without_gradients() -> None:
    @Tensor.no_grad()
    def double(x: Tensor) -> Tensor:
        return x * 2

    w = Tensor([1.0], requires_grad=True)
    assert not double(w).requires_grad
    assert (w * 2).requires_grad


def test_gradients_that_are_asked_for_without_gradients_are_values() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    loss = (w * w).sum()
    with Tensor.no_grad():
        (slope,) = loss.gradient(w)
    assert not slope.requires_grad
    assert slope.tolist() == [2.0, 4.0]


def test_graphs_are_kept_whether_asked_for_or_not() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    loss = (w**3).sum()
    loss.backward(retain_graph=True)
    loss.backward(create_graph=True, retain_graph=False)
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.sum().gradient(w)[0].numpy(), [12, 24])
    np.testing.assert_allclose(w.grad.numpy(), [6, 24])
