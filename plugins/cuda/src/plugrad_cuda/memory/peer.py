"""Copies from one GPU to another that do not pass through the host.

Each device has one stream. The copy is in that of the destination, waits for what the source was given
before, and what the source is given later waits for the copy.
"""

from plugrad_cuda.context import Context
from plugrad_cuda.native import ffi

_ALREADY_ENABLED = 704


def copy_between(dest: Context, to: int, source: Context, start: int, nbytes: int) -> bool:
    """Copy bytes from address `start` of `source` to address `to` of `dest`.

    Returns:
        Whether `dest` can read the memory of `source`; without that nothing happens.

    Raises:
        DeviceError: one of the two failed.
    """
    doing = f"copying {nbytes} bytes from {source.target.name}"
    first, second = sorted((dest, source), key=lambda context: context.target.index)
    with first.lock, second.lock:
        if dest is not source:
            if not _reaches(dest, source):
                return False
            _wait(dest, source, doing)
            dest.launched.extend(source.launched)  # a fault of theirs may be noticed here
        dest.enter()
        library = dest.driver.library
        status = library.cuMemcpyPeerAsync(to, dest.handle, start, source.handle, nbytes, dest.stream)
        dest.check(status, doing)
        if dest is not source:
            _wait(source, dest, doing)
    return True


def _reaches(dest: Context, source: Context) -> bool:
    """Say whether `dest` can read the memory of `source`; allows it when first asked."""
    known = dest.reaches.get(source.target.index)
    if known is None:
        known = dest.reaches[source.target.index] = _connect(dest, source)
    return known


def _connect(dest: Context, source: Context) -> bool:
    library, doing = dest.driver.library, f"reaching the memory of {source.target.name}"
    can = ffi.new("int *")
    dest.check(library.cuDeviceCanAccessPeer(can, dest.target.index, source.target.index), doing)
    if not can[0]:
        return False
    if source.pool is not None:
        source.enter()
        source.check(source.pool.open_to(dest.target.index), doing)
    else:
        dest.enter()
        status = library.cuCtxEnablePeerAccess(source.handle, 0)
        dest.check(0 if status == _ALREADY_ENABLED else status, doing)
    return True


def _wait(later: Context, earlier: Context, doing: str) -> None:
    """Order later work of the context `later` after the earlier work of `earlier`."""
    library = later.driver.library
    earlier.enter()
    earlier.check(library.cuEventRecord(earlier.signal, earlier.stream), doing)
    later.enter()
    later.check(library.cuStreamWaitEvent(later.stream, earlier.signal, 0), doing)
