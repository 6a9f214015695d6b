"""Names of other libraries for those of docs/api/dtypes.md: dtypes."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "dtypes": (
        "torch.dtype",
        "np.dtype",
        "tinygrad.dtypes",
        "f.float32.itemsize; np: f('float32').itemsize; torch: torch.float32.itemsize if f else 0",
    ),
}
