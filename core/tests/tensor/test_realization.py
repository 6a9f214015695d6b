from plugrad import Tensor
from plugrad.transforms import jvp, vmap
from plugrad.uop.ops import Ops


def cubed(x: Tensor) -> Tensor:
    return (x * x).contiguous_backward() * x


def test_a_gradient_gets_memory_of_its_own() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    (gradient,) = cubed(x).sum().gradient(x)
    assert Ops.CONTIGUOUS in {u.op for u in gradient.uop.toposort()}
    assert Ops.CONTIGUOUS not in {u.op for u in cubed(x).uop.toposort()}
    (curvature,) = gradient.sum().gradient(x)
    assert gradient.tolist() == [3.0, 12.0, 27.0]
    assert curvature.tolist() == [6.0, 12.0, 18.0]
    assert vmap(cubed)(x.reshape(3, 1)).tolist() == [[1.0], [8.0], [27.0]]
    assert jvp(cubed, (x,), (x,))[1].tolist() == [3.0, 24.0, 81.0]


def test_what_has_no_gradient_stays_as_it_is() -> None:
    assert Tensor([1, 2]).contiguous_backward().tolist() == [1, 2]


def test_a_clone_has_memory_of_its_own_and_a_gradient() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x.detach().clone()
    y += 1
    assert (x.tolist(), y.tolist()) == ([1.0, 2.0], [2.0, 3.0])
    (x.clone() * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]
