"""Measure the compile time of the same kernels on several devices.

python measure_compile.py LLVM CPU
"""

import os
import subprocess
import sys
import tempfile

from plugrad import Tensor
from plugrad.events import CompileEvent, subscribe

SIZES = (8, 17, 64, 100, 256)


def compute(device: str) -> None:
    """Run kernels of many kinds: products, convolutions, reductions, elementwise functions, gradients."""
    image = Tensor.ones(16, 1, 28, 28, device=device).contiguous()
    filters = Tensor.ones(8, 1, 5, 5, device=device).contiguous()
    loss = image.conv2d(filters).relu().sum()
    loss.gradient(filters)[0].realize(loss)
    for size in SIZES:
        a = Tensor.ones(size, size, device=device).contiguous()
        b = (a + 1).contiguous()
        for value in (a @ b, a.softmax(-1), (a * b + 1).exp(), a.sum(0), a.sum(1), a.max(), a.sin(), a.log()):
            value.realize()


def measure(device: str) -> str:
    """Return what compiling took, as a row of a table in Markdown."""
    compiled: list[CompileEvent] = []
    Tensor([1.0], device=device).exp().realize()  # loads the toolchain
    with subscribe(CompileEvent, compiled.append):
        compute(device)
    seconds = sum(event.seconds for event in compiled)
    each = seconds / len(compiled)
    return f"| {device} | {len(compiled)} | {seconds:.2f} s | {each * 1e3:.0f} ms |"


def main(devices: list[str]) -> None:
    """Print a table with a row a device."""
    print("| device | kernels | compiling | each |", "|---|---|---|---|", sep="\n")
    for device in devices:
        with tempfile.TemporaryDirectory() as cache:
            settings = {**os.environ, "PLUGRAD_CACHE": cache}
            subprocess.run([sys.executable, __file__, "--one", device], env=settings, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(measure(sys.argv[2]))
    else:
        main(sys.argv[1:] or ["LLVM", "CPU"])
