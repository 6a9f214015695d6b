"""Names of other libraries for those of docs/api/schedulers.md: learning rates."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.schedulers.ConstantLR": (
        "torch.optim.lr_scheduler.ConstantLR",
        "",
        "",
        "rates(lambda o: f(o, 0.5, 2))",
    ),
    "nn.schedulers.CosineAnnealingLR": (
        "torch.optim.lr_scheduler.CosineAnnealingLR",
        "",
        "",
        "rates(lambda o: f(o, 4))",
    ),
    "nn.schedulers.CosineAnnealingWarmRestarts": (
        "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts",
        "",
        "",
        "rates(lambda o: f(o, 2))",
    ),
    "nn.schedulers.ExponentialLR": (
        "torch.optim.lr_scheduler.ExponentialLR",
        "",
        "",
        "rates(lambda o: f(o, 0.5))",
    ),
    "nn.schedulers.LRScheduler": (
        "torch.optim.lr_scheduler.LRScheduler",
        "",
        "",
        "issubclass(schedulers.StepLR, f)",
    ),
    "nn.schedulers.LambdaLR": (
        "torch.optim.lr_scheduler.LambdaLR",
        "",
        "",
        "rates(lambda o: f(o, lambda step: 1 / (step + 1)))",
    ),
    "nn.schedulers.LinearLR": ("torch.optim.lr_scheduler.LinearLR", "", "", "rates(lambda o: f(o))"),
    "nn.schedulers.MultiStepLR": (
        "torch.optim.lr_scheduler.MultiStepLR",
        "",
        "",
        "rates(lambda o: f(o, [1, 3]))",
    ),
    "nn.schedulers.OneCycleLR": (
        "torch.optim.lr_scheduler.OneCycleLR",
        "",
        "",
        "rates(lambda o: f(o, 1.0, total_steps=6))",
    ),
    "nn.schedulers.PolynomialLR": ("torch.optim.lr_scheduler.PolynomialLR", "", "", "rates(lambda o: f(o))"),
    "nn.schedulers.ReduceLROnPlateau": (
        "torch.optim.lr_scheduler.ReduceLROnPlateau",
        "",
        "",
        "rates(lambda o: f(o, patience=1), 1.0)",
    ),
    "nn.schedulers.SequentialLR": (
        "torch.optim.lr_scheduler.SequentialLR",
        "",
        "",
        "rates(lambda o: f(o, [schedulers.ConstantLR(o, 0.5, 1), schedulers.StepLR(o, 1)], [2]))",
    ),
    "nn.schedulers.StepLR": ("torch.optim.lr_scheduler.StepLR", "", "", "rates(lambda o: f(o, 2))"),
}
