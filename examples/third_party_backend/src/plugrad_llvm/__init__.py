"""A backend that writes LLVM's own language and compiles it in this process; `plugin` has the hooks."""
