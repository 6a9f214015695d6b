"""The page of the explorer, built from `web/`, served alone or with a recording inside."""

import base64
import gzip
from importlib import resources
from pathlib import Path

from plugrad_viz.recording import check_recording

# what the page holds where a recording may stand
_PLACE = "<!--recording-->"


def make_page() -> str:
    """Return the page that asks its server for the recording."""
    return resources.files("plugrad_viz").joinpath("built", "page.html").read_text(encoding="utf-8")


def pack(path: Path) -> bytes:
    """Return a recording compressed."""
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)


def write_page(recording: Path, page: Path) -> None:
    """Write one page that holds a recording and needs nothing else.

    Raises:
        RecordingError: the file is no recording of this version.

    Example:
        >>> write_page(latest_recording(), Path("page.html"))  # doctest: +SKIP
    """
    check_recording(recording)
    packed = base64.b64encode(pack(recording)).decode("ascii")
    data = f'<script type="application/gzip" id="recording">{packed}</script>'
    page.write_text(make_page().replace(_PLACE, data, 1), encoding="utf-8")
