"""Run kernels: buffers, allocators, compilers, runners, and the disk cache of compiled kernels."""
