"""Pickles of data are read as Python reads them; others are refused before anything runs or is allocated."""

import contextlib
import io
import pickle
import struct
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.errors import FileFormatError
from plugrad.nn.formats.safe_pickle import PLAIN, Admitted, load_data

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.integers() | st.text() | st.tuples(st.integers(), st.text())
values = st.recursive(
    scalars | st.frozensets(keys) | st.sets(keys),
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner, inner, inner),
    max_leaves=20,
)


def load(data: bytes, admitted: Admitted = PLAIN) -> Any:
    return load_data(io.BytesIO(data), admitted, str)


@given(values, st.integers(0, 5))
def test_data_are_read_as_python_reads_them(value: Any, protocol: int) -> None:
    data = pickle.dumps(value, protocol)
    assert load(data) == pickle.loads(data) == value


@pytest.mark.parametrize("protocol", range(6))
def test_dicts_with_an_order_lose_only_their_attributes(protocol: int) -> None:
    value = OrderedDict(a=[1], b=2)
    value._metadata = {"version": 1}  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    found = load(pickle.dumps([value, value, bytearray(b"\x80x")], protocol))
    assert found == [value, value, b"\x80x"]
    assert isinstance(found[0], OrderedDict)
    assert not hasattr(found[0], "_metadata")
    assert found[0] is found[1]


def test_the_stream_is_left_behind_the_pickle() -> None:
    stream = io.BytesIO(pickle.dumps(1) + pickle.dumps("b") + b"rest")
    assert load_data(stream, {}, str) == 1
    assert load_data(stream, {}, str) == "b"
    assert stream.read() == b"rest"


def test_persistent_ids_are_turned_into_values() -> None:
    assert load(b"\x80\x02K\x05Q.") == "5"
    assert load(b"Pname\n.") == "name"


def refused(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load(data)


@pytest.mark.parametrize(
    "name", ["os system", "posix system", "builtins eval", "builtins getattr", "nt system"]
)
def test_names_that_are_not_admitted_are_refused(name: str) -> None:
    refused(b"c" + name.replace(" ", "\n").encode() + b"\n(S'x'\ntR.", f"names {name.replace(' ', '.')}")
    module, attribute = (part.encode() for part in name.split())
    stacked = b"\x8c" + bytes([len(module)]) + module + b"\x8c" + bytes([len(attribute)]) + attribute
    refused(b"\x80\x04" + stacked + b"\x93)R.", f"names {name.replace(' ', '.')}")


def test_objects_with_a_way_to_be_made_are_refused() -> None:
    class Hostile:
        def __reduce__(self) -> Any:
            return eval, ("1/0",)

    for protocol in range(6):
        refused(pickle.dumps({"a": Hostile()}, protocol), r"names (builtins|__builtin__)\.eval")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"(S'x'\nios\nsystem\n.", "opcode INST"),
        (b"\x80\x02(cos\nsystem\no.", "names os.system"),
        (b"\x80\x02(Nlo.", "opcode OBJ"),
        (b"\x80\x02\x82\x01.", "opcode EXT1"),
        (b"\x80\x04N)}\x92.", "opcode NEWOBJ_EX"),
        (b"\x80\x05\x97.", "opcode NEXT_BUFFER"),
        (b"\x80\x02K\x01)R.", "calls 1, which is no function"),
        (b"ccollections\nOrderedDict\nK\x01R.", "no tuple"),
        (b"ccollections\nOrderedDict\n(K\x01K\x02tR.", "wrongly: too many positional"),
        (b"ccollections\nOrderedDict\n(K\x01tR.", "fills a container from 1"),
        (b"ccollections\nOrderedDict\n.", "holds the function"),
        (b"ccollections\nOrderedDict\n}b.", "fills a _Named as if it were a OrderedDict"),
        (b"}}b.", "fills a dict as if"),
        (b"K\x01K\x02a.", "fills a int as if it were a list"),
        (b"}]K\x01s.", "a list as a key or in one"),
        (b"}((K\x01tt K\x01s.", "damaged"),
        (b"cbuiltins\nbytearray\n(L10000000000L\ntR.", "makes bytes of 10000000000"),
        (b"c_codecs\nencode\n(S'x'\nS'rot13'\ntR.", "by 'rot13'"),
        (b"K\x01K\x02.", "leaves 2 values"),
        (b".", "leaves 0 values"),
        (b"", "damaged"),
        (b"K\x01", "ends before|damaged"),
        (b"0.", "damaged"),
        (b"h\x05.", "damaged"),
        (b"t.", "damaged"),
        (b"(K\x01\x85.0.", "leaves 2 values"),
        (b"(\x85.", "a container begins where a value should be"),
        (b"(.", "a container begins where a value should be"),
        (b"}(K\x01u.", "damaged"),
        (b"\xff.", "damaged"),
        (b"I" + b"9" * 5000 + b"\n.", "damaged"),
        (b"]2a.", "contains itself"),
        (b"}K\x01}q\x00K\x01h\x00sss.", "damaged|contains itself"),
    ],
)
def test_what_data_do_not_need_is_refused(data: bytes, message: str) -> None:
    refused(data, message)


@pytest.mark.parametrize("opcode", [b"\x8e", b"\x96", b"\x8d"])
def test_lengths_are_checked_before_anything_is_allocated(opcode: bytes) -> None:
    refused(b"\x80\x05" + opcode + struct.pack("<Q", 1 << 45) + b"abc.", "damaged")


def test_a_memo_of_high_numbers_takes_no_room() -> None:
    assert load(b"K\x01r" + struct.pack("<L", 0xFFFFFFFF) + b".") == 1


def test_deep_values_are_refused_without_running_out_of_stack() -> None:
    refused(b"N" + b"\x85" * 100_000 + b".", "deeper than 500 levels")
    refused(b"}N" + b"\x85" * 100_000 + b"Ns.", "a tuple as a key or in one")


def test_shared_values_are_looked_at_once() -> None:
    # 60 levels of pairs of the level below: 2**60 paths
    found = load(b"N" + b"2\x86" * 60 + b".")
    assert isinstance(found, tuple)


@given(st.binary(max_size=200))
def test_any_bytes_are_data_or_refused(data: bytes) -> None:
    with contextlib.suppress(FileFormatError):
        load(b"\x80\x02" + data)
