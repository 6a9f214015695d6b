"""Recordings that tests look at, each of a program that runs once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MATMUL = """
from plugrad import Tensor
a, b = Tensor.rand(24, 20), Tensor.rand(20, 28)
((a @ b).relu() + 1).sigmoid().realize()
"""
RESNET_BLOCK = """
from plugrad import Tensor, nn
conv1, conv2 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.Conv2d(4, 4, 3, padding=1, bias=False)
norm1, norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
x = Tensor.rand(1, 4, 6, 6)
y = norm1(conv1(x)).relu()
(norm2(conv2(y)) + x).relu().realize()
"""
TRAINING_STEP = """
from plugrad import Tensor, nn
layer = nn.Linear(6, 3)
optimizer = nn.optim.SGD(nn.state.get_parameters(layer), lr=0.1)
x, target = Tensor.rand(4, 6), Tensor([0, 1, 2, 0])
with Tensor.train():
    for _ in range(2):
        optimizer.zero_grad()
        loss = layer(x).cross_entropy(target)
        loss.backward()
        optimizer.step()
        loss.item()
"""


def record(folder: Path, program: str) -> Path:
    """Run a program with VIZ=1, and return its recording."""
    script = folder / "program.py"
    script.write_text(program)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PLUGRAD_CACHE": str(folder),
        "DEVICE": "PYTHON",
        "VIZ": "1",
    }
    subprocess.run([sys.executable, str(script)], env=environment, check=True, timeout=300)
    (path,) = (folder / "viz").glob("*.jsonl")
    return path


@pytest.fixture(scope="session")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("matmul"), MATMUL)


@pytest.fixture(scope="session")
def resnet_block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("resnet"), RESNET_BLOCK)


@pytest.fixture(scope="session")
def training_step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("training"), TRAINING_STEP)
