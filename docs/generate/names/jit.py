"""Names of other libraries for those of docs/api/jit.md: the JIT."""

ROWS: dict[str, tuple[str, str, str]] = {
    "jit.JitWarning": ("", "", ""),
    "jit.TinyJit": ("torch.compile", "", "tinygrad.TinyJit"),
    "jit.jit": ("torch.compile", "", "tinygrad.TinyJit"),
}
