"""Names of other libraries for those of docs/api/helpers.md: helpers of programs."""

ROWS: dict[str, tuple[str, str, str]] = {
    "helpers.Context": ("", "", "tinygrad.Context"),
    "helpers.Counters": ("torch.profiler.profile", "", "tinygrad.helpers.GlobalCounters"),
    "helpers.Timing": ("", "", "tinygrad.helpers.Timing"),
    "helpers.fetch": ("torch.hub.download_url_to_file", "", "tinygrad.helpers.fetch"),
    "helpers.flatten": ("", "", "tinygrad.helpers.flatten"),
    "helpers.getenv": ("", "", "tinygrad.helpers.getenv"),
    "helpers.prod": ("", "", "tinygrad.helpers.prod"),
}
