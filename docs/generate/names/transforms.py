"""Names of other libraries for those of docs/api/transforms.md: functions made into others."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "transforms.checkpoint": (
        "torch.utils.checkpoint.checkpoint",
        "",
        "",
        "f(lambda x: x * x)(x); torch: f(lambda x: x * x, x, use_reentrant=False)",
    ),
    "transforms.custom_gradient": ("torch.autograd.Function", "", "", "callable(f(lambda g: g)); torch: f"),
    "transforms.function": ("", "", "tinygrad.function", "f(lambda x: x * x)(x)"),
    "transforms.grad": ("torch.func.grad", "", "", "f(lambda v: (v * v).sum())(v)"),
    "transforms.hessian": ("torch.func.hessian", "", "", "f(lambda v: (v * v * v).sum())(v)"),
    "transforms.jacfwd": ("torch.func.jacfwd", "", "", "f(lambda v: v * v)(v)"),
    "transforms.jacobian": (
        "torch.autograd.functional.jacobian",
        "",
        "",
        "f(lambda v: v * v)(v); torch: f(lambda v: v * v, v)",
    ),
    "transforms.jacrev": ("torch.func.jacrev", "", "", "f(lambda v: v * v)(v)"),
    "transforms.jvp": ("torch.func.jvp", "", "", "f(lambda v: v * v, (v,), (w,))"),
    "transforms.linearize": ("torch.func.linearize", "", "", "f(lambda v: v * v, v)[1](w)"),
    "transforms.value_and_grad": (
        "torch.func.grad_and_value",
        "",
        "",
        "f(lambda v: (v * v).sum())(v); torch: f(lambda v: (v * v).sum())(v)[::-1]",
    ),
    "transforms.vjp": ("torch.func.vjp", "", "", "f(lambda v: v * v, v)[1](w)"),
    "transforms.vmap": ("torch.func.vmap", "np.vectorize", "", "f(lambda x: x * 2)(x)"),
}
