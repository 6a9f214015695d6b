"""Define every exception that plugrad raises on purpose; class docstrings are the help pages.

A message says what happened with the values, why it is wrong, and how to fix it. What a program may want to
look at (the source that failed to compile, the device that was missing) is an attribute as well.
"""

from collections.abc import Sequence

from plugrad.messages import documentation_address, name_outer_method, shortened


class PlugradError(Exception):
    """Something plugrad was asked to do cannot be done.

    All exceptions that plugrad raises on purpose derive from this one, so `except PlugradError` separates
    them from bugs. An `AssertionError` out of plugrad is a broken invariant of ours: please report it.

    Where plugrad was installed from a release, a note below the message is the address of its help page.
    """

    @property
    def __notes__(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride] - filled when shown
        """The lines that Python shows below the message; `add_note` adds to them."""
        notes: list[str] | None = vars(self).get("_notes")
        if notes is None:
            notes = vars(self)["_notes"] = []
            if (address := documentation_address()) is not None:
                named = next(kind.__name__ for kind in type(self).__mro__ if kind.__module__ == __name__)
                notes.append(f"See {address}/api/errors.md#{named.lower()}")
        return notes


class _Refusal(PlugradError):
    """An argument cannot be used.

    The message names the tensor method that the user called.

    Methods are made of others, down to functions that know only which of these asked.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(name_outer_method(message)))


class ShapeError(_Refusal, ValueError, RuntimeError):
    """Shapes do not fit the operation.

    Raised by reshape, broadcasting, matmul, convolution, concatenation and wherever sizes must agree. The
    message names both shapes. Also a `ValueError`, as NumPy raises, and a `RuntimeError`, as PyTorch does.
    """


class ArgumentError(_Refusal, ValueError):
    """An argument has a value that the function does not take.

    Such as a probability above 1, a step of 0, or a mode that is none of those listed. Where the argument is
    a shape, a dtype or an axis, it is a `ShapeError`, `DtypeError` or `AxisError` instead. The message names
    the argument, its value and what is taken. Also a `ValueError`.
    """


class ViewError(_Refusal, ValueError):
    """A view was written to whose elements share memory.

    Writing to a view writes to the tensor that it shows. An expanded tensor shows elements more than once, so
    there is no telling which value they get. Write into the tensor that was expanded, or into a copy of the
    view: `.contiguous()`. Also a `ValueError`, as NumPy raises.
    """


class DtypeError(_Refusal, TypeError, RuntimeError):
    """A dtype is unknown, or does not fit the operation, the device or the value.

    Cast explicitly with `.cast(dtype)`. Also a `TypeError`, as NumPy raises, and a `RuntimeError`, as PyTorch
    does.
    """


class AxisError(_Refusal, ValueError, IndexError):
    """An axis, index or slice lies outside of the tensor.

    Axes of a tensor with n dimensions run from -n to n-1. Also an `IndexError`, and a `ValueError` as NumPy's
    of this name.
    """


class PositionError(AxisError):
    """A position in a tensor of positions lies outside of the axis that it indexes.

    Reported under `CHECK=1`, before anything is computed with it; otherwise such an element reads as 0 and is
    written nowhere. Correct the index, or choose what to take there: `(i < n).where(x[i.clip(0, n - 1)], 0)`.

    Attributes:
        index: the position as it was given; None for an unsigned one beyond the axis.
        place: where it stands in the tensor of positions.
        size: of the axis.
        line: of the program that asks for the elements.
    """

    def __init__(
        self, index: int | None, place: tuple[int, ...], size: int, line: object, lowest: int
    ) -> None:
        given = "a position beyond its end" if index is None else f"position {index}"
        where = f" at {place} of the index" if place else ""
        valid = f"Valid are {lowest} to {size - 1}." if size else "It has no elements."
        asked = f" Asked for at {line}." if line else ""
        # what runs is what computes the elements, not the method that asked for them
        Exception.__init__(self, f"{given}{where} is out of range for an axis of size {size}. {valid}{asked}")
        self.index = index
        self.place = place
        self.size = size
        self.line = line


class NotFiniteError(PlugradError, FloatingPointError):
    """A kernel made NaN or infinity of numbers that were none.

    Reported under `CHECK=1`, where it happens first. Also a `FloatingPointError`, as of NumPy.

    Attributes:
        kind: "NaN" or "infinity".
        kernel: its name.
        device: where it ran.
        place: the first element that is not finite.
        made: what the kernel computes, each with the line of the program.
    """

    def __init__(
        self,
        kind: str,
        kernel: str,
        device: str,
        operations: str,
        place: tuple[int, ...],
        made: Sequence[tuple[str, str]],
    ) -> None:
        lines = "".join(f"\n  {operation or 'part of what is'} written at {line}" for operation, line in made)
        super().__init__(
            f"{kind} first appears at {place} of what kernel {kernel} computes on {device} ({operations}). "
            f"Nothing that it reads has one.{lines}"
        )
        self.kind = kind
        self.kernel = kernel
        self.device = device
        self.place = place
        self.made = tuple(made)


class DeviceError(PlugradError):
    """A device failed, or was asked for something it cannot do.

    Attributes:
        device: name of the device, such as "PYTHON" or "NULL:1"; None when it is not known.
    """

    def __init__(self, message: str, *, device: str | None = None) -> None:
        super().__init__(message)
        self.device = device


class DeviceNotFound(DeviceError):
    """The device that was asked for is not there.

    No other device is taken in its place. The message lists what was looked for and where, and what to
    install; `plugrad devices` shows the same for every device.
    """


class DeviceOutOfMemory(DeviceError, MemoryError):
    """The device has no memory left for a buffer.

    The message names the tensors that hold the most. Drop references to tensors that are not needed, use a
    smaller batch, or a narrower dtype. Also a `MemoryError`.

    Attributes:
        requested_bytes: size of the buffer that did not fit.
    """

    def __init__(self, message: str, *, device: str | None = None, requested_bytes: int = 0) -> None:
        super().__init__(message, device=device)
        self.requested_bytes = requested_bytes


class CompileError(PlugradError):
    """The compiler of a device did not accept a kernel that plugrad rendered.

    That is a bug of the renderer or a compiler that is too old; the message shows source, log and the command
    to run again by hand.

    Attributes:
        source: the rendered kernel.
        log: what the compiler printed.
        command: the command line, or empty when the compiler is a library.
    """

    def __init__(self, message: str, *, source: str = "", log: str = "", command: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.source = source
        self.log = log
        self.command = tuple(command)

    def __str__(self) -> str:
        parts = [super().__str__()]
        if self.command:
            parts.append(f"--- command ---\n{' '.join(self.command)}")
        if self.log:
            parts.append(f"--- log ---\n{self.log.rstrip()}")
        if self.source:
            parts.append(f"--- source ---\n{self.source.rstrip()}")
        return "\n".join(parts)


class KernelOptError(PlugradError):
    """A kernel optimisation does not apply to this kernel.

    For example a split by 4 of an axis of size 6, or a LOCAL axis on a device without workgroups. Searches
    catch it and go on; when it reaches you, an explicitly given list of Opts does not fit the kernel.
    """


class VerifyError(PlugradError):
    """A pass left a graph that its stage does not allow.

    Raised when `SPEC=1`. It is a bug in the pass, or in a rule that a plugin added; the message shows the
    node with its neighbours.

    Attributes:
        pass_name: the pass whose output is wrong.
        stage: the specification that was broken.
    """

    def __init__(self, message: str, *, pass_name: str = "", stage: str = "") -> None:
        super().__init__(message)
        self.pass_name = pass_name
        self.stage = stage


class PluginError(PlugradError):
    """A plugin could not be loaded, or broke the contract of a hook.

    Other plugins are not affected. `plugrad devices` shows the recorded reason with the traceback.

    Attributes:
        plugin: name of the entry point.
        distribution: the distribution it comes from, with its version.
    """

    def __init__(self, message: str, *, plugin: str = "", distribution: str = "") -> None:
        super().__init__(message)
        self.plugin = plugin
        self.distribution = distribution


class SettingsError(PlugradError, ValueError):
    """A setting is unknown or its value is not legal.

    `plugrad env` lists all settings with their types. Also a `ValueError`.

    Attributes:
        name: the setting.
    """

    def __init__(self, message: str, *, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class CacheError(PlugradError):
    """The disk cache was used in a way that cannot work.

    A full disk, a read-only directory or a torn entry never raises: they warn once, or count as a miss. Move
    the cache with `PLUGRAD_CACHE`, clear it with `plugrad cache clear`.
    """


class RewriteLoopError(PlugradError, RecursionError):
    """Rewrite rules chase each other and never reach a fixed point.

    The message names the rules. It is a bug in one of them: a rule must make the graph smaller by some
    measure.

    Attributes:
        rules: the rules of the loop, in the order in which they fired.
    """

    def __init__(self, message: str, *, rules: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.rules = tuple(rules)


class SharingError(_Refusal, BufferError):
    """Memory cannot be shared with another array library.

    DLPack knows no such dtype, the memory is not the host's, or a copy is needed and was ruled out. The
    message says which. Also a `BufferError`, as the array API standard asks.
    """


class FileFormatError(PlugradError, ValueError):
    """A file is truncated, damaged, or not of the format it should be.

    The message names file, offset and what was expected there. Also a `ValueError`.

    Attributes:
        path: the file, or empty for data that did not come from a file.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class DownloadError(PlugradError, OSError):
    """A file could not be fetched, or is not the one that was expected.

    The message names the URL and the reason; nothing is kept of such a file. Also an `OSError`.

    Attributes:
        url: what was asked for.
    """

    def __init__(self, message: str, *, url: str = "") -> None:
        super().__init__(message)
        self.url = url


class JitError(PlugradError):
    """A jitted function did something that a replay could not repeat.

    Such as returning a value computed from `.item()`, or changing its inputs' shapes inside. The JIT refuses
    instead of replaying something else than the function.
    """


class GradientError(PlugradError, RuntimeError):
    """A gradient was asked for where there is none.

    For example of a loss that is no scalar, for a tensor that it does not depend on, or through an operation
    without a derivative. Also a `RuntimeError`, as PyTorch raises.
    """


class TransformError(PlugradError):
    """A function cannot be transformed as it is written.

    `vmap`, `checkpoint` and the derivatives of functions work on the graph that a function builds. Assigning
    to memory inside of it, or returning something else than tensors, is no part of that graph.
    """


class ScheduleError(PlugradError):
    """The graph cannot be put in an order that respects its assigns.

    For example two assigns to one buffer that each need the other's old value: `.realize()` between them.
    """


class StateError(PlugradError, LookupError, RuntimeError):
    """The names of a saved state are not those of the model.

    The message lists what is missing and what is unexpected. Load the state into a model of the same make, or
    pass `strict=False` to skip what does not match. Also a `LookupError`, and a `RuntimeError` as of PyTorch.
    """


class ForkError(PlugradError):
    """A forked process used a device that its parent had opened.

    Drivers and thread pools do not survive a fork. Start workers by `spawn`, or open the device only there.
    """
