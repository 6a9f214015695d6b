"""Units of update: a parameter, or many small ones in one piece of memory.

An update of a small parameter takes as long as starting its kernels. So small parameters of an optimizer
whose updates are elementwise, but for norms of parameters, move next to each other into one piece of memory,
a pack, and become views of it: one kernel then updates all of them. A parameter stays an ordinary tensor. If
it is found elsewhere later (it was copied with its optimizer, or replaced), its values are taken into the
pack again.

Matrices that are multiplied as wholes share a pack only with those of their own shape: their products are one
batch.

An update sees an `UpdateUnit`, of one parameter or of a pack: values, a gradient and state of one shape.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, least_upper_dtype
from plugrad.engine import storage
from plugrad.engine.resolve_graph import resolve_graph
from plugrad.tensor import Tensor
from plugrad.tensor.graph_access import count_sharing
from plugrad.tensor.shapes import fixed_shape
from plugrad.uop import Ops, UOp

_PACK_TENSORS = 64
# Members start at multiples of this, so that vectors of a kernel do not straddle two of them.
_ALIGNMENT_ELEMENTS = 32


@frozen
class FlattenLimits:
    """Limits of the parameters that share memory.

    Attributes:
        most_elements: how many a parameter has at the most.
        pack_elements: how many a pack has.
        same_shape: only parameters of one shape share a pack.
    """

    most_elements: int
    pack_elements: int
    same_shape: bool = False


#: For updates of elements. Up to here starting a kernel on a CPU takes longer than the update; and one kernel
#: gathers the gradients of a pack, each of whose elements chooses among all of them.
ELEMENTWISE = FlattenLimits(4096, 16384)
#: For updates by products of matrices: an element takes part in as many multiplications as a row is long, so
#: gathering is nothing beside them, and a product of larger ones keeps a device busy by itself.
MATRICES = FlattenLimits(1 << 16, 1 << 20, same_shape=True)


class UpdateUnit:
    """Values, gradient and state of one update: those of a parameter.

    Attributes:
        target: the memory that is updated.
        indices: which parameters of the group these are.
        state: what the optimizer remembers of them, by name.
        numbers: the names of what is remembered of a parameter, not of its elements.
        skip: a bool of shape (); where it is true, nothing changes.
    """

    def __init__(self, target: Tensor, indices: Sequence[int]) -> None:
        self.target = target
        self.indices = tuple(indices)
        self.state: dict[str, Tensor] = {}
        self.numbers: set[str] = set()
        self.skip: Tensor | None = None

    def members(self) -> "Iterator[UpdateUnit]":
        """Yield a unit for each parameter, whose state is part of this one's."""
        yield self

    def has_gradients(self) -> bool:
        """Say whether all parameters have a gradient."""
        return self.target.grad is not None

    def grad(self) -> Tensor:
        """Return the gradient of the target, in the dtype that updates are computed in."""
        assert self.target.grad is not None, "has_gradients comes first"
        return self.widened(self.target.grad.detach())

    def length(self, x: Tensor) -> Tensor:
        """Return the norm of each parameter's part of `x`, in a shape that multiplies `x`."""
        return x.square().sum().sqrt()

    def stacked(self, x: Tensor) -> Tensor:
        """Return the part of `x` of each parameter, in its shape: (parameters, *shape)."""
        return x.unsqueeze(0)

    def unstacked(self, x: Tensor) -> Tensor:
        """Undo `stacked`."""
        return x.squeeze(0)

    def value(self) -> Tensor:
        """Return the values before the update, in the dtype that it is computed in."""
        return self.widened(self.target.detach())

    def widened(self, value: Tensor) -> Tensor:
        """Return `value` in float32, or the wider dtype of the parameters."""
        return value.cast(_wide(self.target))

    def store(self, value: Tensor) -> None:
        """Assign `value` to the target."""
        self._write(self.target, value)

    def add_state(self, name: str, fill: float) -> Tensor:
        """Remember a number for each element, `fill` at first; return the memory."""
        target = self.target
        memory = Tensor.full(
            target.shape, fill, dtype=target.dtype, device=target.device, requires_grad=False
        )
        self.state[name] = memory.contiguous()
        return self.state[name]

    def add_number(self, name: str, fill: float) -> Tensor:
        """Remember a number for each parameter, `fill` at first; return the memory.

        Parameters of a unit have the same one, as they were updated together.
        """
        target, count = self.target, len(self.indices)
        memory = Tensor.full((count,), fill, dtype=_wide(target), device=target.device, requires_grad=False)
        self.state[name] = memory.contiguous()
        self.numbers.add(name)
        return self.state[name]

    def __getitem__(self, name: str) -> Tensor:
        memory = self.state[name]
        return self.widened(memory[0] if name in self.numbers else memory)

    def keep(self, name: str, value: Tensor) -> Tensor:
        """Remember `value` as `name`, rounded to the dtype of the parameters; return it."""
        memory = self.state[name]
        self._write(memory, value.expand(memory.shape) if name in self.numbers else value)
        return self[name]

    def average(self, name: str, value: Tensor, kept: "float | Tensor") -> Tensor:
        """Update the running average `name` by `value`, keeping the part `kept`; return it."""
        return self.keep(name, self[name] * kept + value * (1 - kept))

    def _write(self, memory: Tensor, value: Tensor) -> None:
        new = value.cast(memory.dtype)
        memory.assign(new if self.skip is None else self.skip.to(memory.device).where(memory.detach(), new))


class FlatParameters(UpdateUnit):
    """Small parameters in one piece of memory."""

    def __init__(self, params: Sequence[Tensor], indices: Sequence[int]) -> None:
        super().__init__(_joined(params), indices)
        self._params = list(params)
        # which parameter each block of elements belongs to, and which elements belong to any
        blocks = [_padded_count(p) // _ALIGNMENT_ELEMENTS for p in params]
        owners = [number for number, count in enumerate(blocks) for _ in range(count)]
        self._owners = Tensor(owners, dtype=dtypes.int32, device=params[0].device)
        # written by the host: a kernel that joins truth values has wide vectors, and takes minutes to compile
        inside = b"".join(bytes([1]) * _count(p) + bytes(_padded_count(p) - _count(p)) for p in params)
        self._is_inside = Tensor(inside, dtype=dtypes.uint8, device=params[0].device) != 0
        Tensor.realize(self._owners, self._is_inside)

    def settle(self) -> None:
        """Make each parameter a view into the memory, keeping its values."""
        for p, part in self._parts(self.target):
            p.replace(part)

    def _parts(self, memory: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        at = 0
        for p in self._params:
            shape = fixed_shape(p.shape, "optimizer")
            yield p, memory[at : at + _count(p)].reshape(shape)
            at += _padded_count(p)

    def members(self) -> Iterator[UpdateUnit]:
        """Yield a unit for each parameter, whose state is a view of this one's."""
        state = {name: self._state_views(name) for name in self.state}
        for number, (p, index) in enumerate(zip(self._params, self.indices, strict=True)):
            single = UpdateUnit(p, (index,))
            single.state = {name: shares[number] for name, shares in state.items()}
            single.numbers = self.numbers
            yield single

    def _state_views(self, name: str) -> list[Tensor]:
        """Return the state of each parameter as views of the state of all."""
        memory = self.state[name]
        if name in self.numbers:
            return [memory[number : number + 1] for number in range(len(self.indices))]
        return [part for _, part in self._parts(memory)]

    def has_gradients(self) -> bool:
        """Say whether all parameters have a gradient."""
        return all(p.grad is not None for p in self._params)

    def grad(self) -> Tensor:
        """Return the gradients next to each other, as the parameters are."""
        return self.widened(_joined([p.grad.detach() for p in self._params if p.grad is not None]))

    def length(self, x: Tensor) -> Tensor:
        """Return for each element the norm of its parameter's part of `x`, (n,)."""
        blocks = self._is_inside.where(x, 0.0).reshape(-1, _ALIGNMENT_ELEMENTS).square().sum(-1)
        mine = Tensor.arange(len(self._params), device=x.device).reshape(-1, 1) == self._owners
        sums = mine.where(blocks, 0.0).sum(-1).contiguous()
        spread = sums.sqrt()[self._owners].reshape(-1, 1)
        return spread.expand(spread.shape[0], _ALIGNMENT_ELEMENTS).flatten()

    def stacked(self, x: Tensor) -> Tensor:
        """Return the parts of parameters of one shape: (n,) -> (parameters, *shape)."""
        first = self._params[0]
        blocks = x.reshape(len(self._params), _padded_count(first))
        return blocks[:, : _count(first)].reshape(len(self._params), *first.shape)

    def unstacked(self, x: Tensor) -> Tensor:
        """Join the parts as the parameters lie in memory: (parameters, *shape) -> (n,)."""
        first = self._params[0]
        return x.flatten(1).pad((0, _padded_count(first) - _count(first))).flatten()

    def value(self) -> Tensor:
        """Return the values before the update, wherever they are."""
        for p, part in self._parts(self.target):
            if p.uop is not part.uop:
                part.assign(p.detach())
                p.replace(part)
        return super().value()


def _wide(p: Tensor) -> DType:
    return least_upper_dtype(dtypes.float32, p.dtype)


def _count(p: Tensor) -> int:
    count: Any = p.numel()
    return count


def _padded_count(p: Tensor) -> int:
    return -(-_count(p) // _ALIGNMENT_ELEMENTS) * _ALIGNMENT_ELEMENTS


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    padded = [t.detach().flatten().pad(((0, _padded_count(t) - _count(t)),)) for t in tensors]
    return padded[0].cat(*padded[1:]).contiguous()


def make_units(params: Sequence[Tensor], limits: FlattenLimits) -> list[UpdateUnit]:
    """Return the units of a group of parameters, which lie in memory."""
    alone = _sole_owners(params)
    units: list[UpdateUnit] = []
    waiting: dict[object, list[int]] = {}
    for index, p in enumerate(params):
        if index not in alone or not 0 < _count(p) <= limits.most_elements:
            units.append(UpdateUnit(p, (index,)))
            continue
        kind = p.device, p.dtype, p.shape if limits.same_shape else None
        pack = waiting.setdefault(kind, [])
        elements = sum(_padded_count(params[i]) for i in pack) + _padded_count(p)
        if len(pack) == _PACK_TENSORS or elements > limits.pack_elements:
            units.append(_flattened(params, pack))
            pack = waiting[kind] = []
        pack.append(index)
    return [*units, *(_flattened(params, pack) for pack in waiting.values())]


def _flattened(params: Sequence[Tensor], indices: Sequence[int]) -> UpdateUnit:
    if len(indices) == 1:
        return UpdateUnit(params[indices[0]], indices)
    return FlatParameters([params[i] for i in indices], indices)


def _sole_owners(params: Sequence[Tensor]) -> set[int]:
    """Return the parameters whose memory no other tensor and no pending graph uses.

    The others stay where they are: views of them are to see updates, and gradients to find them.
    """
    waiting = resolve_graph(UOp.sink(*storage.pending_values()))
    read = {u for u in waiting.values() if u.op is Ops.BUFFER}
    return {
        index
        for index, (p, sharing) in enumerate(zip(params, count_sharing(params), strict=True))
        if p.uop.op is Ops.BUFFER and sharing == 1 and p.uop not in read
    }


def settle(units: Iterable[UpdateUnit], *others: Tensor) -> None:
    """Compute the memory of units and `others`, and make parameters views of it."""
    units = list(units)
    Tensor.realize(
        *others, *(unit.target for unit in units), *(t for unit in units for t in unit.state.values())
    )
    for unit in units:
        if isinstance(unit, FlatParameters):
            unit.settle()
