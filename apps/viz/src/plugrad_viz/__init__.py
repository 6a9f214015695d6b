"""The explorer: look at what `VIZ=1` recorded of a program, in a browser.

plugrad viz                        # the latest recording
plugrad viz --export page.html     # one page to send around
"""

from plugrad_viz.compare import compare_kernels
from plugrad_viz.errors import RecordingError
from plugrad_viz.page import make_page, write_page
from plugrad_viz.recording import Recording, latest_recording, read_recording
from plugrad_viz.server import Server
from plugrad_viz.trace import make_trace

__all__ = [
    "Recording",
    "RecordingError",
    "Server",
    "compare_kernels",
    "latest_recording",
    "make_page",
    "make_trace",
    "read_recording",
    "write_page",
]
