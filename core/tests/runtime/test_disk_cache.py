"""The cache returns what was put, or nothing; whatever the disk does, nobody crashes."""

import errno
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from plugrad.errors import CacheError
from plugrad.runtime import disk_cache
from plugrad.runtime.disk_cache import DiskCache, kernel_cache
from plugrad.settings import context

KEY, PAYLOAD = b"kernel", bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path)


def entry(cache: DiskCache) -> Path:
    (file,) = cache.path.glob("??/*.bin")
    return file


def test_what_was_put_is_found_by_another_instance(cache: DiskCache, tmp_path: Path) -> None:
    cache.put(KEY, PAYLOAD)
    assert DiskCache(tmp_path).get(KEY) == PAYLOAD


def test_an_unknown_key_is_a_miss(cache: DiskCache) -> None:
    assert cache.get(KEY) is None
    assert (cache.hits, cache.misses) == (0, 1)


def test_an_empty_payload_is_an_entry(cache: DiskCache) -> None:
    cache.put(KEY, b"")
    assert cache.get(KEY) == b""


def test_the_last_writer_wins(cache: DiskCache) -> None:
    cache.put(KEY, b"old")
    cache.put(KEY, b"new")
    assert cache.get(KEY) == b"new"


@pytest.mark.parametrize("length", [0, 1, 7, 8, 20, 39, 40, 41, 1000])
def test_a_torn_entry_is_a_miss(cache: DiskCache, length: int) -> None:
    cache.put(KEY, PAYLOAD)
    entry(cache).write_bytes(entry(cache).read_bytes()[:length])
    assert cache.get(KEY) is None


@pytest.mark.parametrize("position", [0, 8, 39, 40, 5000, -1])
def test_a_changed_byte_is_a_miss(cache: DiskCache, position: int) -> None:
    cache.put(KEY, PAYLOAD)
    data = bytearray(entry(cache).read_bytes())
    data[position] ^= 1
    entry(cache).write_bytes(data)
    assert cache.get(KEY) is None


def test_an_intact_entry_of_another_key_is_a_miss(cache: DiskCache) -> None:
    cache.put(b"other", PAYLOAD)
    other = entry(cache)
    cache.put(KEY, b"mine")
    mine = next(file for file in cache.path.glob("??/*.bin") if file != other)
    mine.write_bytes(other.read_bytes())
    assert cache.get(KEY) is None


def test_a_foreign_file_is_a_miss_and_is_replaced(cache: DiskCache) -> None:
    cache.put(KEY, PAYLOAD)
    entry(cache).write_text("something else entirely")
    assert cache.get(KEY) is None
    cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) == PAYLOAD


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("step", ["mkdir", "write_bytes"])
def test_a_disk_that_refuses_warns_once_and_goes_on(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch, step: str, code: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, step, refuse)
    with pytest.warns(RuntimeWarning, match=f"{os.strerror(code)}.*PLUGRAD_CACHE"):
        cache.put(KEY, PAYLOAD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) is None
    assert not list(cache.path.glob("??/*"))


def test_a_path_that_is_a_file_warns_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskCache(tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="cannot read the kernel cache"):
        assert cache.get(KEY) is None
    cache.put(KEY, PAYLOAD)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write to read-only directories")
def test_a_read_only_cache_is_read_and_warns_once(cache: DiskCache, tmp_path: Path) -> None:
    cache.put(KEY, PAYLOAD)
    for directory in (*cache.path.glob("??"), cache.path, tmp_path):
        directory.chmod(0o500)
    try:
        assert cache.get(KEY) == PAYLOAD
        with pytest.warns(RuntimeWarning, match="Permission denied"):
            cache.put(b"new", PAYLOAD)
    finally:
        for directory in (tmp_path, cache.path, *cache.path.glob("??")):
            directory.chmod(0o700)


def test_ctrl_c_while_writing_leaves_nothing(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(disk_cache.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.put(KEY, PAYLOAD)
    assert not list(cache.path.glob("??/*"))
    assert cache.get(KEY) is None


def test_cachelevel_below_two_neither_reads_nor_writes(cache: DiskCache) -> None:
    cache.put(KEY, PAYLOAD)
    with context(CACHELEVEL=1):
        assert cache.get(KEY) is None
        cache.put(b"new", PAYLOAD)
    assert cache.get(b"new") is None
    assert cache.get(KEY) == PAYLOAD


def test_info_counts_entries_and_clear_removes_them(cache: DiskCache) -> None:
    cache.put(b"a", b"1234")
    cache.put(b"b", b"5678")
    (cache.path / "00").mkdir(exist_ok=True)
    (cache.path / "00" / "left-by-a-killed-writer.tmp").write_text("x")
    info = cache.info()
    assert info.entries == 2
    assert info.nbytes == 2 * (disk_cache._HEADER_BYTES + 4)
    assert cache.clear() == 2
    assert cache.info().entries == 0
    assert not list(cache.path.glob("??/*"))


def test_clear_says_why_it_cannot(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, PAYLOAD)

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(CacheError, match="Permission denied"):
        cache.clear()


def test_entries_are_for_their_owner_only(cache: DiskCache) -> None:
    cache.put(KEY, PAYLOAD)
    assert entry(cache).parent.stat().st_mode & 0o077 == 0


def test_plugrad_cache_moves_the_kernel_cache(tmp_path: Path) -> None:
    with context(PLUGRAD_CACHE=str(tmp_path)):
        kernel_cache().put(KEY, PAYLOAD)
        assert kernel_cache() is kernel_cache()
        assert kernel_cache().path.is_relative_to(tmp_path)


def test_threads_write_the_same_key(cache: DiskCache) -> None:
    payloads = [bytes([i]) * 5000 for i in range(4)]

    def work(payload: bytes) -> None:
        for _ in range(25):
            cache.put(KEY, payload)
            assert cache.get(KEY) in payloads

    threads = [threading.Thread(target=work, args=(payload,)) for payload in payloads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get(KEY) in payloads


_WRITER = """
import sys
from plugrad.runtime.disk_cache import DiskCache
cache, mark = DiskCache(sys.argv[1]), sys.argv[2].encode()
bad = 0
for _ in range(8):
    for key in range(12):
        cache.put(str(key).encode(), mark * 3000)
        found = cache.get(str(key).encode())
        bad += found not in (b"a" * 3000, b"b" * 3000)
sys.exit(bad)
"""


def test_two_processes_share_a_cache(cache: DiskCache, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), mark], env=env) for mark in "ab"
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    assert cache.info().entries == 12
    assert not list(cache.path.glob("??/*.tmp"))
