"""Check the matrix instructions that a device declares."""

from collections import Counter
from collections.abc import Iterator

from plugrad.dtype import FLOAT8
from plugrad.target import Capabilities, Fragment, TensorCore


def faults_of(capabilities: Capabilities) -> list[str]:
    """List the faults of a device's tensor cores, a sentence each."""
    names = Counter(core.name for core in capabilities.tensor_cores)
    twice = [f"two tensor cores are called {name}" for name, count in names.items() if count > 1]
    found = (fault for core in capabilities.tensor_cores for fault in _of_core(core, capabilities))
    return [*twice, *found]


def _of_core(core: TensorCore, capabilities: Capabilities) -> Iterator[str]:
    stored = {*capabilities.storage_dtypes, *FLOAT8}
    for what, dtype in (("takes", core.dtype_in), ("gives", core.dtype_out)):
        if dtype not in stored:
            yield f"{core.name} {what} {dtype.name}, which the device does not store"
    if any(size < 1 or size & (size - 1) for size in core.dims):
        yield f"{core.name} has dims {core.dims}, which are not all powers of two"
        return
    limit = capabilities.max_workgroup_dims[0] if capabilities.max_workgroup_dims else 0
    if core.threads > 1 and core.threads > min(limit, capabilities.max_workgroup):
        yield f"{core.name} takes {core.threads} threads, and a workgroup has {limit} in a row at most"
    n, m, k = core.dims
    for name, fragment, sizes in (
        ("a", core.a, {"m": m, "k": k}),
        ("b", core.b, {"k": k, "n": n}),
        ("c", core.c, {"m": m, "n": n}),
    ):
        yield from (f"{core.name}: {name} {fault}" for fault in _of_fragment(fragment, sizes, core.threads))


def _of_fragment(fragment: Fragment, sizes: dict[str, int], threads: int) -> Iterator[str]:
    if threads != 1 << len(fragment.threads):
        yield f"tells {1 << len(fragment.threads)} threads apart, and the instruction has {threads}"
        return
    bits = {f"{axis}{bit}" for axis, size in sizes.items() for bit in range(size.bit_length() - 1)}
    unknown = [bit for bit in (*fragment.threads, *fragment.places) if bit not in bits]
    if unknown:
        yield f"names {', '.join(unknown)}, and its tile has the bits {', '.join(sorted(bits))}"
        return
    held = Counter(
        tuple(fragment.coordinate(axis, thread, place) for axis in sizes)
        for thread in range(threads)
        for place in range(fragment.count)
    )
    rows, columns = sizes.values()
    lacking = [(i, j) for i in range(rows) for j in range(columns) if (i, j) not in held]
    if lacking:
        yield f"holds no element {lacking[0]} of its tile, and {len(lacking) - 1} others are lacking"
    repeated = [at for at, count in held.items() if count > 1]
    if repeated:
        yield f"holds element {repeated[0]} of its tile {held[repeated[0]]} times"
