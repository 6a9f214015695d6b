"""Full, edges and dtypes: every case of the table of operations.

Results are compared with what the case means to NumPy, derivatives with those that PYTHON computes in
float64. A device computes derivatives in float32, which every device has. Of some methods of every kind, one
case is in the core profile. The same methods of no elements, without axes, of repeated and of special
elements are the profile `edges`, and those in every other dtype the profile `dtypes`.
"""

import functools
import re

import numpy as np

from plugrad import Tensor
from plugrad.dtype import is_float
from plugrad_conformance.case import Case, Check, needs_dtypes
from plugrad_conformance.harness.bench import Bench
from plugrad_conformance.harness.oracle_store import remembered
from plugrad_conformance.harness.values import Array, array_of
from plugrad_conformance.operations import OPERATIONS, Operation, do
from plugrad_conformance.operations.check import references
from plugrad_conformance.operations.table import AT_EDGES, COMPLEX, WRITTEN
from plugrad_conformance.tolerance import Tolerance, tolerance_of

ORACLE = "PYTHON"
#: Methods whose first case is in the core profile.
IN_CORE = (
    "asin atan2 avg_pool2d batch_norm conv2d conv_transpose2d cross_entropy cumprod cumsum einsum erf "
    "fft floordiv gather gelu glu grid_sample index_add interpolate inv layer_norm lerp log1p logsumexp "
    "masked_select max_pool2d maximum median nan_to_num norm one_hot pow prod qr repeat roll "
    "scaled_dot_product_attention scatter_reduce searchsorted sort std topk trunc unfold where"
)


def slug(text: str) -> str:
    """Return words as ids spell them.

    Example:
        >>> slug("__add__/axis -1")
        'operator-add-axis-minus-1'
    """
    # ids are in lower case, and `t` is a method beside `T`
    named = re.sub(r"^T/", "property T/", text)
    operator = re.sub(r"__(\w+?)__", r"operator \1", named)
    signed = re.sub(r"(?<![\w)\]])-(?=\w)", "minus ", operator)
    return re.sub(r"[^a-z0-9]+", "-", signed.lower()).strip("-")


def _build(case: Operation, bench: Bench) -> Check:
    done = do(case, bench.name, precision="float32")
    outputs, exact = list(done.tensors), [*references(case), *_derivatives(case, bench)]
    if case.signed:
        floats = [(x, want) for x, want in zip(done.results, exact, strict=False) if is_float(x.dtype)]
        with np.errstate(over="ignore", under="ignore"):
            zeros = [want.astype(x.dtype.name) == 0 for x, want in floats]
        outputs += [
            x.signbit() & Tensor(at, device=bench.name) for (x, _), at in zip(floats, zeros, strict=True)
        ]
        exact += [np.signbit(want) & at for (_, want), at in zip(floats, zeros, strict=True)]
    if 0 in outputs[0].shape:
        # nothing to compute takes no kernel, which is what counts; the sum of nothing takes one
        outputs, exact = [*outputs, outputs[0].sum()], [*exact, np.zeros(())]
    first = len(done.results) + len(done.gradients)
    # of squares: each is the sum of two products that are derivatives themselves
    second = range(first, first + len(done.curvatures))
    scales = [
        np.maximum(1, np.abs(want)) * (2 if i in second else 1) if want.dtype.kind == "f" else None
        for i, want in enumerate(exact)
    ]
    tolerances = [tolerance_of("operation", tensor.dtype) for tensor in outputs]
    widest = max(tolerances, key=lambda tolerance: tolerance.ulp)
    allowed = Tolerance(widest.ulp * case.accuracy, widest.reason)
    return Check([tensor.contiguous() for tensor in outputs], exact, allowed, scales)


def _derivatives(case: Operation, bench: Bench) -> list[Array]:
    """Return gradients and second derivatives, as PYTHON computes them in float64."""
    if not case.differentiated:
        return []

    def compute() -> list[Array]:
        # what the oracle launches is none of the device's business
        with bench.unwatched():
            done = do(case, ORACLE)
            first, *others = (*done.gradients, *done.curvatures)
            first.realize(*others)
        return [array_of(tensor) for tensor in (first, *others)]

    return remembered(case.id, compute)


def _profile(number: int) -> str:
    """Return the profile of a case by its place in the table."""
    full = len(WRITTEN) + len(COMPLEX)
    if number < full:
        return "full"
    return "edges" if number < full + len(AT_EDGES) else "dtypes"


def _cases() -> list[Case]:
    found: list[Case] = []
    left = set(IN_CORE.split())
    for number, case in enumerate(OPERATIONS):
        profile = "core" if case.name in left else _profile(number)
        left.discard(case.name)
        stored = [*(x.dtype.name for x in case.inputs), *([case.dtype] if case.dtype else ()), *case.stored]
        found.append(
            Case(
                f"{profile}/operations/{slug(case.id)}",
                build=functools.partial(_build, case),
                needs=needs_dtypes(*stored),
            )
        )
    return found


CASES = tuple(_cases())
