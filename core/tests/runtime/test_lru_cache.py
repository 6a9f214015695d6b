"""A table keeps what was used last."""

import threading

from plugrad.runtime.lru_cache import LruCache


def test_the_entry_that_was_unused_for_longest_goes_first() -> None:
    table = LruCache[str, int]()
    for number, key in enumerate("abc"):
        table.put(key, number, limit=3)
    assert table.get("a") == 0
    table.put("d", 3, limit=3)
    assert [table.get(key) for key in "abcd"] == [0, None, 2, 3]


def test_putting_again_counts_as_use_and_replaces() -> None:
    table = LruCache[str, int]()
    for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        table.put(key, value, limit=2)
    assert [table.get(key) for key in "abc"] == [3, None, 4]


def test_a_lower_limit_takes_effect_with_the_next_entry() -> None:
    table = LruCache[int, int]()
    for number in range(10):
        table.put(number, number, limit=10)
    table.put(10, 10, limit=2)
    assert len(table) == 2
    table.clear()
    assert len(table) == 0


def test_threads_share_a_table() -> None:
    table = LruCache[int, int]()
    wrong: list[object] = []

    def work(offset: int) -> None:
        for turn in range(2000):
            key = (turn * 7 + offset) % 50
            table.put(key, key, limit=20)
            if table.get(key) not in (key, None) or len(table) > 20:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
