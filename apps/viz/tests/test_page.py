"""Tests of plugrad_viz.page."""

import base64
import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from plugrad_viz import RecordingError, make_page, write_page

WEB = Path(__file__).resolve().parent.parent / "web"


def test_the_page_asks_nobody_for_anything() -> None:
    page = make_page()
    head = page.partition("<script")[0]
    assert not re.search(r"(src|href)=\"(?!data:)", head)
    assert "<!--recording-->" in page


def test_an_exported_page_holds_the_recording(matmul: Path, tmp_path: Path) -> None:
    write_page(matmul, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    found = re.search(r'id="recording">([^<]*)</script>', text)
    assert found is not None
    assert gzip.decompress(base64.b64decode(found[1])) == matmul.read_bytes()


def test_what_is_no_recording_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("nothing")
    with pytest.raises(RecordingError):
        write_page(tmp_path / "bad.jsonl", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_built_page_is_that_of_the_sources(tmp_path: Path) -> None:
    npx = shutil.which("npx")
    if npx is None or not (WEB / "node_modules").is_dir():
        pytest.skip("node or apps/viz/web/node_modules is missing: npm ci brings the latter")
    command = [npx, "vite", "build", "--logLevel", "error", "--outDir", str(tmp_path)]
    subprocess.run(command, cwd=WEB, check=True, timeout=300)
    assert (tmp_path / "page.html").read_text() == make_page(), "run python apps/viz/build.py"
