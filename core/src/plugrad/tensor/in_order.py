"""Whether a device goes through positions in order, and so writes where each of them says in one pass."""

from plugrad.device import Device


def writes_in_order(device: str) -> bool:
    """Say whether a sum by position, such as scattering, is one pass over the positions on `device`.

    Elsewhere it compares each element with each position; then sorting many positions pays.
    """
    opened = Device[device]
    return opened.can_compute and not opened.capabilities.grid_dims
