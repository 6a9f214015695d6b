"""Data sets in batches: `TensorDataset` and `DataLoader`."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, cast

from plugrad._util import futures, multiprocessing, random
from plugrad._util import numpy as np
from plugrad.errors import ShapeError
from plugrad.nn.checks import check_fields, check_tensors
from plugrad.progress import progress as shown_progress
from plugrad.tensor import Tensor

__all__ = ["DataLoader", "Dataset", "TensorDataset", "collate"]


class Dataset(Protocol):
    """A number of examples, which are asked for by their positions: a list is one.

    Example:
        >>> len(list(DataLoader(["a", "b", "c"], batch_size=2)))
        2
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class TensorDataset:
    """Examples along the first axis of tensors.

    Raises:
        ShapeError: the tensors have different first axes, or one has none.

    Example:
        >>> data = TensorDataset(Tensor([[1.0], [2.0], [3.0]]), Tensor([0, 1, 1]))
        >>> x, y = data[1]
        >>> len(data), x.tolist(), y.item()
        (3, [2.0], 1)
    """

    def __init__(self, *tensors: Tensor) -> None:
        check_tensors(self, **{f"tensor {number}": tensor for number, tensor in enumerate(tensors)})
        if len({tensor.shape[:1] for tensor in tensors}) > 1 or not tensors[0].ndim:
            shapes = ", ".join(str(tensor.shape) for tensor in tensors)
            raise ShapeError(f"TensorDataset: tensors of shapes {shapes}: their first axes differ.")
        self.tensors = tensors

    def __repr__(self) -> str:
        each = ", ".join(f"{tensor.dtype.name} {tensor.shape[1:]}" for tensor in self.tensors)
        return f"TensorDataset({len(self)} examples of {each})"

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        """Return an example, or those of a slice or of several positions."""
        return tuple(tensor[index] for tensor in self.tensors)


def collate(examples: Sequence[Any]) -> Any:
    """Return examples as one batch: tensors, arrays and numbers along a new first axis.

    Tuples, lists and dicts of them become those of batches. Anything else, such as a text, is in a list.

    Example:
        >>> x, label = collate([([1.0, 2.0], "a"), ([3.0, 4.0], "b")])
        >>> [column.tolist() for column in x], label
        ([[1.0, 3.0], [2.0, 4.0]], ['a', 'b'])
    """
    first = examples[0]
    if isinstance(first, Tensor):
        return Tensor.stack(*examples)
    if isinstance(first, (np.ndarray, np.generic)):
        return Tensor(np.stack(examples))
    if isinstance(first, (bool, int, float)):
        return Tensor(list(examples))
    if isinstance(first, Mapping):
        keys = cast("Mapping[Any, Any]", first).keys()
        return {key: collate([example[key] for example in examples]) for key in keys}
    if isinstance(first, (tuple, list)):
        columns = [collate(column) for column in zip(*examples, strict=True)]
        kind: Any = type(cast("object", first))
        return kind(*columns) if hasattr(kind, "_fields") else kind(columns)
    return list(examples)


@dataclass(eq=False, repr=False)
class DataLoader:
    """Yields batches of a data set, in order or in another order each epoch.

    A `TensorDataset` gives a batch by one index operation on its device. Of other data sets the examples of a
    batch are fetched one by one, by worker processes if wanted, while the batches before are used.

    Args:
        dataset: the examples.
        batch_size: how many a batch has.
        shuffle: take them in another order in each epoch.
        num_workers: how many processes fetch examples, 0 for none. They are started anew, not forked, so the
            data set is pickled, and its examples should be numbers or arrays of NumPy, not tensors.
        collate_fn: what makes a batch of a list of examples; `collate` if left out.
        drop_last: leave out the last batch where it has fewer examples.
        prefetch_factor: how many batches each process works ahead.
        seed: what the order follows from; by default it is another one each time.
        progress: show on a terminal how many batches of an epoch are done, where that takes over a second.

    Raises:
        ArgumentError: a number is out of range.

    Example:
        >>> loader = DataLoader(TensorDataset(Tensor.arange(5)), batch_size=2)
        >>> [x.tolist() for (x,) in loader], len(loader)
        ([[0, 1], [2, 3], [4]], 3)
    """

    dataset: Dataset
    batch_size: int = 1
    shuffle: bool = False
    _: KW_ONLY
    num_workers: int = 0
    collate_fn: Callable[[list[Any]], Any] | None = None
    drop_last: bool = False
    prefetch_factor: int = 2
    seed: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        """Check the settings and start the random orders."""
        check_fields(self, {"num_workers": 0})
        self._random = random.Random(self.seed)

    def __repr__(self) -> str:
        name = repr(self.dataset) if isinstance(self.dataset, TensorDataset) else type(self.dataset).__name__
        order = ", shuffled" if self.shuffle else ""
        return f"DataLoader({len(self)} batches of {self.batch_size}{order}, from {name})"

    def __len__(self) -> int:
        """Return the number of batches."""
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        """Yield the batches of one epoch."""
        batches = self._batches()
        return self._shown(batches) if self.progress else batches

    def _shown(self, batches: Iterator[Any]) -> Iterator[Any]:
        with shown_progress("batches", len(self)) as report:
            for done, batch in enumerate(batches):
                report(done)
                yield batch

    def _batches(self) -> Iterator[Any]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            self._random.shuffle(order)
        batches = [order[i * self.batch_size : (i + 1) * self.batch_size] for i in range(len(self))]
        if isinstance(self.dataset, TensorDataset) and self.collate_fn is None:
            return map(self._indexed, batches)
        make = self.collate_fn or collate
        if self.num_workers:
            return map(make, self._fetched(batches))
        return (make([self.dataset[i] for i in batch]) for batch in batches)

    def _indexed(self, batch: list[int]) -> Any:
        # a slice takes no kernel of its own
        place = batch if self.shuffle else slice(batch[0], batch[-1] + 1)
        dataset: Any = self.dataset
        return dataset[place]

    def _fetched(self, batches: Iterable[list[int]]) -> Iterator[list[Any]]:
        # a fork of a process with an open device could not use it
        context = multiprocessing.get_context("spawn")
        with futures.ProcessPoolExecutor(
            self.num_workers, context, _start_worker, (self.dataset,)
        ) as workers:
            ahead: deque[futures.Future[list[Any]]] = deque()
            try:
                for batch in batches:
                    ahead.append(workers.submit(_fetch, batch))
                    if len(ahead) > self.num_workers * self.prefetch_factor:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            except futures.BrokenExecutor as error:
                error.add_note(_WORKER_DIED)
                raise
            finally:
                # the rest, of an iteration that is given up
                for future in ahead:
                    future.cancel()


_WORKER_DIED = (
    "A worker of DataLoader died; if it could not start, its error is above. Workers import the program: "
    'what it runs belongs under `if __name__ == "__main__":`, and its classes outside.'
)


# --- in a worker ---

_datasets: list[Dataset] = []


def _start_worker(dataset: Dataset) -> None:
    _datasets[:] = [dataset]


def _fetch(batch: list[int]) -> list[Any]:
    return [_datasets[0][i] for i in batch]
