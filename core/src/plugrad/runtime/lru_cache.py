"""A table with a bound: what was not used for longest is forgotten."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A thread-safe map that keeps its most recently used entries.

    Example:
        >>> table = LruCache[str, int]()
        >>> table.put("a", 1, limit=2); table.put("b", 2, limit=2)
        >>> table.get("a")
        1
        >>> table.put("c", 3, limit=2)
        >>> table.get("b") is None, len(table)
        (True, 2)
    """

    def __init__(self) -> None:
        # reentrant: forgetting an entry frees what it holds, and that may run anybody's finalizers
        self._lock = threading.RLock()
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return the value of `key`, which counts as a use, or None."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: K, value: V, limit: int) -> None:
        """Store `value` by `key`, and drop the oldest entries beyond `limit`."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > limit:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
