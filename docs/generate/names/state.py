"""Names of other libraries for those of docs/api/state.md: files and the state of models."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "nn.state.get_parameters": (
        "",
        "",
        "tinygrad.nn.state.get_parameters",
        "[each.shape for each in f(layer)]",
    ),
    "nn.state.get_state_dict": ("", "", "tinygrad.nn.state.get_state_dict", "sorted(f(layer))"),
    "nn.state.load_state_dict": (
        "",
        "",
        "tinygrad.nn.state.load_state_dict",
        "[f(layer, {'weight': s, 'bias': v[:3]}), layer(m)][1]",
    ),
    "nn.state.safe_load": (
        "",
        "",
        "tinygrad.nn.state.safe_load",
        "f(folder / 'x.safetensors')['x'].to('PYTHON')",
    ),
    "nn.state.load": ("torch.load", "", "", "f(folder / 'x.pt')['x']; torch: f"),
    "nn.state.save": ("torch.save", "", "", "[f({'x': x}, folder / 'x.pt'), (folder / 'x.pt').exists()][1]"),
    "nn.state.safe_save": (
        "",
        "np.save",
        "tinygrad.nn.state.safe_save",
        "(f({'x': x}, path := folder / 'saved'), path.exists())[1]; "
        "np: (f(path := folder / 'x.npy', x), path.exists())[1]; tinygrad: f",
    ),
    "nn.state.tar_extract": (
        "",
        "",
        "tinygrad.nn.state.tar_extract",
        "f(folder / 'x.tar')['memory'].bitcast(float32); tinygrad: f",
    ),
    "nn.state.torch_load": ("", "", "tinygrad.nn.state.torch_load", "f"),
    "nn.state.zip_extract": (
        "",
        "",
        "tinygrad.nn.state.zip_extract",
        "f(folder / 'x.zip')['memory'].bitcast(float32); tinygrad: f",
    ),
}
