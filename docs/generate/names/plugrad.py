"""Names of other libraries for those of docs/api/plugrad.md: devices, variables, settings."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "Device": (
        "torch.device",
        "",
        "tinygrad.Device",
        "f['PYTHON'] is not None; torch: f('cpu') is not None; tinygrad: f['PYTHON'] is not None",
    ),
    "Variable": ("", "", "tinygrad.Variable", "f('length', 1, 8).bind(3).unbind()[1]"),
    "context": ("", "", "tinygrad.Context", "worked(f(DEBUG=0))"),
}
