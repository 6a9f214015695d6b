"""The plain data by which a plugin describes itself and its devices."""

from plugrad._frozen import frozen
from plugrad.target import Evidence, Target


@frozen
class BackendInfo:
    """The identity of a backend.

    Attributes:
        name: the device's name; also the name of the entry point, which is in lower case.
        spec_version: the version of `plugrad.plugin.hookspecs` the plugin was written for. A literal, so that
            it does not change with the core that happens to be installed.
        priority: the automatic choice takes the highest; below 0 it never takes this backend. Where devices
            differ in their rank, the highest that one of them may have.
        aliases: further names; each needs an entry point of its own to be found before the plugin is loaded.
        summary: one line for `plugrad devices`.
        takes_resource: what follows the colon in `NAME:...` is not an index but names a resource, such as a
            path; it comes to the hooks as `target.get("resource")`.
        distribution: filled in from the entry point.
        version: filled in from the entry point.
    """

    name: str
    spec_version: str
    priority: int = 0
    aliases: tuple[str, ...] = ()
    summary: str = ""
    takes_resource: bool = False
    distribution: str = ""
    version: str = ""


@frozen
class ProbedDevice:
    """One device that is present.

    Attributes:
        target: its identity, which the other hooks are called with.
        description: the model, as its maker calls it.
        evidence: how the correctness of its kernels is known. `Evidence.E2` marks a simulator, which is never
            chosen automatically.
        memory_bytes: its memory; 0 where it shares the host's.
        notes: what a user may want to know (the compiler that was chosen, and why), as (name, value) pairs.
        priority: its rank in the automatic choice, where that is below the backend's.
    """

    target: Target
    description: str = ""
    evidence: Evidence = Evidence.E3
    memory_bytes: int = 0
    notes: tuple[tuple[str, str], ...] = ()
    priority: int | None = None


@frozen
class Probe:
    """The outcome of looking for devices.

    Attributes:
        devices: those present, in the order of their index.
        reason: why there are none, with what was looked for and where.
        remedy: what would help: an install line, a permission, a driver.
        any_index: every index opens, each with memory of its own (for devices that are made of software).
    """

    devices: tuple[ProbedDevice, ...] = ()
    reason: str = ""
    remedy: str = ""
    any_index: bool = False
