"""Adam's step as one kernel that writes the parameter and both of its averages.

A kernel that stores to several tensors reads each input once. `python examples/custom_kernels/optimizer.py`
fits a line with it.
"""

from plugrad import Tensor, UOp

LR, BETA1, BETA2, EPSILON = 0.1, 0.9, 0.999, 1e-8


def adam(param: UOp, mean: UOp, square: UOp, grad: UOp, step: UOp) -> tuple[UOp, ...]:
    """Store the parameter and the averages after one step, element by element."""
    i = UOp.range(param.arg[1], 0)
    g = grad.index(i).load()
    t = step.index(i * 0).load()
    m = mean.index(i).load() * BETA1 + g * (1 - BETA1)
    v = square.index(i).load() * BETA2 + g * g * (1 - BETA2)
    # averages that began at zero are too small at first
    unbiased_m = m / (1 - t.const_like(BETA1) ** t)
    unbiased_v = v / (1 - t.const_like(BETA2) ** t)
    new = param.index(i).load() - unbiased_m / (unbiased_v.sqrt() + EPSILON) * LR
    return param.index(i).store(new, i), mean.index(i).store(m, i), square.index(i).store(v, i)


def main() -> list[float]:
    """Fit `y = 3x - 1`, and return the two coefficients."""
    x = Tensor.linspace(-1, 1, 64)
    y = x * 3 - 1
    w = Tensor([0.0, 0.0], requires_grad=True)
    mean, square = Tensor.zeros(2), Tensor.zeros(2)
    for step in range(1, 151):
        loss = (x * w[0] + w[1] - y).square().mean()
        (grad,) = loss.gradient(w)
        new = Tensor.custom_kernel(adam, w.detach(), mean, square, grad, Tensor([float(step)]))
        new[0].realize(*new[1:])
        w, mean, square = new[0].requires_grad_(), new[1], new[2]
    return w.tolist()


if __name__ == "__main__":
    slope, offset = main()
    print(f"y = {slope:.2f}x {offset:+.2f}")
