"""Names of other libraries for those of docs/api/schedulers.md: learning rates."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.schedulers.ConstantLR": ("torch.optim.lr_scheduler.ConstantLR", "", ""),
    "nn.schedulers.CosineAnnealingLR": ("torch.optim.lr_scheduler.CosineAnnealingLR", "", ""),
    "nn.schedulers.CosineAnnealingWarmRestarts": (
        "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts",
        "",
        "",
    ),
    "nn.schedulers.ExponentialLR": ("torch.optim.lr_scheduler.ExponentialLR", "", ""),
    "nn.schedulers.LRScheduler": ("torch.optim.lr_scheduler.LRScheduler", "", ""),
    "nn.schedulers.LambdaLR": ("torch.optim.lr_scheduler.LambdaLR", "", ""),
    "nn.schedulers.LinearLR": ("torch.optim.lr_scheduler.LinearLR", "", ""),
    "nn.schedulers.MultiStepLR": ("torch.optim.lr_scheduler.MultiStepLR", "", ""),
    "nn.schedulers.OneCycleLR": ("torch.optim.lr_scheduler.OneCycleLR", "", ""),
    "nn.schedulers.PolynomialLR": ("torch.optim.lr_scheduler.PolynomialLR", "", ""),
    "nn.schedulers.ReduceLROnPlateau": ("torch.optim.lr_scheduler.ReduceLROnPlateau", "", ""),
    "nn.schedulers.SequentialLR": ("torch.optim.lr_scheduler.SequentialLR", "", ""),
    "nn.schedulers.StepLR": ("torch.optim.lr_scheduler.StepLR", "", ""),
}
