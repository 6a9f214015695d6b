"""What runs kernels: buffers, allocators, compilers, runners, and the cache of compiled kernels on disk."""
