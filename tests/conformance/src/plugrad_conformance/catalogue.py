"""All cases, in the order in which they are done."""

from collections import Counter
from functools import cache

from plugrad_conformance.case import PROFILES, Case
from plugrad_conformance.cases import (
    autograd,
    casts,
    contract,
    elementwise,
    full,
    graphs,
    indexing,
    jit,
    kernels,
    matrices,
    memory,
    movement,
    operations,
    perf,
    random_numbers,
    reductions,
    symbolic,
    training,
)

_AREAS = (
    contract,
    memory,
    kernels,
    elementwise,
    casts,
    reductions,
    matrices,
    movement,
    indexing,
    symbolic,
    random_numbers,
    autograd,
    jit,
    graphs,
    training,
    operations,
    full,
    perf,
)


@cache
def all_cases() -> tuple[Case, ...]:
    """Return every case of the kit, by profile."""
    found = [case for area in _AREAS for case in area.CASES]
    twice = [case_id for case_id, count in Counter(case.id for case in found).items() if count > 1]
    assert not twice, f"two cases have one id: {twice}"
    return tuple(sorted(found, key=lambda case: PROFILES.index(case.profile)))


def cases_of(profile: str) -> tuple[Case, ...]:
    """Return the cases of a profile and of the profiles before it. `perf` stands alone."""
    wanted = (profile,) if profile == "perf" else PROFILES[: PROFILES.index(profile) + 1]
    return tuple(case for case in all_cases() if case.profile in wanted)


def denominators() -> dict[str, int]:
    """Return the number of cases that belong to each profile alone."""
    counts = Counter(case.profile for case in all_cases())
    return {profile: counts[profile] for profile in PROFILES}
