"""Train a convolutional network to read handwritten digits, save it, and load it again.

    python examples/digits.py                           on the best device there is
    DEVICE=PYTHON python examples/digits.py --steps 3   the same first losses, on the reference interpreter

The data are 1,797 real digits of 8x8 pixels (see data/README.md); a fifth of them is never trained on.
"""

import argparse
import gzip
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from plugrad import Device, Tensor, events
from plugrad.jit import jit
from plugrad.nn import BatchNorm, Conv2d, Linear
from plugrad.nn.optim import Adam
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
SEED = 42
EPOCHS = 12
BATCH = 64
LEARNING_RATE = 4e-3

Images = tuple[np.ndarray, np.ndarray]


class Model:
    """Two convolutions with batchnorm, a maximum over 2x2 pixels, and a linear layer: 9,994 parameters."""

    def __init__(self) -> None:
        self.conv1, self.norm1 = Conv2d(1, 16, 3, padding=1, bias=False), BatchNorm(16)
        self.conv2, self.norm2 = Conv2d(16, 32, 3, padding=1, bias=False), BatchNorm(32)
        self.head = Linear(32 * 4 * 4, 10)

    def __call__(self, x: Tensor) -> Tensor:
        """Return a score for each digit: (N, 1, 8, 8) -> (N, 10)."""
        x = self.norm1(self.conv1(x)).relu()
        x = self.norm2(self.conv2(x)).relu().max_pool2d()
        return self.head(x.flatten(1))


def load_digits() -> tuple[Images, Images]:
    """Return images (N, 1, 8, 8) in 0..1 with their labels: four fifths to train on, one to test with."""
    with gzip.open(DATA) as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    rows = rows[np.random.default_rng(SEED).permutation(len(rows))]
    images, labels = rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64].astype(np.int32)
    held_out = len(rows) // 5
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def batches(train: Images) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the training data of all epochs in batches, each epoch in another order."""
    images, labels = train
    order = np.random.default_rng(SEED)
    for _ in range(EPOCHS):
        shuffled = order.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = shuffled[start : start + BATCH]
            yield Tensor(images[chosen]), Tensor(labels[chosen])


def accuracy(model: Model, test: Images) -> float:
    """Return the part of the test images that the model reads right."""
    images, labels = test
    return float((model(Tensor(images)).argmax(1) == Tensor(labels)).mean().item())


def train(model: Model, data: Images, steps: int | None, console: Console) -> int:
    """Train the model and return the number of steps."""
    optimizer = Adam(get_parameters(model), lr=LEARNING_RATE)
    count = EPOCHS * (len(data[0]) // BATCH) if steps is None else steps

    @jit
    def step(images: Tensor, labels: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = model(images).sparse_categorical_crossentropy(labels)
        loss.backward()
        optimizer.step()
        return loss

    columns = (
        TextColumn("step {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
    )
    with Tensor.train(), Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        task = progress.add_task("train", total=count, loss=float("nan"))
        for number, (images, labels) in zip(range(count), batches(data), strict=False):
            # a linear decay to zero: the last steps settle
            optimizer.lr = LEARNING_RATE * (1 - number / (EPOCHS * (len(data[0]) // BATCH)))
            loss = step(images, labels)
            if steps is not None:
                progress.console.print(f"loss {number} {loss.item():.5f}")
            if steps is not None or number % 20 == 0 or number == count - 1:
                progress.update(task, loss=loss.item())
            progress.advance(task)
    return count


def main() -> None:
    """Train, test, save, load, test again."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, help="stop after so many steps and print the loss of each")
    parser.add_argument(
        "--out", type=Path, default=Path("digits.safetensors"), help="where to save the model"
    )
    args = parser.parse_args()
    console = Console(highlight=False)
    started = time.perf_counter()
    kernels: Counter[bool] = Counter()
    events.subscribe(events.CompileEvent, lambda event: kernels.update([event.cached]))

    Tensor.manual_seed(SEED)
    device = Device[None]
    console.print(f"device    {device.name} ({device.probed.description or device.target.arch})")
    console.print(f"compiler  {dict(device.probed.notes).get('compiler', 'none')}")
    data, test = load_digits()
    model = Model()
    steps = train(model, data, args.steps, console)
    seconds = time.perf_counter() - started
    console.print(f"kernels   {kernels.total()}: {kernels[False]} compiled, {kernels[True]} from the cache")
    console.print(f"time      {seconds:.1f} s for {steps} steps")
    if args.steps is not None:
        return
    console.print(f"accuracy  {accuracy(model, test):.2%} of {len(test[0])} digits that it has not seen")

    safe_save(get_state_dict(model), args.out)
    again = Model()
    load_state_dict(again, safe_load(args.out))
    console.print(f"reloaded  {accuracy(again, test):.2%} from {args.out}")


if __name__ == "__main__":
    main()
