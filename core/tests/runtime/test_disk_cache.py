"""The cache returns what was put, or nothing; whatever the disk does, nobody crashes."""

import errno
import os
import subprocess
import sys
import threading
import time
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
    cache.put_blob(b"90")
    (cache.path / "00").mkdir(exist_ok=True)
    (cache.path / "00" / "left-by-a-killed-writer.tmp").write_text("x")
    info = cache.info()
    assert (info.entries, info.blobs) == (2, 1)
    assert info.nbytes == 2 * (disk_cache._HEADER_BYTES + 4) + 2
    assert info.limit_bytes == 1 << 30
    assert cache.clear() == 2
    assert cache.info().entries == 0
    assert not list(cache.path.glob("??/*"))


def blob_file(cache: DiskCache) -> Path:
    (file,) = cache.path.glob("??/*.blob")
    return file


def test_a_blob_is_stored_once_and_found_by_its_name(cache: DiskCache, tmp_path: Path) -> None:
    name = cache.put_blob(PAYLOAD)
    assert cache.put_blob(PAYLOAD) == name
    assert DiskCache(tmp_path).get_blob(name) == PAYLOAD
    assert (cache.info().entries, cache.info().blobs) == (0, 1)
    assert blob_file(cache).stat().st_size == len(PAYLOAD)
    assert cache.get_blob(cache.put_blob(b"")) == b""


def test_a_blob_that_is_not_there_is_a_miss(cache: DiskCache) -> None:
    assert cache.get_blob(b"\0" * 32) is None


def test_a_damaged_blob_is_a_miss_and_is_mended_by_the_next_writer(cache: DiskCache) -> None:
    name = cache.put_blob(PAYLOAD)
    for damaged in (PAYLOAD[:-1], b"", b"x" * len(PAYLOAD)):
        blob_file(cache).write_bytes(damaged)
        assert cache.get_blob(name) is None
    cache.put_blob(PAYLOAD)
    assert cache.get_blob(name) == PAYLOAD


def test_cachelevel_below_two_neither_reads_nor_writes_blobs(cache: DiskCache) -> None:
    name = cache.put_blob(PAYLOAD)
    with context(CACHELEVEL=1):
        assert cache.get_blob(name) is None
        other = cache.put_blob(b"other")
    assert cache.get_blob(other) is None


MB = b"m" * (1 << 20)


def age(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_entries_and_blobs_that_were_unused_for_longest_go_first(cache: DiskCache) -> None:
    names = {letter: cache.put_blob(letter.encode() * (1 << 20)) for letter in "abc"}
    for position, letter in enumerate("bac"):
        age(cache._blob_file(names[letter]), 9000 - position)
    cache.put(KEY, PAYLOAD)
    with context(CACHE_DISK_MB=2):
        assert cache.trim() == 2
    assert cache.get(KEY) == PAYLOAD
    assert [letter for letter in "abc" if cache.get_blob(names[letter]) is not None] == ["c"]


def test_reading_counts_as_use(cache: DiskCache) -> None:
    cache.put(b"read", MB)
    cache.put(b"forgotten", MB)
    for key in (b"read", b"forgotten"):
        age(cache._file(key), 5 * 3600)
    assert cache.get(b"read") == MB
    with context(CACHE_DISK_MB=2):
        cache.trim()
    assert cache.get(b"read") == MB
    assert cache.get(b"forgotten") is None


def test_an_entry_that_was_just_used_is_not_touched_again(cache: DiskCache) -> None:
    cache.put(KEY, PAYLOAD)
    age(entry(cache), 60)
    before = entry(cache).stat().st_mtime_ns
    assert cache.get(KEY) == PAYLOAD
    assert entry(cache).stat().st_mtime_ns == before


def test_the_size_keeps_to_the_limit_while_entries_are_written(cache: DiskCache) -> None:
    with context(CACHE_DISK_MB=4):
        for number in range(12):
            cache.put(str(number).encode(), MB)
            age(cache._file(str(number).encode()), 1000 - number)
            assert cache.info().nbytes <= 4 << 20
        assert cache.get(b"11") == MB
        assert cache.get(b"0") is None


def test_a_process_looks_at_the_size_after_a_part_of_the_limit(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(cache, "trim", lambda: looks.append(1))
    cache._unchecked = 0.5
    with context(CACHE_DISK_MB=320):  # a part is 10 MB
        for number in range(26):
            cache.put(str(number).encode(), MB)
    assert len(looks) == 3


def test_a_limit_of_0_is_none(cache: DiskCache) -> None:
    cache.put(KEY, MB)
    with context(CACHE_DISK_MB=0):
        assert cache.trim() == 0
        cache.put(b"other", MB)
    assert cache.info().entries == 2


def test_what_killed_writers_left_is_removed_and_what_is_being_written_is_not(cache: DiskCache) -> None:
    cache.put(KEY, PAYLOAD)
    left, current = (entry(cache).with_suffix(f".{name}.tmp") for name in ("left", "current"))
    left.touch()
    current.touch()
    age(left, 2 * 3600)
    cache.trim()
    assert (left.exists(), current.exists()) == (False, True)


def test_a_cache_that_cannot_be_trimmed_warns_and_goes_on(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put(b"old", MB)

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with context(CACHE_DISK_MB=1), pytest.warns(RuntimeWarning, match="Permission denied"):
        cache.put(KEY, PAYLOAD * 100)
    assert cache.get(KEY) == PAYLOAD * 100


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


_EVICTOR = """
import sys
from plugrad.runtime.disk_cache import DiskCache
cache, mark = DiskCache(sys.argv[1]), sys.argv[2].encode()
bad = 0
for turn in range(40):
    library = bytes([turn % 8]) * 150_000
    name = cache.put_blob(library)
    cache.put(str(turn % 20).encode(), name)
    for key in range(20):
        found = cache.get(str(key).encode())
        blob = None if found is None else cache.get_blob(found)
        bad += blob is not None and (len(blob) != 150_000 or len(set(blob)) != 1)
sys.exit(bad)
"""


def test_two_processes_evict_each_others_entries_and_read_only_whole_ones(
    cache: DiskCache, tmp_path: Path
) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "CACHE_DISK_MB": "1"}
    env["PYTHONWARNINGS"] = "error"
    workers = [
        subprocess.Popen([sys.executable, "-c", _EVICTOR, str(tmp_path), mark], env=env) for mark in "ab"
    ]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert cache.info().nbytes <= 2 << 20


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("folder", ["", "kernels", "kernels/v2"])
def test_a_cache_that_others_may_write_to_is_not_used_and_warns_once(tmp_path: Path, folder: str) -> None:
    with context(PLUGRAD_CACHE=str(tmp_path / "top")):
        kernel_cache().put(KEY, PAYLOAD)
        open_to_others = tmp_path / "top" / folder
        open_to_others.chmod(0o777)
        with pytest.warns(RuntimeWarning, match=f"others may write to {open_to_others}, .*PLUGRAD_CACHE"):
            assert kernel_cache().get(KEY) is None
        kernel_cache().put(b"new", PAYLOAD)
        open_to_others.chmod(0o700)
        assert kernel_cache().get(b"new") is None
        assert kernel_cache().get(KEY) == PAYLOAD


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")
def test_all_folders_of_a_cache_are_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with context(PLUGRAD_CACHE=str(tmp_path / "top")):
            kernel_cache().put(KEY, PAYLOAD)
    finally:
        os.umask(before)
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(folders) == 4
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)
