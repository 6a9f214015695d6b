"""Names of other libraries for those of docs/api/transforms.md: functions made into others."""

ROWS: dict[str, tuple[str, str, str]] = {
    "transforms.checkpoint": ("torch.utils.checkpoint.checkpoint", "", ""),
    "transforms.custom_gradient": ("torch.autograd.Function", "", ""),
    "transforms.grad": ("torch.func.grad", "", ""),
    "transforms.hessian": ("torch.func.hessian", "", ""),
    "transforms.jacfwd": ("torch.func.jacfwd", "", ""),
    "transforms.jacobian": ("torch.autograd.functional.jacobian", "", ""),
    "transforms.jacrev": ("torch.func.jacrev", "", ""),
    "transforms.jvp": ("torch.func.jvp", "", ""),
    "transforms.linearize": ("torch.func.linearize", "", ""),
    "transforms.value_and_grad": ("torch.func.grad_and_value", "", ""),
    "transforms.vjp": ("torch.func.vjp", "", ""),
    "transforms.vmap": ("torch.func.vmap", "np.vectorize", ""),
}
