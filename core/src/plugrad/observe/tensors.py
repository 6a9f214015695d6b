"""Tell observers which line of the program each tensor comes from."""

from plugrad.events import TensorEvent, emit, listening, subscribe
from plugrad.observe.install import install
from plugrad.runtime.origin import call_site


def announce_tensor(node: object) -> None:
    """Emit a `TensorEvent` for the node of a new tensor, if anybody listens."""
    if listening(TensorEvent):
        emit(TensorEvent(node, str(call_site() or "")))


def _install_observers(event: TensorEvent) -> None:
    """Subscribe the observers of the settings at the first tensor, which they should hear of."""
    _first_tensor.close()
    install()
    if listening(TensorEvent):
        emit(event)


# closed by the first tensor, so that later ones ask nothing but `events.active`
_first_tensor = subscribe(TensorEvent, _install_observers)
