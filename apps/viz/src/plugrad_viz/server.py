"""Serve the page and one recording, to this machine only."""

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from plugrad_viz.page import make_page, pack
from plugrad_viz.recording import check_recording

_HOST = "127.0.0.1"
# the page asks for nothing but the recording, and nothing that a recording says may change that
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob: data:; worker-src blob: data:; "
    "style-src 'unsafe-inline'; img-src data:; connect-src 'self'"
)


class Server:
    """An HTTP server for one recording.

    Args:
        recording: the file; read again at each request, so that a reload shows what came since.
        port: 0 takes a free one.

    Raises:
        RecordingError: the file is no recording of this version.
        OSError: the port is taken.

    Example:
        >>> with Server(latest_recording()) as server:  # doctest: +SKIP
        ...     server.serve()
    """

    def __init__(self, recording: Path, port: int = 0) -> None:
        check_recording(recording)
        self.recording = recording
        owner = self

        class Handler(_Handler):
            server_of_page = owner

        self._server = ThreadingHTTPServer((_HOST, port), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://{_HOST}:{self._server.server_address[1]}/"

    def serve(self) -> None:
        """Answer requests until `close`, or the user interrupts."""
        self._server.serve_forever(poll_interval=0.1)

    def close(self) -> None:
        """Stop answering, and free the port."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server_of_page: Server
    # a name of its own: the default one says which Python runs
    server_version = "plugrad-viz"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with the page or the recording."""
        # another site whose name leads here must not read the recording
        host = self.headers.get("Host", "").rpartition(":")[0]
        path = self.path.partition("?")[0]
        if host not in (_HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
        elif path == "/":
            self._send(make_page().encode(), "text/html; charset=utf-8")
        elif path == "/recording":
            self._send(pack(self.server_of_page.recording), "application/x-ndjson", encoding="gzip")
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""

    def _send(self, body: bytes, kind: str, encoding: str = "") -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-store")
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(body)
