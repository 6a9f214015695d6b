"""Names of other libraries for those of docs/api/state.md: files and the state of models."""

ROWS: dict[str, tuple[str, str, str]] = {
    "nn.state.PlainTensorWarning": ("", "", ""),
    "nn.state.get_parameters": ("", "", "tinygrad.nn.state.get_parameters"),
    "nn.state.get_state_dict": ("", "", "tinygrad.nn.state.get_state_dict"),
    "nn.state.load_state_dict": ("", "", "tinygrad.nn.state.load_state_dict"),
    "nn.state.safe_load": ("", "", "tinygrad.nn.state.safe_load"),
    "nn.state.load": ("torch.load", "", ""),
    "nn.state.save": ("torch.save", "", ""),
    "nn.state.safe_save": ("", "np.save", "tinygrad.nn.state.safe_save"),
    "nn.state.tar_extract": ("", "", "tinygrad.nn.state.tar_extract"),
    "nn.state.torch_load": ("", "", "tinygrad.nn.state.torch_load"),
    "nn.state.zip_extract": ("", "", "tinygrad.nn.state.zip_extract"),
}
