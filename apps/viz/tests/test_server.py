"""Tests of plugrad_viz.server."""

import gzip
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad_viz import RecordingError, Server, make_page


@pytest.fixture
def server(matmul: Path) -> Iterator[Server]:
    with Server(matmul) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        yield server
        server.close()
        thread.join()


def test_the_page_and_its_recording_are_served(server: Server, matmul: Path) -> None:
    with urllib.request.urlopen(server.url, timeout=10) as answer:
        assert answer.read().decode() == make_page()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    with urllib.request.urlopen(server.url + "recording", timeout=10) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(answer.read()) == matmul.read_bytes()


@pytest.mark.parametrize("path", ["other", "../etc/passwd", "recording/x"])
def test_nothing_else_is_served(server: Server, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        urllib.request.urlopen(server.url + path, timeout=10)
    caught.value.close()


def test_another_name_for_this_machine_is_refused(server: Server) -> None:
    request = urllib.request.Request(server.url, headers={"Host": "attacker.example:80"})
    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(request, timeout=10)
    caught.value.close()


def test_what_is_no_recording_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}")
    with pytest.raises(RecordingError):
        Server(tmp_path / "bad.jsonl")
