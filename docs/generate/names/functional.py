"""Names of other libraries for those of docs/api/functional.md: functions of layers."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.functional.relu": ("torch.nn.functional.relu", "", "", "f(x)"),
    "nn.functional.gelu": ("torch.nn.functional.gelu", "", "", "f(x)"),
    "nn.functional.dropout": ("torch.nn.functional.dropout", "", "", "f(x, 1.0, training=True)"),
    "nn.functional.linear": ("torch.nn.functional.linear", "", "", "f(x, y)"),
    "nn.functional.embedding": ("torch.nn.functional.embedding", "", "", "f(k, x)"),
}
