"""Kernels written in Python."""

from typing import Any

import pytest

from plugrad import Ops, Tensor, UOp, Variable, dtypes, events
from plugrad.errors import ArgumentError, DeviceError, DtypeError, ShapeError, VerifyError
from plugrad.jit import jit


def add(out: UOp, a: UOp, b: UOp) -> UOp:
    i = UOp.range(out.arg[1], 0)
    return out.index(i).store(a.index(i).load() + b.index(i).load(), i)


def momentum(param: UOp, mean: UOp, grad: UOp) -> tuple[UOp, UOp]:
    i = UOp.range(param.arg[1], 0)
    m = mean.index(i).load() * 0.5 + grad.index(i).load()
    return mean.index(i).store(m, i), param.index(i).store(param.index(i).load() - m, i)


def launched(function: Any) -> list[str]:
    names: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: names.append(event.name.rsplit("_", 1)[0])):
        function()
    return names


def test_a_kernel_computes_from_memory_views_numbers_and_values_that_wait() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    for a, b in (
        (x, x.T),
        (x, x * 2),
        (x[1], x[:, 0]),
        (Tensor.ones(2), x[0]),
        (x.reshape(4), x.flip(0).reshape(4)),
    ):
        (y,) = Tensor.custom_kernel(add, Tensor.empty(*b.shape), a, b)
        assert y.shape == b.shape
        assert y.tolist() == (a + b).tolist()


def test_outputs_may_stand_anywhere_and_stay_what_they_are() -> None:
    out = Tensor.zeros(2).contiguous().realize()
    kernel = lambda a, out, b: add(out, a, b)  # noqa: E731
    (y,) = Tensor.custom_kernel(kernel, Tensor([1.0, 2.0]), out, Tensor([3.0, 4.0]))
    assert y.tolist() == [4.0, 6.0]
    assert out.tolist() == [0.0, 0.0]


def test_one_launch_writes_all_outputs_and_loads_what_they_held() -> None:
    p, m, g = (Tensor(v).realize() for v in ([1.0, 2.0], [2.0, 2.0], [3.0, 5.0]))
    new_p, new_m = Tensor.custom_kernel(momentum, p, m, g)
    assert launched(lambda: new_m.realize()).count("momentum") == 1
    new_m.assign(new_m * 10)
    assert launched(lambda: (new_p + new_m).realize()).count("momentum") == 0
    assert [t.tolist() for t in (new_p, new_m, p, m)] == [[-3.0, -4.0], [40.0, 60.0], [1.0, 2.0], [2.0, 2.0]]


def test_a_result_is_used_and_written_like_any_other_tensor() -> None:
    x = Tensor([1.0, 2.0]).realize()
    (y,) = Tensor.custom_kernel(add, Tensor.empty(2), x, x)
    (z,) = Tensor.custom_kernel(add, Tensor.empty(2), y, y * 3)
    before = z + 1
    z[0] = 7.0
    assert (before.tolist(), z.tolist(), y.tolist()) == ([9.0, 17.0], [7.0, 16.0], [2.0, 4.0])


def test_loops_that_are_reduced_need_no_kind() -> None:
    def row_sums(out: UOp, x: UOp) -> UOp:
        i, j = UOp.range(2, 0), UOp.range(3, 1)
        return out.index(i).store(x.index(i * 3 + j).load().reduce(Ops.ADD, j), i)

    x = Tensor([[1, 2, 3], [4, 5, 6]])
    (y,) = Tensor.custom_kernel(row_sums, Tensor.empty(2, dtype=dtypes.int32), x)
    assert y.tolist() == [6, 15]


def test_the_gradient_is_the_function_that_was_given() -> None:
    def double(out: UOp, x: UOp) -> UOp:
        i = UOp.range(2, 0)
        return out.index(i).store(x.index(i).load() * 2, i)

    x = Tensor([1.0, 2.0], requires_grad=True)
    (y,) = Tensor.custom_kernel(double, Tensor.empty(2), x, gradient=lambda grads, ins, outs: [grads[0] * 20])
    assert (y * Tensor([1.0, 3.0])).sum().gradient(x)[0].tolist() == [20.0, 60.0]
    (plain,) = Tensor.custom_kernel(double, Tensor.empty(2), x)
    assert not plain.requires_grad


def test_a_jitted_function_replays_kernels() -> None:
    @jit
    def step(p: Tensor, m: Tensor, g: Tensor) -> tuple[Tensor, ...]:
        return Tensor.custom_kernel(momentum, p, m, g * 2)

    for value in (1.0, 2.0, 3.0, 4.0):
        p, m = step(*(Tensor([value]).realize() for _ in range(3)))
        assert (p.tolist(), m.tolist()) == ([-1.5 * value], [2.5 * value])


def test_equal_kernels_are_compiled_once() -> None:
    kernels = [
        Tensor.custom_kernel(add, Tensor.empty(2), Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))[0]
        for _ in range(2)
    ]
    asts = [[step.ast for step in k.schedule() if step.ast.op is Ops.SINK] for k in kernels]
    assert asts[0] == asts[1]


def test_mistakes_in_a_kernel_are_named() -> None:
    x = Tensor([1.0, 2.0])
    i = UOp.range(2, 0)
    with pytest.raises(ArgumentError, match="which is no STORE"):
        Tensor.custom_kernel(lambda out, a: a.index(i).load(), Tensor.empty(2), x)
    with pytest.raises(ArgumentError, match="never ends r0"):
        Tensor.custom_kernel(lambda out, a: out.index(i).store(a.index(i).load()), Tensor.empty(2), x)
    with pytest.raises(VerifyError, match="forbids STORE"):
        Tensor.custom_kernel(lambda out, a: out.index(i).store(i, i), Tensor.empty(2), x)
    with pytest.raises(ArgumentError, match="there are no tensors"):
        Tensor.custom_kernel(add)
    with pytest.raises(DtypeError, match="custom_kernel of 3"):
        Tensor.custom_kernel(add, x, x, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ShapeError, match="symbolic"):
        Tensor.custom_kernel(add, x, x, x[: Variable("n", 1, 2).bind(1)])
    with pytest.raises(DeviceError, match="do not mix"):
        Tensor.custom_kernel(add, x, x, Tensor([1.0, 2.0], device="NULL").realize())


def test_loads_that_wait_for_stores_are_refused() -> None:
    def running_sum(out: UOp) -> UOp:
        i = UOp.range(3, 0)
        return out.index(i).store(out.after(i).index(i).load() + 1.0, i)

    with pytest.raises(ArgumentError, match="loads memory after something else"):
        Tensor.custom_kernel(running_sum, Tensor.zeros(3).contiguous())
