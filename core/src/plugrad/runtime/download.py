"""Fetch files from the web once, with a progress bar and a checksum.

A file is written under another name and renamed when it is complete, so an interrupted download leaves
nothing that is taken for one.
"""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from typing import IO, TYPE_CHECKING

from plugrad import progress as bar
from plugrad._util import LazyModule, hashlib, pathlib
from plugrad.errors import ArgumentError, DownloadError
from plugrad.runtime.private_folder import make_private
from plugrad.settings import cache_dir

if TYPE_CHECKING:
    import http.client as http_client
    import tempfile
    import urllib.error as urllib_error
    import urllib.request as urllib_request
else:
    # slow to import, and few programs fetch anything
    http_client = LazyModule("http.client")
    tempfile = LazyModule("tempfile")
    urllib_error = LazyModule("urllib.error")
    urllib_request = LazyModule("urllib.request")

_PIECE_BYTES = 1 << 20
_TIMEOUT_S = 30.0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def fetch(
    url: str,
    *,
    sha256: str | None = None,
    name: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> pathlib.Path:
    """Return the path of a local copy of `url`, fetched at the first call.

    Args:
        url: http, https, ftp or file.
        sha256: what the file's SHA-256 must be, in hexadecimal. A kept file with another one is fetched anew.
        name: of the file; by default the end of the URL behind a part of its hash.
        folder: where it is kept; by default `downloads` in plugrad's cache.
        progress: show a progress bar on a terminal, if it takes over a second.

    Raises:
        DownloadError: the URL cannot be read, or what it gives has another checksum.
        ArgumentError: `sha256` is no such number, or `name` has a folder in it.

    Example:
        >>> path = fetch(pathlib.Path(__file__).as_uri(), folder=tempfile.mkdtemp())
        >>> path.read_bytes() == pathlib.Path(__file__).read_bytes()
        True
    """
    if sha256 is not None and not (_is_text(sha256) and re.fullmatch(r"[0-9a-fA-F]{64}", sha256)):
        raise ArgumentError(f"sha256={sha256!r:.80} is no SHA-256. It has 64 hexadecimal digits.")
    if name is not None and not (_is_text(name) and name and pathlib.Path(name).name == name):
        raise ArgumentError(f"name={name!r:.80} is no name of a file. Choose where it lies by folder=.")
    if folder is not None and not (_is_text(folder) or isinstance(folder, os.PathLike)):
        raise ArgumentError(f"folder={folder!r:.80} is no path. Pass a string or a path.")
    where = cache_dir() / "downloads" if folder is None else pathlib.Path(folder)
    path = where / (name or _name_of(url))
    if path.is_file() and (sha256 is None or _digest(path) == sha256.lower()):
        return path
    make_private(where)
    descriptor, partial = tempfile.mkstemp(prefix=".partial-", dir=where)
    try:
        with os.fdopen(descriptor, "wb") as file:
            found = _copy(url, file, progress)
        if sha256 is not None and found != sha256.lower():
            raise DownloadError(
                f"{url} has the SHA-256 {found}, expected was {sha256.lower()}. Either the file was changed, "
                "or it arrived damaged: fetch it again, and compare with what its publisher says.",
                url=url,
            )
        pathlib.Path(partial).replace(path)
    finally:
        pathlib.Path(partial).unlink(missing_ok=True)
    return path


def _name_of(url: str) -> str:
    """Return a file name for `url`: its last part, made unique by a hash."""
    end = re.sub(r"[^A-Za-z0-9._-]", "_", url.split("?")[0].split("#")[0].rstrip("/").rsplit("/", 1)[-1])
    return f"{hashlib.sha256(url.encode()).hexdigest()[:16]}-{end[-80:]}"


def _digest(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(url: str, file: IO[bytes], shows_progress: bool) -> str:
    digest = hashlib.sha256()
    count = 0
    try:
        request = urllib_request.Request(url, headers={"User-Agent": "plugrad"})
        with urllib_request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            what = f"MB of {url.rsplit('/', 1)[-1]}"
            with bar.progress(what, size >> 20 or None) if shows_progress else nullcontext() as report:
                while piece := answer.read(_PIECE_BYTES):
                    digest.update(piece)
                    file.write(piece)
                    count += len(piece)
                    if report is not None:
                        report(count >> 20)
    except (urllib_error.URLError, http_client.HTTPException, ValueError, OSError) as error:
        raise DownloadError(
            f"cannot fetch {url}: {error}. Check the address and the connection, or get the file "
            "in another way and pass its path.",
            url=url,
        ) from error
    if size and count != size:
        raise DownloadError(f"{url} ended after {count} of {size} bytes. Fetch it again.", url=url)
    return digest.hexdigest()
