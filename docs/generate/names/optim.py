"""Names of other libraries for those of docs/api/optim.md: optimizers."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.optim.ASGD": ("torch.optim.ASGD", "", "", "trained(f, lr=0.1)"),
    "nn.optim.LAMB": ("", "", "tinygrad.nn.optim.LAMB", "trained(f, lr=0.1)"),
    "nn.optim.LARS": ("", "", "tinygrad.nn.optim.LARS", "trained(f, lr=0.1)"),
    "nn.optim.SGD": ("torch.optim.SGD", "", "tinygrad.nn.optim.SGD", "trained(f, lr=0.1, momentum=0.9)"),
    "nn.optim.Adadelta": ("torch.optim.Adadelta", "", "", "trained(f, lr=0.1)"),
    "nn.optim.Adagrad": ("torch.optim.Adagrad", "", "", "trained(f, lr=0.1)"),
    "nn.optim.Adam": ("torch.optim.Adam", "", "tinygrad.nn.optim.Adam", "trained(f, lr=0.1)"),
    "nn.optim.AdamW": ("torch.optim.AdamW", "", "tinygrad.nn.optim.AdamW", "trained(f, lr=0.1)"),
    "nn.optim.Adamax": ("torch.optim.Adamax", "", "", "trained(f, lr=0.1)"),
    "nn.optim.GradScaler": (
        "torch.amp.GradScaler",
        "",
        "",
        "f(init_scale=8.0).scale(x); torch: f('cpu', init_scale=8.0).scale(x)",
    ),
    "nn.optim.Muon": ("torch.optim.Muon", "", "tinygrad.nn.optim.Muon", "trained(f, lr=0.001)"),
    "nn.optim.NAdam": ("torch.optim.NAdam", "", "", "trained(f, lr=0.1)"),
    "nn.optim.Optimizer": (
        "torch.optim.Optimizer",
        "",
        "tinygrad.nn.optim.Optimizer",
        "issubclass(optim.SGD, f); tinygrad: optim.LARS.__base__ is f",
    ),
    "nn.optim.OptimizerGroup": (
        "",
        "",
        "tinygrad.nn.optim.OptimizerGroup",
        "trained(lambda params: f(optim.SGD(params, lr=0.1)))",
    ),
    "nn.optim.RAdam": ("torch.optim.RAdam", "", "", "trained(f, lr=0.1)"),
    "nn.optim.RMSprop": ("torch.optim.RMSprop", "", "", "trained(f, lr=0.1)"),
    "nn.optim.Rprop": ("torch.optim.Rprop", "", "", "trained(f, lr=0.1)"),
    "nn.optim.clip_grad_norm_": ("torch.nn.utils.clip_grad_norm_", "", "", "clipped(f, 0.5)"),
    "nn.optim.clip_grad_value_": ("torch.nn.utils.clip_grad_value_", "", "", "clipped(f, 0.5)"),
}
