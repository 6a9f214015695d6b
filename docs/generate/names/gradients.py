"""Names of other libraries for those of docs/api/gradients.md: gradients."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "Tensor.gradient": (
        "torch.autograd.grad",
        "",
        "tinygrad.Tensor.gradient",
        "[f((each * each).sum(), each) for each in [leaf()]]",
    ),
    "Tensor.backward": (
        "torch.Tensor.backward",
        "",
        "tinygrad.Tensor.backward",
        "[(f((each * each).sum()), each.grad)[1] for each in [leaf()]]",
    ),
}
