"""Tests of plugrad_conformance.catalogue and .must_pass."""

import re

import pytest

from plugrad.dtype import dtypes
from plugrad_conformance.case import PROFILES
from plugrad_conformance.cases.operations import IN_CORE, slug
from plugrad_conformance.catalogue import all_cases, cases_of, denominators
from plugrad_conformance.must_pass import HEADER, chosen, digest, is_must_pass, text
from plugrad_conformance.operations import OPERATIONS


def test_ids_are_profile_area_and_name():
    bad = [
        c.id
        for c in all_cases()
        if not re.fullmatch(r"[a-z]+/[a-z]+/[a-z0-9-]+", c.id) or c.profile not in PROFILES
    ]
    assert bad == []


def test_a_case_is_built_or_run():
    assert all((c.build is None) != (c.run is None) for c in all_cases())


def test_profiles_contain_those_before_them():
    sizes = denominators()
    assert len(cases_of("core")) == sizes["contract"] + sizes["minimal"] + sizes["core"]
    assert len(cases_of("perf")) == sizes["perf"]


def test_operations_at_edges_come_before_those_in_other_dtypes():
    ids = {c.id for c in all_cases()}
    assert {"full/operations/exp-derivatives", "edges/operations/exp-no-elements"} <= ids
    assert "dtypes/operations/exp-derivatives-in-float16" in ids
    assert PROFILES.index("full") < PROFILES.index("edges") < PROFILES.index("dtypes")


def test_no_case_asks_for_a_device_by_name():
    kinds = {need.partition(":")[0] for c in all_cases() for need in c.needs}
    known = "dtype tensor-core atomic views workgroups threads buffers graphs second-device"
    assert kinds <= set(known.split())


@pytest.mark.parametrize("op", ["add", "mul", "less", "where", "maximum"])
def test_every_dtype_of_numbers_is_in_the_core_profile(op):
    names = {c.id for c in cases_of("core")}
    for dtype in (d for d in vars(dtypes).values() if getattr(d, "kind", "") in ("int", "uint", "float")):
        assert f"core/elementwise/{op}-{dtype.name}" in names


def test_the_must_pass_list_is_up_to_date():
    assert text() == HEADER + "\n".join(chosen(c.id for c in all_cases())) + "\n"


def test_the_minimal_profile_must_pass():
    assert all(is_must_pass(c.id) for c in all_cases() if c.profile == "minimal")


def test_the_digest_is_a_sha256():
    assert re.fullmatch(r"[0-9a-f]{64}", digest())


def test_every_operation_is_a_case():
    ids = [c.id for c in all_cases() if c.area == "operations"]
    assert len(ids) == len(OPERATIONS)
    assert sum(i.startswith("core/") for i in ids) == len(IN_CORE.split())


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("__add__/two tensors", "operator-add-two-tensors"),
        ("sum/axis (0, -1)", "sum-axis-0-minus-1"),
        ("norm/p=-inf", "norm-p-minus-inf"),
        ("T/reals", "property-t-reals"),
    ],
)
def test_operations_are_spelled_as_ids(text, id_):
    assert slug(text) == id_
