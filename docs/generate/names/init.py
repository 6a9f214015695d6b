"""Names of other libraries for those of docs/api/init.md: initial values."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.init.calculate_gain": ("torch.nn.init.calculate_gain", "", ""),
    "nn.init.constant_": ("torch.nn.init.constant_", "", ""),
    "nn.init.eye_": ("torch.nn.init.eye_", "", ""),
    "nn.init.kaiming_normal_": ("torch.nn.init.kaiming_normal_", "", ""),
    "nn.init.kaiming_uniform_": ("torch.nn.init.kaiming_uniform_", "", ""),
    "nn.init.normal_": ("torch.nn.init.normal_", "", ""),
    "nn.init.ones_": ("torch.nn.init.ones_", "", ""),
    "nn.init.orthogonal_": ("torch.nn.init.orthogonal_", "", ""),
    "nn.init.trunc_normal_": ("torch.nn.init.trunc_normal_", "", ""),
    "nn.init.uniform_": ("torch.nn.init.uniform_", "", ""),
    "nn.init.xavier_normal_": ("torch.nn.init.xavier_normal_", "", ""),
    "nn.init.xavier_uniform_": ("torch.nn.init.xavier_uniform_", "", ""),
    "nn.init.zeros_": ("torch.nn.init.zeros_", "", ""),
}
