"""The requirements of cases: capabilities of a device, never names."""

from plugrad.device import Device
from plugrad.dtype import FLOAT8, parse_dtype
from plugrad.errors import DeviceNotFound
from plugrad.plugin.manager import plugins
from plugrad.target import Capabilities


def unmet(need: str, name: str, capabilities: Capabilities) -> str | None:
    """Return the reason that device `name` lacks `need`, or None.

    Needs are `dtype:NAME`, `tensor-core:NAME`, `atomic:OP:NAME`, `views`, `workgroups`, `threads`,
    `buffers:N`, `graphs` and `second-device`.
    """
    kind, _, detail = need.partition(":")
    match kind:
        case "dtype":
            # floats of a byte are bits, which every device stores
            stored = parse_dtype(detail) in (*capabilities.storage_dtypes, *FLOAT8)
            return None if stored else f"it does not store {detail}"
        case "tensor-core":
            taken = {core.dtype_in for core in capabilities.tensor_cores}
            return None if parse_dtype(detail) in taken else f"it has no matrix instruction of {detail}"
        case "atomic":
            op, _, name_of_dtype = detail.partition(":")
            is_there = (op, parse_dtype(name_of_dtype)) in capabilities.atomic_ops
            return None if is_there else f"it has no atomic {op} of {name_of_dtype}"
        case "views":
            return None if capabilities.supports_views else "it has no views of buffers"
        case "workgroups":
            return None if capabilities.max_workgroup > 1 else "it has no workgroups"
        case "threads":
            return None if capabilities.threads > 1 else "its kernels use one thread"
        case "buffers":
            limit = capabilities.max_buffers
            return None if not limit or limit >= int(detail) else f"its kernels take {limit} buffers at most"
        case "graphs":
            return None if has_graphs(name) else "it has no graphs"
        case "second-device":
            return _second(name)
        case _:
            raise ValueError(f"there is no requirement {need!r}: see plugrad_conformance.requirements.unmet")


def has_graphs(name: str) -> bool:
    """Say whether a plugin of the device implements `plugrad_graph`."""
    backend = plugins.backend(name.partition(":")[0])
    return backend.implements("plugrad_graph")


def _second(name: str) -> str | None:
    try:
        Device[f"{name.partition(':')[0]}:1"]
    except DeviceNotFound as error:
        return f"there is one only: {error}"
    return None
