"""From linear programs to the source of kernels."""
