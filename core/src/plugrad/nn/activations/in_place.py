"""What layers share that PyTorch's users may ask to overwrite their input."""


class InPlace:
    """Remembers what was asked for; results are new tensors nevertheless."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
