"""The CPU as a plugrad device: kernels as C with vector extensions, compiled by clang, gcc or zig."""
