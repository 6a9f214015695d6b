"""Files are fetched once, whole, and only kept if they are the ones that were expected."""

import hashlib
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from plugrad.errors import ArgumentError, DownloadError
from plugrad.runtime.download import fetch
from plugrad.settings import context

DATA = bytes(range(256)) * 9000
DIGEST = hashlib.sha256(DATA).hexdigest()


class Handler(BaseHTTPRequestHandler):
    requests: list[str] = []  # noqa: RUF012 - emptied by the fixture

    def do_GET(self) -> None:
        Handler.requests.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path == "/pieces":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"100\r\n" + DATA[:100])
            return
        if self.path != "/endless":
            self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write(DATA[: len(DATA) // 2] if self.path == "/short" else DATA)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    Handler.requests.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with context(PLUGRAD_CACHE=str(tmp_path / "cache")):
        yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_fetched_once_and_kept_in_the_cache(site: str, tmp_path: Path) -> None:
    first = fetch(f"{site}/model.bin", sha256=DIGEST.upper())
    assert first.read_bytes() == DATA
    assert first.name.endswith("-model.bin")
    assert first.parent == tmp_path / "cache" / "downloads"
    assert fetch(f"{site}/model.bin") == first
    assert Handler.requests == ["/model.bin"]
    assert [file.name for file in first.parent.iterdir()] == [first.name]


def test_files_of_one_name_at_different_places_are_different(site: str) -> None:
    assert fetch(f"{site}/a/model.bin") != fetch(f"{site}/b/model.bin")


def test_name_and_folder_are_chosen(site: str, tmp_path: Path) -> None:
    assert fetch(f"{site}/x", name="w.bin", folder=tmp_path) == tmp_path / "w.bin"
    with pytest.raises(ArgumentError, match=r"name='\.\./w' is no name of a file"):
        fetch(f"{site}/x", name="../w")


def test_a_file_of_another_checksum_is_not_kept(site: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=f"has the SHA-256 {DIGEST}, expected was {'0' * 64}") as caught:
        fetch(f"{site}/model.bin", sha256="0" * 64)
    assert caught.value.url == f"{site}/model.bin"
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []
    with pytest.raises(ArgumentError, match="has 64 hexadecimal digits"):
        fetch(f"{site}/model.bin", sha256="abc")


def test_a_kept_file_that_was_damaged_is_fetched_anew(site: str) -> None:
    path = fetch(f"{site}/model.bin")
    path.write_bytes(b"damaged")
    assert fetch(f"{site}/model.bin", sha256=DIGEST).read_bytes() == DATA


def test_what_cannot_be_read_is_named(site: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"cannot fetch .*missing: HTTP Error 404"):
        fetch(f"{site}/missing")
    with pytest.raises(DownloadError, match=r"cannot fetch .*nowhere"):
        fetch((tmp_path / "nowhere").as_uri())
    with pytest.raises(DownloadError, match="cannot fetch no url"):
        fetch("no url")


def test_a_file_that_ends_early_is_refused(site: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=f"ended after {len(DATA) // 2} of {len(DATA)} bytes"):
        fetch(f"{site}/short")
    with pytest.raises(DownloadError, match=r"cannot fetch .*pieces: IncompleteRead"):
        fetch(f"{site}/pieces")
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


def test_an_address_that_no_request_can_have_is_refused(site: str) -> None:
    with pytest.raises(DownloadError, match=r"cannot fetch .*a file: URL can't contain control characters"):
        fetch(f"{site}/a file")


@pytest.mark.parametrize("name", ["model.bin", "endless"])
def test_a_bar_is_told_how_much_has_come(site: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []

    @contextmanager
    def progress(what: str, total: int | None) -> Generator[Callable[[int], None]]:
        told.append(what)
        yield told.append

    monkeypatch.setattr("plugrad.progress.progress", progress)
    assert fetch(f"{site}/{name}").read_bytes() == DATA
    assert told[0] == f"MB of {name}"
    assert told[-1] == len(DATA) >> 20
    told.clear()
    fetch(f"{site}/quiet", progress=False)
    assert told == []
