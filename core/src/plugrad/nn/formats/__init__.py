"""Files of weights: safetensors, GGUF, and files of `torch.save`."""
