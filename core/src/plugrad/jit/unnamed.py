"""Give new memory a BUFFER when somebody asks for it."""

import threading
import weakref

from plugrad.engine.storage import Storage
from plugrad.runtime.buffer import Buffer
from plugrad.uop import UOp


class UnnamedStorage(Storage):
    """New memory that nobody else uses yet, and that no graph mentions.

    It becomes a `Storage` with a BUFFER when somebody asks for `uop`. Results of replays go before anybody
    does, or are passed to another one, which reads `memory`.

    Args:
        memory: what holds the value.
        like: a BUFFER of the same device, shape and dtype, with other memory or none.
    """

    __slots__ = ()

    def __init__(self, memory: Buffer, like: UOp) -> None:
        self.memory: Buffer | None = memory
        self.like = like
        self.device = memory.device
        self.is_memory = True
        self.is_computed = self.is_copy = self.has_history = self.is_listed = False
        self.origin = None

    @property
    def uop(self) -> UOp:  # pyright: ignore[reportIncompatibleVariableOverride] - who sets it reads it first
        """The BUFFER of the memory, or the graph of what was written to it since."""
        memory = self.memory
        if memory is not None:
            name = UOp.new_buffer(self.device, self.like.arg.shape, self.like.dtype, memory)
            # made before, as nothing may be collected under the lock
            owner, known_name = weakref.ref(self), weakref.ref(name)
            with _naming:
                if self.memory is not None:
                    memory.owner, memory.known_name = owner, known_name
                    _set_uop(self, name)
                    self.__class__ = Storage  # pyright: ignore[reportAttributeAccessIssue] - the same slots
                    self.memory = None
        return _uop_of(self)


# the attribute itself, which the property hides
_set_uop, _uop_of = vars(Storage)["uop"].__set__, vars(Storage)["uop"].__get__
# Held while memory gets its first name, so that of two threads one gives it: for no longer.
_naming = threading.Lock()
