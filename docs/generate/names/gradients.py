"""Names of other libraries for those of docs/api/gradients.md: gradients."""

ROWS: dict[str, tuple[str, str, str]] = {
    "Tensor.gradient": ("torch.autograd.grad", "", "tinygrad.Tensor.gradient"),
    "Tensor.backward": ("torch.Tensor.backward", "", "tinygrad.Tensor.backward"),
}
