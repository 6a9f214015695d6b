"""Project 4: a convolutional network that reads 98 % of handwritten digits, saved and loaded again.

    python examples/course/04_cnn.py

The same data and model as examples/digits.py, in the fewest parts: a model, a jitted step, a file.
"""

import gzip
import tempfile
from pathlib import Path

import numpy as np

from plugrad import Tensor, nn
from plugrad.jit import jit
from plugrad.nn.optim import Adam
from plugrad.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save

DATA = Path(__file__).parents[1] / "data" / "digits.csv.gz"
EPOCHS, BATCH, RATE, HELD_OUT = 6, 64, 4e-3, 359


class Reader:
    """Two convolutions, a maximum over 2x2 pixels, and a linear layer."""

    def __init__(self) -> None:
        self.first, self.norm1 = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm(16)
        self.second, self.norm2 = nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm(32)
        self.head = nn.Linear(32 * 4 * 4, 10)

    def __call__(self, x: Tensor) -> Tensor:
        """Return a score for each digit: (N, 1, 8, 8) -> (N, 10)."""
        x = self.norm1(self.first(x)).relu()
        x = self.norm2(self.second(x)).relu().max_pool2d()
        return self.head(x.flatten(1))


def load() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,797 images of 8x8 pixels and their digits, in an order that is always the same."""
    with gzip.open(DATA) as file:
        rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    rows = rows[np.random.default_rng(42).permutation(len(rows))]
    return rows[:, :64].reshape(-1, 1, 8, 8) / 16, rows[:, 64].astype(np.int32)


def train(model: Reader, images: np.ndarray, labels: np.ndarray) -> None:
    """Train for some epochs, with a rate that falls to zero."""
    optimizer = Adam(get_parameters(model), lr=RATE)

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y)
        loss.backward()
        optimizer.step()
        return loss

    draws, steps = np.random.default_rng(42), len(images) // BATCH
    with Tensor.train():
        for epoch in range(EPOCHS):
            order = draws.permutation(len(images))
            for number in range(steps):
                optimizer.lr = RATE * (1 - (epoch * steps + number) / (EPOCHS * steps))
                chosen = order[number * BATCH : (number + 1) * BATCH]
                loss = step(Tensor(images[chosen]), Tensor(labels[chosen]))
            print(f"epoch {epoch + 1:2}  loss {loss.item():.4f}")


def accuracy(model: Reader, images: np.ndarray, labels: np.ndarray) -> float:
    """Return the part of the images that the model reads right."""
    return float((model(Tensor(images)).argmax(1) == Tensor(labels)).mean().item())


def main() -> tuple[float, float]:
    """Train, save, load into another model, and return the accuracy of both on digits not seen before."""
    Tensor.manual_seed(42)
    images, labels = load()
    unseen = images[:HELD_OUT], labels[:HELD_OUT]
    model, again = Reader(), Reader()
    train(model, images[HELD_OUT:], labels[HELD_OUT:])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reader.safetensors"
        safe_save(get_state_dict(model), path)
        load_state_dict(again, safe_load(path))
        Tensor.realize(*get_state_dict(again).values())
    found = accuracy(model, *unseen), accuracy(again, *unseen)
    print(f"{found[0]:.2%} of {HELD_OUT} unseen digits; loaded again {found[1]:.2%}")
    return found


if __name__ == "__main__":
    main()
