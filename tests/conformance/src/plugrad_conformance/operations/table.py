"""All cases, and the names that have none, with the reason."""

from plugrad.tensor import Tensor
from plugrad_conformance.operations.operation import Operation
from plugrad_conformance.operations.topics import (
    casts,
    complex_numbers,
    elementwise,
    formulas,
    fourier,
    indexing,
    layers,
    linalg,
    matrices,
    movement,
    products,
    reductions,
    spatial,
    stacks,
    statistics,
    synonyms,
)
from plugrad_conformance.operations.variations import (
    breadth,
    edges,
    empties,
    indices,
    kinks,
    scalars,
    shapes,
    sweep,
    values,
)

#: Cases that are written out, each with a meaning of its own.
WRITTEN: tuple[Operation, ...] = (
    *elementwise.CASES,
    *synonyms.CASES,
    *formulas.CASES,
    *reductions.CASES,
    *statistics.CASES,
    *movement.CASES,
    *stacks.CASES,
    *indexing.CASES,
    *products.CASES,
    *linalg.CASES,
    *matrices.CASES,
    *fourier.CASES,
    *spatial.CASES,
    *layers.CASES,
    *breadth.CASES,
    *edges.CASES,
    *casts.CASES,
)
#: Cases of complex numbers, of which no others are made: the last axis of their inputs holds the two parts.
COMPLEX: tuple[Operation, ...] = complex_numbers.CASES
_ONE_BY_ONE = {
    case.name for topic in (elementwise, synonyms, formulas, movement, stacks) for case in topic.CASES
}
#: Methods again at edges: of no elements, without axes, of repeated and of special ones.
AT_EDGES: tuple[Operation, ...] = (
    *shapes.shaped(WRITTEN, scalars.AXES_NEEDED),
    *empties.CASES,
    *scalars.CASES,
    *values.derived(sweep.plain_cases(WRITTEN), WRITTEN),
    *kinks.CASES,
)
#: Methods again in other dtypes, of elements and of positions.
IN_DTYPES: tuple[Operation, ...] = (*indices.CASES, *sweep.swept(WRITTEN, _ONE_BY_ONE))
OPERATIONS: tuple[Operation, ...] = (*WRITTEN, *COMPLEX, *AT_EDGES, *IN_DTYPES)

_REASONS = {
    "says what a tensor is, and computes nothing": (
        "__init__ __dir__ __format__ __hash__ __len__ __repr__ device dim dtype "
        "element_size grad is_complex is_floating_point itemsize nbytes ndim ndimension nelement numel "
        "requires_grad requires_grad_ shape size uop"
    ),
    "brings elements to the host, as every case does": (
        "__array__ __bool__ __buffer__ __bytes__ __complex__ __deepcopy__ __float__ __index__ __int__ "
        "__contains__ __iter__ __reduce__ allclose data equal item numpy tolist"
    ),
    "says when and where is computed, not what": (
        "cpu cuda detach kernelize no_grad realize replace schedule to to_ to_device train training"
    ),
    "is `contiguous`, as others call it": "clone copy",
    "changes how derivatives are computed, not what they are": "contiguous_backward",
    "is what derivatives of all cases are taken with": "backward gradient",
    "draws random numbers: distributions are tested, not values": (
        "bernoulli glorot_uniform kaiming_normal kaiming_uniform manual_seed normal rand rand_like randint "
        "randint_like randn randn_like randperm scaled_uniform uniform"
    ),
    "has no defined elements": "empty empty_like new_empty",
    "reads what is outside of the program": "from_blob from_url",
    "computes what a function of the user or of NumPy says": "__array_ufunc__ custom_kernel",
    "shares memory with other libraries": (
        "__array_namespace__ __dlpack__ __dlpack_device__ from_dlpack from_torch to_torch"
    ),
}
#: Public names of `Tensor` without a case, and why.
EXCUSED = {name: reason for reason, names in _REASONS.items() for name in names.split()}


def public_names() -> list[str]:
    """Return the public names of `Tensor` and the operators that it gives a meaning to.

    Example:
        >>> "matmul" in public_names(), "__matmul__" in public_names(), "_uop" in public_names()
        (True, True, False)
    """
    own = {name for cls in Tensor.__mro__[:-1] for name, value in vars(cls).items() if callable(value)}
    names = [name for name in dir(Tensor) if hasattr(Tensor, name)]
    return [name for name in names if not name.startswith("_") or (name in own and name.endswith("__"))]
