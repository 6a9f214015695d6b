"""Names of other libraries for those of docs/api/layers.md: normalization and attention."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "Tensor.layernorm": (
        "torch.nn.functional.layer_norm",
        "",
        "tinygrad.Tensor.layernorm",
        "f(x); torch: f(x, (4,))",
    ),
    "Tensor.layer_norm": ("torch.nn.functional.layer_norm", "", "", "f(x, (4,))"),
    "Tensor.rms_norm": ("torch.nn.functional.rms_norm", "", "", "f(x, (4,))"),
    "Tensor.group_norm": ("torch.nn.functional.group_norm", "", "", "f(image, 2)"),
    "Tensor.groupnorm": ("torch.nn.functional.group_norm", "", "", "f(image, 2)"),
    "Tensor.instance_norm": ("torch.nn.functional.instance_norm", "", "", "f(image)"),
    "Tensor.batchnorm": (
        "torch.nn.functional.batch_norm",
        "",
        "tinygrad.Tensor.batchnorm",
        "f(image, v, w, v / 2, w * w); torch: f(image, v / 2, w ** -4 - 1e-5, v, w)",
    ),
    "Tensor.batch_norm": ("torch.nn.functional.batch_norm", "", "", "f(image, v, w * w)"),
    "Tensor.batch_statistics": (
        "torch.var_mean",
        "",
        "",
        "f(image); torch: f(image, (0, 2, 3), correction=0)[::-1]",
    ),
    "Tensor.scaled_dot_product_attention": (
        "torch.nn.functional.scaled_dot_product_attention",
        "",
        "tinygrad.Tensor.scaled_dot_product_attention",
        "f(signal, signal + 1, signal * 2)",
    ),
    "Tensor.sequential": (
        "torch.nn.Sequential",
        "",
        "tinygrad.Tensor.sequential",
        "f(x, [lambda x: x * 2, lambda x: x + 1]); torch: f(torch.nn.ReLU())(x * 0) + x * 2 + 1",
    ),
}
