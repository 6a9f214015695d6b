"""The cases that nobody may waive: the minimal profile, and the foundations of the others.

The list is a file, so that a change to it shows, and its SHA-256 is in every report, so that a report says
which list it passed.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

HEADER = (
    "# Cases that no backend may waive: the minimal profile, and the foundations of the others.\n"
    "# The SHA-256 of this list is in every report. Written by tests/conformance/tests/update_must_pass.py.\n"
)
#: Beginnings of ids that the list takes beside the minimal profile.
_FOUNDATIONS = (
    "contract/plugin/hook",
    "contract/plugin/info-",
    "contract/plugin/capabilities-",
    "contract/plugin/tensor-cores-",
    "contract/plugin/probe-lists-",
    "contract/plugin/sources-compile",
    "contract/plugin/compile-error-",
    "contract/plugin/cache-key-",
    "contract/plugin/every-binary-",
    "core/elementwise/add-float32",
    "core/elementwise/mul-float32",
    "core/elementwise/add-int32",
    "core/elementwise/floordiv-int32",
    "core/elementwise/where-float32",
    "core/elementwise/bools",
    "core/casts/float32-to-int32",
    "core/casts/int32-to-float32",
    "core/reductions/sum-float32",
    "core/reductions/sum-int32",
    "core/reductions/matmul-4x5x6-",
    "core/movement/reshape-of-permute",
    "core/movement/copy-float32",
    "core/indexing/reads",
    "core/indexing/writes",
    "core/symbolic/prefix-sums",
    "core/autograd/matmul",
    "core/jit/replays-new-inputs",
    "core/training/sgd-follows-float64",
)


def chosen(ids: Iterable[str]) -> list[str]:
    """Select the `ids` that belong on the list."""
    return [i for i in ids if i.startswith(("minimal/", *_FOUNDATIONS))]


@cache
def listed() -> frozenset[str]:
    """Return the ids in `must_pass.txt`."""
    return frozenset(line for line in text().splitlines() if line and not line.startswith("#"))


def is_must_pass(case_id: str) -> bool:
    """Say whether nobody may waive this case."""
    return case_id in listed()


def digest() -> str:
    """Return the SHA-256 of the list."""
    return hashlib.sha256("\n".join(sorted(listed())).encode()).hexdigest()


def text() -> str:
    """Return the file."""
    return files("plugrad_conformance").joinpath("must_pass.txt").read_text(encoding="utf-8")
