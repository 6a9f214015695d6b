"""Run kernels on the CPU as C with vector extensions, by clang, gcc or zig."""
