"""Names of other libraries for those of docs/api/init.md: initial values."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.init.calculate_gain": ("torch.nn.init.calculate_gain", "", "", "f('relu')"),
    "nn.init.constant_": ("torch.nn.init.constant_", "", "", "f(x, 3)"),
    "nn.init.eye_": ("torch.nn.init.eye_", "", "", "f(m)"),
    "nn.init.kaiming_normal_": ("torch.nn.init.kaiming_normal_", "", "", "spread(f(zeros))"),
    "nn.init.kaiming_uniform_": ("torch.nn.init.kaiming_uniform_", "", "", "spread(f(zeros))"),
    "nn.init.normal_": ("torch.nn.init.normal_", "", "", "spread(f(zeros))"),
    "nn.init.ones_": ("torch.nn.init.ones_", "", "", "f(x)"),
    "nn.init.orthogonal_": ("torch.nn.init.orthogonal_", "", "", "f(m) @ m.T"),
    "nn.init.trunc_normal_": ("torch.nn.init.trunc_normal_", "", "", "spread(f(zeros))"),
    "nn.init.uniform_": ("torch.nn.init.uniform_", "", "", "spread(f(zeros))"),
    "nn.init.xavier_normal_": ("torch.nn.init.xavier_normal_", "", "", "spread(f(zeros))"),
    "nn.init.xavier_uniform_": ("torch.nn.init.xavier_uniform_", "", "", "spread(f(zeros))"),
    "nn.init.zeros_": ("torch.nn.init.zeros_", "", "", "f(x)"),
}
