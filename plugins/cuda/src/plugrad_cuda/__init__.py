"""NVIDIA GPUs for plugrad: CUDA C, NVRTC and the driver API, without a toolkit."""
