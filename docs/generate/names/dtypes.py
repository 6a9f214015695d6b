"""Names of other libraries for those of docs/api/dtypes.md: dtypes."""

ROWS: dict[str, tuple[str, str, str]] = {
    "dtypes": ("torch.dtype", "np.dtype", "dtypes"),
}
