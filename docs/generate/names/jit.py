"""Names of other libraries for those of docs/api/jit.md: the JIT."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "jit.TinyJit": (
        "torch.compile",
        "",
        "tinygrad.TinyJit",
        "f(lambda x: (x + 1).realize())(x); torch: f(lambda x: x + 1, backend='eager')(x)",
    ),
    "jit.jit": (
        "torch.compile",
        "",
        "tinygrad.TinyJit",
        "f(lambda x: (x + 1).realize())(x); torch: f(lambda x: x + 1, backend='eager')(x)",
    ),
}
