"""Tests of plugrad_conformance.fragments."""

from dataclasses import replace

import pytest

from plugrad.dtype import dtypes
from plugrad.target import Capabilities, Fragment
from plugrad_conformance.fragments import faults_of
from plugrad_conformance.mutants.matrices import SOUND

GPU = Capabilities(
    storage_dtypes=frozenset({dtypes.float16, dtypes.float32}),
    compute_dtypes=frozenset({dtypes.float32}),
    max_workgroup=64,
    max_workgroup_dims=(64, 1, 1),
    tensor_cores=(SOUND,),
)


def test_a_sound_instruction_has_no_faults():
    assert faults_of(GPU) == []
    assert faults_of(replace(GPU, tensor_cores=())) == []


@pytest.mark.parametrize(
    ("core", "fault"),
    [
        (replace(SOUND, dims=(8, 8, 12)), "square has dims (8, 8, 12), which are not all powers of two"),
        (
            replace(SOUND, threads=16),
            "square: a tells 32 threads apart, and the instruction has 16",
        ),
        (
            replace(SOUND, c=Fragment(("n1", "n2", "m0", "m1", "m3"), ("n0",))),
            "square: c names m3, and its tile has the bits m0, m1, m2, n0, n1, n2",
        ),
        (
            replace(SOUND, b=Fragment(("n1", "n2", "k0", "k1", "k2"), ())),
            "square: b holds no element (0, 1) of its tile, and 31 others are lacking",
        ),
        (
            replace(SOUND, b=Fragment(("n1", "n2", "k0", "k1", "k2"), ("n0", "n0"))),
            "square: b holds element (0, 1) of its tile 3 times",
        ),
        (replace(SOUND, dtype_in=dtypes.int8), "square takes int8, which the device does not store"),
    ],
)
def test_what_is_wrong_with_an_instruction_is_said(core, fault):
    assert fault in faults_of(replace(GPU, tensor_cores=(core,)))


def test_instructions_have_names_of_their_own():
    assert faults_of(replace(GPU, tensor_cores=(SOUND, SOUND))) == ["two tensor cores are called square"]


def test_a_warp_fits_a_row_of_a_workgroup():
    (fault,) = faults_of(replace(GPU, max_workgroup_dims=(16, 4, 1)))
    assert fault == "square takes 32 threads, and a workgroup has 16 in a row at most"


def test_an_instruction_of_one_thread_needs_no_workgroup():
    rows = Fragment((), ("k0",))
    alone = replace(
        SOUND, dims=(2, 1, 2), threads=1, a=rows, b=Fragment((), ("k0", "n0")), c=Fragment((), ("n0",))
    )
    assert faults_of(replace(GPU, max_workgroup=0, max_workgroup_dims=(), tensor_cores=(alone,))) == []
