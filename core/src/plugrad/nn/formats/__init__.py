"""Files of weights: safetensors, GGUF, and what `torch.save` writes."""
