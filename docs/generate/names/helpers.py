"""Names of other libraries for those of docs/api/helpers.md: helpers of programs."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "helpers.Context": ("", "", "tinygrad.Context", "worked(f(DEBUG=0))"),
    "helpers.Counters": ("torch.profiler.profile", "", "tinygrad.helpers.GlobalCounters", "f is not None"),
    "helpers.Timing": ("", "", "tinygrad.helpers.Timing", "worked(f())"),
    "helpers.fetch": (
        "torch.hub.download_url_to_file",
        "",
        "tinygrad.helpers.fetch",
        "f(url).read_bytes(); "
        "torch: (f(url, path := folder / 'fetched', progress=False), path.read_bytes())[1]; "
        "tinygrad: f",
    ),
    "helpers.flatten": ("", "", "tinygrad.helpers.flatten", "f([[1, 2], [3]])"),
    "helpers.getenv": ("", "", "tinygrad.helpers.getenv", "f('NOT_THERE', 3)"),
    "helpers.prod": ("", "", "tinygrad.helpers.prod", "f((2, 3, 4))"),
}
