"""Names of other libraries for those of docs/api/data.md: batches of data."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.data.DataLoader": ("torch.utils.data.DataLoader", "", ""),
    "nn.data.TensorDataset": ("torch.utils.data.TensorDataset", "", ""),
    "nn.data.collate": ("torch.utils.data.default_collate", "", ""),
}
