"""Names of other libraries for those of docs/api/plugrad.md: devices, variables, settings."""

ROWS: dict[str, tuple[str, str, str]] = {
    "Device": ("torch.device", "", "tinygrad.Device"),
    "Variable": ("", "", "tinygrad.Variable"),
    "context": ("", "", "tinygrad.Context"),
}
