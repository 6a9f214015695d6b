"""Names of other libraries for those of docs/api/optim.md: optimizers."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.optim.ASGD": ("torch.optim.ASGD", "", ""),
    "nn.optim.LAMB": ("", "", "tinygrad.nn.optim.LAMB"),
    "nn.optim.LARS": ("", "", "tinygrad.nn.optim.LARS"),
    "nn.optim.SGD": ("torch.optim.SGD", "", "tinygrad.nn.optim.SGD"),
    "nn.optim.Adadelta": ("torch.optim.Adadelta", "", ""),
    "nn.optim.Adagrad": ("torch.optim.Adagrad", "", ""),
    "nn.optim.Adam": ("torch.optim.Adam", "", "tinygrad.nn.optim.Adam"),
    "nn.optim.AdamW": ("torch.optim.AdamW", "", "tinygrad.nn.optim.AdamW"),
    "nn.optim.Adamax": ("torch.optim.Adamax", "", ""),
    "nn.optim.GradScaler": ("torch.amp.GradScaler", "", ""),
    "nn.optim.Muon": ("torch.optim.Muon", "", "tinygrad.nn.optim.Muon"),
    "nn.optim.NAdam": ("torch.optim.NAdam", "", ""),
    "nn.optim.Optimizer": ("torch.optim.Optimizer", "", "tinygrad.nn.optim.Optimizer"),
    "nn.optim.OptimizerGroup": ("", "", "tinygrad.nn.optim.OptimizerGroup"),
    "nn.optim.RAdam": ("torch.optim.RAdam", "", ""),
    "nn.optim.RMSprop": ("torch.optim.RMSprop", "", ""),
    "nn.optim.Rprop": ("torch.optim.Rprop", "", ""),
    "nn.optim.clip_grad_norm_": ("torch.nn.utils.clip_grad_norm_", "", ""),
    "nn.optim.clip_grad_value_": ("torch.nn.utils.clip_grad_value_", "", ""),
}
