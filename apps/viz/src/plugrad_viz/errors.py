"""Define the errors of the explorer."""

from plugrad.errors import FileFormatError

__all__ = ["RecordingError"]


class RecordingError(FileFormatError):
    """A file is no recording, is of another version, or there is none.

    Attributes:
        path: the file.
    """
