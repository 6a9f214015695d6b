"""OpenCL devices for plugrad: GPUs of any vendor, and CPUs through PoCL, by pyopencl."""
