"""Names of other libraries for those of docs/api/layers.md: normalization and attention."""

ROWS: dict[str, tuple[str, str, str]] = {
    "Tensor.layernorm": ("torch.nn.functional.layer_norm", "", "tinygrad.Tensor.layernorm"),
    "Tensor.layer_norm": ("torch.nn.functional.layer_norm", "", ""),
    "Tensor.rms_norm": ("torch.nn.functional.rms_norm", "", ""),
    "Tensor.group_norm": ("torch.nn.functional.group_norm", "", ""),
    "Tensor.groupnorm": ("torch.nn.functional.group_norm", "", ""),
    "Tensor.instance_norm": ("torch.nn.functional.instance_norm", "", ""),
    "Tensor.batchnorm": ("torch.nn.functional.batch_norm", "", "tinygrad.Tensor.batchnorm"),
    "Tensor.batch_norm": ("torch.nn.functional.batch_norm", "", ""),
    "Tensor.batch_statistics": ("torch.var_mean", "", ""),
    "Tensor.scaled_dot_product_attention": (
        "torch.nn.functional.scaled_dot_product_attention",
        "",
        "tinygrad.Tensor.scaled_dot_product_attention",
    ),
    "Tensor.sequential": ("torch.nn.Sequential", "", "tinygrad.Tensor.sequential"),
}
