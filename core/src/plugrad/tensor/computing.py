"""Tensors get memory: when they are realized, or where their values have to lie in memory of their own."""

from __future__ import annotations

# `self` is the class that joins the mixins, which share its protected members
# pyright: reportGeneralTypeIssues=false, reportPrivateUsage=false
from typing import TYPE_CHECKING

from plugrad.dtype import is_float
from plugrad.engine import storage
from plugrad.engine.realize import kernelize, realize, schedule
from plugrad.engine.schedule_table import ScheduleList
from plugrad.tensor.base import TensorBase, check_tensors
from plugrad.tensor.custom import Backward, with_backward
from plugrad.tensor.custom_kernel import KernelFunction, custom_kernel
from plugrad.tensor.shapes import is_static
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

if TYPE_CHECKING:
    from plugrad.tensor.tensor import Tensor


class ComputingMixin(TensorBase):
    """Computing what tensors show."""

    __slots__ = ()

    def realize(self: Tensor, *others: Tensor) -> Tensor:
        """Compute this tensor (and `others`, in one schedule) and keep it in memory; return it.

        Raises:
            DtypeError: one of them is no tensor.

        Example:
            >>> t = (Tensor([1, 2]) + 1).realize()
            >>> t.uop.op
            Ops.BUFFER
        """
        check_tensors(others, "realize")
        tensors = (self, *others)
        realize([_source_of(t._materialized()) for t in tensors], self._device)
        for t in tensors:
            t._is_computed = True
            t._storage.note_computed(t._path)
            # forgets how it was made, unless a gradient will want to know
            t._shown()
        return self

    def schedule(self: Tensor, *others: Tensor) -> ScheduleList:
        """Return the steps that `realize` would run, each with its graph `ast` and its buffers `bufs`.

        Printed, they are a table.

        Raises:
            DtypeError: one of them is no tensor.

        Example:
            >>> x = Tensor([1, 2]).realize()
            >>> len(((x + 1) * 2).schedule())
            1
        """
        check_tensors(others, "schedule")
        return schedule([t._materialized() for t in (self, *others)], self._device)

    def kernelize(self: Tensor, *others: Tensor) -> Tensor:
        """Replace the graphs of this tensor (and `others`) by the kernels that compute them; run nothing.

        Raises:
            DtypeError: one of them is no tensor.

        Example:
            >>> (Tensor([1, 2]) + 1).kernelize().tolist()
            [2, 3]
        """
        check_tensors(others, "kernelize")
        tensors = (self, *others)
        for t in tensors:
            t._with_memory()
        found = kernelize([t._storage.uop for t in tensors], self._device)
        for shows in {t._storage for t in tensors}:
            if shows.uop in found:
                shows.replace(found[shows.uop])
        return self

    @staticmethod
    def custom_kernel(
        function: KernelFunction, *outs_and_ins: Tensor, gradient: Backward | None = None
    ) -> tuple[Tensor, ...]:
        """Return what a kernel written in Python stores, once it runs.

        `function` takes a PARAM for each tensor, the memory of its elements in row-major order, and returns
        one STORE or several. It is written with `UOp.range(size, number)`, a loop; `param.index(i).load()`;
        `param.index(i).store(value, *ranges)`, which ends the loops; and `value.reduce(Ops.ADD, *ranges)`.
        Each device optimises the loops as it does those of its own kernels.

        The tensors that it stores to are outputs: their shape, dtype and device are those of the results, and
        what they held is there to be loaded. They stay what they are; results have memory of their own.

        Args:
            function: the kernel.
            outs_and_ins: outputs and inputs, in the order in which `function` takes them.
            gradient: takes the gradients of the results, the inputs and the results; returns the gradient of
                each input (see `plugrad.transforms.custom_gradient`). Without it, none flows.

        Raises:
            ArgumentError: `function` returns no stores, or a loop does not end.
            VerifyError: a node has no place in a kernel; the message names it.
            DtypeError: one of `outs_and_ins` is no tensor.
            DeviceError: the tensors lie on several devices.
            ShapeError: a shape is symbolic.

        Example:
            >>> def add(out, a, b):
            ...     i = UOp.range(3, 0)
            ...     return out.index(i).store(a.index(i).load() + b.index(i).load(), i)
            >>> x, y = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])
            >>> Tensor.custom_kernel(add, Tensor.empty(3), x, y)[0].tolist()
            [5.0, 7.0, 9.0]
        """
        return custom_kernel(function, *outs_and_ins, gradient=gradient)

    def _materialized(self: Tensor) -> UOp:
        """Return the graph to compute; numbers, which have no device, become memory on this tensor's."""
        if self._is_tracked and not self._storage.is_memory:
            return self._history()
        u = self.uop
        if u.device is None and is_static(self.shape):
            if not self._path:
                self._with_memory()
                return self.uop
            # a part of many numbers is computed alone
            u = self._node = storage.new_memory(self._device, self.shape, self.dtype).assign(u)
        return u

    def _with_memory(self: Tensor) -> None:
        """Let the value that this tensor shows lie in memory once it is computed."""
        shows = self._storage
        if shows.uop.device is None and is_static(shows.uop.shape) and not shows.settle():
            shows.move()

    def _in_memory(self: Tensor) -> UOp:
        """Return the computed memory that this tensor shows and, unless it is tracked, may write to."""
        if self._storage.has_history:
            return self.realize().uop
        if self._path and not any(t is not self and t._storage is self._storage for t in self._live):
            # nobody else will see what it writes: a part of a value is computed alone
            self._hold(self._shown(), self._device)
        self._with_memory()
        shows = self._storage
        realize([shows.uop], self._device)
        if not shows.settle() and is_static(shows.uop.shape):
            # another tensor has come by the same memory, because it has the same graph
            shows.move()
            realize([shows.uop], self._device)
        # numbers of symbolic shape live in kernels: without memory, their value would be part of these
        return self.uop if storage.is_view(self.uop) else self.contiguous().realize().uop

    def clone(self: Tensor) -> Tensor:
        """Return a copy in memory of its own; gradients flow through it.

        Example:
            >>> x = Tensor([1, 2])
            >>> y = x.clone()
            >>> _ = y.assign([3, 4])
            >>> x.tolist()
            [1, 2]
        """
        return self.contiguous()

    def copy(self: Tensor) -> Tensor:
        """Return `clone()`.

        Example:
            >>> Tensor([1, 2]).copy().tolist()
            [1, 2]
        """
        return self.clone()

    def contiguous(self: Tensor) -> Tensor:
        """Return the same values in memory of their own, in row-major order, once they are computed.

        Example:
            >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
            [[1, 3], [2, 4]]
        """
        u = self._graph
        if u.device is None and not self._is_tracked and is_static(self.shape):
            return self._like(storage.new_memory(self._device, self.shape, self.dtype).assign(u))
        return self._like(u.contiguous())

    def contiguous_backward(self: Tensor) -> Tensor:
        """Return the same tensor, whose gradient gets memory of its own.

        That is how to keep what comes before from being computed together with what comes after, in the
        backward pass; values are the same without it.

        Example:
            >>> x = Tensor([1.0, 2.0])
            >>> (x * 3).contiguous_backward().sum().gradient(x)[0].tolist()
            [3.0, 3.0]
        """
        if not is_float(self.dtype):
            return self
        (out,) = with_backward([self], [self], lambda gradients, inputs, outputs: [gradients[0].contiguous()])
        return out


def _source_of(u: UOp) -> UOp:
    """Return what has the bits of `u`."""
    while u.op is Ops.BITCAST:
        u = u.src[0]
    return u
