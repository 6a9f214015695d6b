"""A loaded kernel, ready to launch."""

from typing import Any, Protocol


class Runner(Protocol):
    """A kernel loaded on a device.

    Calling it launches the kernel. This is the launch path, so it does nothing else.

    Threads may call one runner at the same time.
    """

    def __call__(
        self,
        handles: tuple[Any, ...],
        values: tuple[int, ...],
        global_size: tuple[int, ...],
        local_size: tuple[int, ...],
        wait: bool = False,
    ) -> float | None:
        """Launch the kernel.

        `handles` are the blocks by slot, `values` those of the program's variables in its order.

        Returns:
            The seconds the launch took on the device where `wait` asked for them, else None.
        """
        ...
