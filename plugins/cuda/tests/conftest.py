"""Fixtures of the CUDA plugin's tests: NVRTC, and the stand-in for a GPU."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plugrad import Tensor, dtypes
from plugrad.codegen.lower import Lowered, lower
from plugrad.codegen.opt.opt_ops import MatrixTile, Opt, OptOps
from plugrad.dtype import FLOAT8, STORABLE, DType
from plugrad.errors import DeviceNotFound
from plugrad.target import Target, TensorCore
from plugrad.uop.ops import AxisType, KernelInfo, Ops
from plugrad.uop.uop import UOp
from plugrad_cuda import nvrtc
from plugrad_cuda.capabilities import capabilities

ARCHS = ("sm_80", "sm_90", "sm_100")
SIMULATORS = Path(__file__).parents[3] / "tests" / "simulators"


@pytest.fixture(scope="session")
def nvrtc_library() -> None:
    """Skip where NVRTC is missing."""
    try:
        nvrtc.libraries()
    except DeviceNotFound as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def ptxas(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """Assemble PTX for an architecture by NVIDIA's assembler; returns what it complains about."""
    found = importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.cuda_nvcc")
    folders = list(found.submodule_search_locations or ()) if found else []
    tool = next((path for folder in folders if (path := Path(folder) / "bin" / "ptxas").is_file()), None)
    if tool is None:
        pytest.skip("there is no ptxas: `pip install nvidia-cuda-nvcc-cu12`")
    folder = tmp_path_factory.mktemp("ptxas")

    def assemble(text: str, arch: str) -> str:
        source = folder / "kernel.ptx"
        source.write_text(text)
        command = [tool, f"-arch={arch}", source, "-o", folder / "kernel.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr + ("" if done.returncode == 0 else f"status {done.returncode}")

    return assemble


@pytest.fixture(params=ARCHS)
def arch(request: pytest.FixtureRequest) -> str:
    """Each architecture that kernels must compile for."""
    return request.param


def _empty(*shape: int, dtype: DType = dtypes.float32) -> Tensor:
    return Tensor.empty(*shape, dtype=dtype, device="PYTHON")


def _every_dtype() -> Tensor:
    """Return a value that goes through all dtypes."""
    x = _empty(4096)
    for dtype in (*STORABLE, *FLOAT8, *reversed(STORABLE)):
        x = (x.cast(dtype) + _empty(4096, dtype=dtype)).cast(dtype)
    return x


_SAMPLE: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: (_empty(1 << 20) * 2 + 1).exp(),
    "reduce in a group": lambda: _empty(64, 4096).sum(axis=1),
    "softmax's maximum": lambda: _empty(64, 4096).max(axis=1),
    "softmax's maximum of doubles": lambda: _empty(64, 4096, dtype=dtypes.float64).max(axis=1),
    "matmul": lambda: _empty(256, 256) @ _empty(256, 256),
    "gated": lambda: _empty(61, 61).pad(((1, 2), (3, 4))) + 1,
    "gated bytes": lambda: _empty(64, 64, dtype=dtypes.uint8).pad(((0, 0), (16, 16))) + 1,
    "half": lambda: _empty(1 << 18, dtype=dtypes.float16) + _empty(1 << 18, dtype=dtypes.float16),
    "bfloat16": lambda: _empty(1 << 18, dtype=dtypes.bfloat16) * _empty(1 << 18, dtype=dtypes.bfloat16),
    "double to half": lambda: _empty(4096, dtype=dtypes.float64).cast(dtypes.float16),
    "long to half": lambda: _empty(4096, dtype=dtypes.int64).cast(dtypes.float16),
    "bool": lambda: (_empty(4096) < 0) | (_empty(4096) > 1),
    "many bools": lambda: _empty(1 << 20, dtype=dtypes.bool) ^ _empty(1 << 20, dtype=dtypes.bool),
    "int division": lambda: _empty(4096, dtype=dtypes.int32) // _empty(4096, dtype=dtypes.int32),
    "long remainder": lambda: _empty(4096, dtype=dtypes.int64) % _empty(4096, dtype=dtypes.int64),
    "small ints": lambda: _empty(4096, dtype=dtypes.int8) * 3 + _empty(4096, dtype=dtypes.int8),
    "many small ints": lambda: _empty(1 << 20, dtype=dtypes.int8) * 3 + _empty(1 << 20, dtype=dtypes.int8),
    "long shift": lambda: _empty(4096, dtype=dtypes.uint64) << 3,
    "long index": lambda: _empty(1 << 17, 1 << 17, dtype=dtypes.uint8).cast(dtypes.float32),
    "sine": lambda: _empty(4096).sin(),
    "double": lambda: _empty(4096, dtype=dtypes.float64).log(),
    "infinity": lambda: (_empty(4096, dtype=dtypes.float64) < 0).where(float("inf"), float("nan")),
    "every dtype": _every_dtype,
}


@pytest.fixture(params=_SAMPLE)
def tensor(request: pytest.FixtureRequest) -> Tensor:
    """Each value whose kernels must compile."""
    return _SAMPLE[request.param]()


MatrixKernel = Callable[[TensorCore, str], Lowered]


@pytest.fixture(scope="session")
def matrix_kernel() -> MatrixKernel:
    """Lower a product of two matrices of 32 rows and columns by an instruction, for an architecture."""

    def make(core: TensorCore, arch: str) -> Lowered:
        size = 64
        m, n = (UOp.range(32, (i,), AxisType.LOOP) for i in range(2))
        k = UOp.range(size, (2,), AxisType.REDUCE)
        c = UOp(Ops.PARAM, core.dtype_out, (), (0, 32 * 32))
        a, b = (UOp(Ops.PARAM, core.dtype_in, (), (slot, 32 * size)) for slot in (1, 2))
        x = a.index(m * size + k).load().cast(core.dtype_out)
        y = b.index(k * 32 + n).load().cast(core.dtype_out)
        ast = UOp.sink(c.index(m * 32 + n).store((x * y).reduce(Ops.ADD, k), m, n), arg=KernelInfo("matmul"))
        tile = Opt(OptOps.TC, (1,), MatrixTile(core.name, rows=(0,), inner=(2,)))
        return lower(ast, capabilities(Target("CUDA", arch=arch), allows_tf32=True), (tile,))

    return make


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"cuda_simulator_{Path(name).stem}", SIMULATORS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build the stand-ins for libcuda and NVRTC; the environment that makes the plugin use them."""
    if not SIMULATORS.is_dir():
        pytest.skip(f"the stand-ins for CUDA come with the repository only: no {SIMULATORS}")
    if sys.platform != "linux":
        pytest.skip("the stand-ins for CUDA run on Linux")
    build = _load("cuda/build.py")
    if build.find_compiler() is None:
        pytest.skip("the stand-ins for CUDA need a C++ compiler: no g++, clang++ or c++ on PATH")
    return build.build(tmp_path_factory.mktemp("cuda-simulator"))


@pytest.fixture(scope="session")
def programs(stand_ins: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start what runs programs with a simulated GPU."""
    with _load("programs.py").Programs(stand_ins, tmp_path_factory.mktemp("programs")) as started:
        yield started


@pytest.fixture
def simulate(programs: Any) -> Callable[..., Any]:
    """Run a Python program in a process with a simulated GPU."""
    return programs.run
