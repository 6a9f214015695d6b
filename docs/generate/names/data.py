"""Names of other libraries for those of docs/api/data.md: batches of data."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.data.DataLoader": ("torch.utils.data.DataLoader", "", "", "[batch for batch in f([0, 1, 2, 3], 2)]"),
    "nn.data.TensorDataset": ("torch.utils.data.TensorDataset", "", "", "f(x, y)[1]"),
    "nn.data.collate": ("torch.utils.data.default_collate", "", "", "f([v, w])"),
}
