"""The methods that exchange elements with the host and with other libraries."""

from plugrad.tensor.base import TensorBase
from plugrad.tensor.host import conversion, external, interop, numpy_functions, queries, reading


class HostMixin:
    """Reading, dtypes, other libraries, files, properties."""

    __slots__ = ()

    # reading elements
    __buffer__ = reading.__buffer__
    numpy = reading.numpy
    __array__ = reading.__array__
    __array_interface__ = reading.__array_interface__
    __array_ufunc__ = numpy_functions.__array_ufunc__
    tolist = reading.tolist
    item = reading.item
    __bool__ = reading.__bool__
    __float__ = reading.__float__
    __int__ = reading.__int__
    __complex__ = reading.__complex__
    __index__ = reading.__index__

    # dtypes
    cast = conversion.cast
    bitcast = conversion.bitcast
    float = conversion.float
    half = conversion.half
    double = conversion.double
    int = conversion.int
    long = conversion.long
    bool = conversion.bool
    bfloat16 = conversion.bfloat16
    char = conversion.char
    byte = conversion.byte
    short = conversion.short
    astype = conversion.cast
    type_as = conversion.type_as

    # other libraries
    __dlpack_device__ = interop.__dlpack_device__
    __dlpack__ = interop.__dlpack__
    __bytes__ = interop.__bytes__
    from_dlpack = classmethod(interop.from_dlpack)
    from_torch = classmethod(interop.from_torch)
    to_torch = interop.to_torch
    __array_namespace__ = interop.__array_namespace__

    # memory and files of others
    from_blob = classmethod(external.from_blob)
    from_url = classmethod(external.from_url)

    # sizes by other names
    dim = queries.dim
    ndimension = queries.dim
    nelement = TensorBase.numel
    itemsize = queries.itemsize
