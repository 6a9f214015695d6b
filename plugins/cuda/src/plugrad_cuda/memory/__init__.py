"""Memory of GPUs: allocation, the driver's pool, and copies from one GPU to another."""
