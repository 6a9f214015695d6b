"""Define the errors of models; each derives from an exception of plugrad."""

from collections.abc import Sequence

from plugrad.errors import FileFormatError, PlugradError

__all__ = ["InputError", "InvalidModel", "NodeError", "OnnxError", "UnsupportedModel"]


class OnnxError(PlugradError):
    """A model cannot be loaded, run or written."""


class InvalidModel(OnnxError, FileFormatError):
    """A file is no ONNX model, or breaks a rule of the format.

    The message is that of the `onnx` package, which names the node. Also a `FileFormatError`.

    Attributes:
        path: the file, or empty for a model that did not come from a file.
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        FileFormatError.__init__(self, message, path=path)


class UnsupportedModel(OnnxError, NotImplementedError):
    """A valid model asks for what plugrad-onnx does not have.

    Raised before anything runs, with everything that is missing, each with its node, operator, opset and
    attribute. Also a `NotImplementedError`.

    Attributes:
        problems: one line for each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"the model needs what plugrad-onnx does not have:\n{lines}")


class InputError(OnnxError, ValueError):
    """A model was called with inputs that it does not take.

    The message names the input, and what the model declares for it. Also a `ValueError`.
    """


class NodeError(OnnxError, ValueError):
    """A node cannot compute its outputs from the inputs that it got.

    The message names node, operator and opset; the cause is chained. Also a `ValueError`.

    Attributes:
        node: name of the node, or of its first output where it has none.
        operator: type of the node, with its domain.
    """

    def __init__(self, message: str, *, node: str = "", operator: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.operator = operator
