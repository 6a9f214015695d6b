"""Memory of results gets a BUFFER when somebody asks for it."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from plugrad import Tensor
from plugrad.dtype import dtypes
from plugrad.engine import storage
from plugrad.engine.storage import Storage
from plugrad.jit import jit
from plugrad.jit.inputs import read_inputs
from plugrad.jit.unnamed import UnnamedStorage
from plugrad.runtime.buffer import Buffer
from plugrad.uop import UOp

LIKE = UOp.new_buffer("PYTHON", (2, 3), dtypes.int16)


def new_memory() -> Buffer:
    return storage.buffer_of(storage.new_buffer("PYTHON", (2, 3), dtypes.int16)).another()


def replayed(function: "jit[[Tensor], Tensor]", x: Tensor) -> Tensor:
    for _ in range(4):
        out = function(x)
    assert function.captures
    return out


def double(x: Tensor) -> Tensor:
    return x * 2


def test_memory_is_named_once_somebody_asks() -> None:
    memory = new_memory()
    mine = UnnamedStorage(memory, LIKE)
    assert memory.known_name() is None
    assert type(mine) is UnnamedStorage
    uop = mine.uop
    assert type(mine) is Storage
    assert mine.uop is mine.present() is memory.known_name() is uop
    assert storage.buffer_of(uop) is memory
    assert (uop.shape, uop.dtype, uop.device) == ((2, 3), dtypes.int16, "PYTHON")


def test_named_memory_belongs_to_its_storage() -> None:
    mine = UnnamedStorage(new_memory(), LIKE)
    uop = mine.uop
    assert storage.storage_at(uop, "") == (mine, ())
    other = Storage(uop, "")
    assert not other.is_memory
    assert other.is_copy


def test_a_write_to_unnamed_memory_waits_among_pending_values() -> None:
    mine: Storage = UnnamedStorage(new_memory(), LIKE)
    assert mine.uop not in storage.pending_values()
    mine.write((), UOp.const(dtypes.int16, 3).spread((2, 3)))
    assert storage.pending_values().count(mine.uop) == 1
    mine.write((), UOp.const(dtypes.int16, 4).spread((2, 3)))
    assert storage.pending_values().count(mine.uop) == 1


def test_threads_that_ask_at_once_get_one_name() -> None:
    threads = 8
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(50):
            mine, barrier = UnnamedStorage(new_memory(), LIKE), Barrier(threads)

            def ask(mine: Storage = mine, barrier: Barrier = barrier) -> UOp:
                barrier.wait()
                return mine.uop

            names = [each.result() for each in [pool.submit(ask) for _ in range(threads)]]
            assert len(set(names)) == 1


def test_memory_goes_with_its_tensor_named_or_not() -> None:
    function = jit(double)
    out = replayed(function, Tensor([1, 2]).realize())
    kept = out._storage
    assert isinstance(kept, UnnamedStorage)
    assert kept.memory is not None
    memory = weakref.ref(kept.memory)
    del out, kept
    gc.collect()
    assert memory() is None
    out = function(Tensor([1, 2]).realize())
    memory = weakref.ref(storage.buffer_of(out.uop))
    del out
    gc.collect()
    assert memory() is None


def test_a_result_that_is_passed_on_stays_unnamed() -> None:
    first, second = jit(double), jit(lambda x: x + 1)
    x = Tensor([1, 2]).realize()
    replayed(second, replayed(first, x))
    middle = first(Tensor([3, 4]).realize())
    assert second(middle).tolist() == [7, 9]
    assert type(middle._storage) is UnnamedStorage
    assert middle.tolist() == [6, 8]


def test_a_result_has_one_signature_named_or_not() -> None:
    result = replayed(jit(double), Tensor([1, 2]).realize())
    other = Tensor([5, 6]).realize()
    unnamed = [read_inputs(args, {}).signature for args in ((result, result), (result, other))]
    assert type(result._storage) is UnnamedStorage
    assert result.uop is not None
    assert unnamed == [read_inputs(args, {}).signature for args in ((result, result), (result, other))]
    assert unnamed[0] != unnamed[1]


def test_an_argument_of_a_trace_is_named_by_its_inputs() -> None:
    result = replayed(jit(double), Tensor([1, 2]).realize())
    inputs = read_inputs((result, result), {})
    assert inputs.views == [result.uop, result.uop]
    assert inputs.buffers == [result.uop]
    assert inputs.memories == [storage.buffer_of(result.uop)]


def test_an_argument_that_was_written_to_meanwhile_is_named_by_its_memory() -> None:
    result = replayed(jit(double), Tensor([1, 2]).realize())
    inputs = read_inputs((result,), {})
    (memory,) = inputs.memories
    result += 1
    (view,) = inputs.views
    assert storage.buffer_of(view) is memory
    assert inputs.buffers == [view]


def test_results_are_written_to_shown_and_differentiated_like_other_tensors() -> None:
    function = jit(double)
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    replayed(function, x)
    out = function(x)
    row = out[0]
    out += 1
    assert row.tolist() == [3.0, 5.0]
    assert out.tolist() == [[3.0, 5.0], [7.0, 9.0]]
    leaf = function(x)
    leaf.requires_grad = True
    (leaf * leaf).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[4.0, 8.0], [12.0, 16.0]]
    assert (function(x).shape, function(x).dtype, function(x).device) == (x.shape, x.dtype, x.device)


def test_a_function_writes_to_a_result_that_it_is_passed() -> None:
    first = jit(double)

    def add(x: Tensor) -> Tensor:
        x += 1
        return x * 10

    second = jit(add)
    x = Tensor([1, 2]).realize()
    replayed(second, replayed(first, x))
    middle = first(x)
    assert second(middle).tolist() == [30, 50]
    assert middle.tolist() == [3, 5]
