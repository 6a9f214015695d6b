"""Targets and capabilities are plain, picklable data."""

import pickle

from plugrad.dtype import dtypes
from plugrad.target import Capabilities, Evidence, Target


def test_index_zero_is_left_out_of_the_name() -> None:
    assert Target("X").name == "X"
    assert Target("X", 2).name == "X:2"


def test_details_are_read_by_name() -> None:
    target = Target("X", detail=(("driver", "12"), ("path", "/p")))
    assert target.get("path") == "/p"
    assert target.get("missing", "none") == "none"


def test_capabilities_survive_pickling_and_compare_by_value() -> None:
    capabilities = Capabilities(frozenset({dtypes.float32}), frozenset({dtypes.float32}), vector_bits=512)
    assert pickle.loads(pickle.dumps(capabilities)) == capabilities


def test_lanes_follow_from_the_register_width_and_the_dtype() -> None:
    wide = Capabilities(frozenset(), frozenset(), vector_bits=512)
    assert [wide.lanes(d) for d in (dtypes.int8, dtypes.float32, dtypes.float64)] == [64, 16, 8]
    assert Capabilities(frozenset(), frozenset()).lanes(dtypes.float32) == 1


def test_lanes_are_at_most_those_of_the_language() -> None:
    limited = Capabilities(frozenset(), frozenset(), vector_bits=512, max_lanes=16)
    assert [limited.lanes(d) for d in (dtypes.int8, dtypes.float32, dtypes.float64)] == [16, 16, 8]


def test_evidence_names_are_those_of_reports() -> None:
    assert [evidence.name for evidence in Evidence] == ["E0", "E1", "E2", "E3"]
