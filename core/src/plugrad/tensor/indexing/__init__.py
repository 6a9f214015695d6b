"""Read and write elements by slices, positions and masks."""
