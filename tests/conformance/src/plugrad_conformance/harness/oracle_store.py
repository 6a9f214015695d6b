"""Keep on disk what the oracle computed for a case, for runs on other devices.

A value's key holds the sources of plugrad and of the kit, so a changed pass or a changed case is a miss.
"""

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

import plugrad
from plugrad.runtime.disk_cache import DiskCache
from plugrad.settings import cache_dir
from plugrad_conformance.harness.values import Array


def remembered(case_id: str, compute: Callable[[], Sequence[Array]]) -> list[Array]:
    """Return the arrays that `compute` gives for a case, from disk if stored."""
    store = _store_at(cache_dir())
    key = _sources() + case_id.encode()
    payload = store.get(key)
    if payload is not None:
        with np.load(io.BytesIO(payload)) as found:
            return [found[name] for name in found.files]
    arrays = list(compute())
    file = io.BytesIO()
    np.savez(file, *arrays)
    store.put(key, file.getvalue())
    return arrays


@cache
def _store_at(top: Path) -> DiskCache:
    return DiskCache(top / "references", top)


@cache
def _sources() -> bytes:
    """Return a digest of all that decides what the oracle computes."""
    digest = hashlib.sha256(np.__version__.encode())
    for package in (plugrad.__path__[0], str(Path(__file__).parents[1])):
        for file in sorted(Path(package).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.digest()
