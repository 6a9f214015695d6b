"""Names of other libraries for those of docs/api/functional.md: functions of layers."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.functional.relu": ("torch.nn.functional.relu", "", ""),
    "nn.functional.gelu": ("torch.nn.functional.gelu", "", ""),
    "nn.functional.dropout": ("torch.nn.functional.dropout", "", ""),
    "nn.functional.linear": ("torch.nn.functional.linear", "", ""),
    "nn.functional.embedding": ("torch.nn.functional.embedding", "", ""),
}
