"""A backend that writes LLVM IR and compiles it in this process; see `plugin`."""
