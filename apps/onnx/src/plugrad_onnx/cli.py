"""`plugrad onnx`: run, check, time and show models, and run the standard's cases."""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from plugrad import Device, GlobalCounters, Tensor, jit
from plugrad_onnx.compare import compare, open_session
from plugrad_onnx.conformance import KINDS, Result, read_cases, run_case
from plugrad_onnx.errors import InputError
from plugrad_onnx.model import Model, load
from plugrad_onnx.ports import Port
from plugrad_onnx.support import make_page
from plugrad_onnx.values import Array, from_array

_NUMPY = {
    1: "float32",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    2: "uint8",
    3: "int8",
}


def main(words: Sequence[str]) -> int:
    """Run the words behind `plugrad onnx` and return the exit status.

    Raises:
        InputError: a file cannot be read or written.

    Example:
        >>> main(["show", "model.onnx"])  # doctest: +SKIP
    """
    parsed = make_parser().parse_args(words)
    try:
        status: int = parsed.run(parsed)
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}") from error
    return status


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands."""
    parser = argparse.ArgumentParser("plugrad onnx", description="Load, run and check ONNX models.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add(commands, "run", "Run a model and print or keep its outputs.", run_model, inputs=True).add_argument(
        "--output", type=Path, help="a folder for the outputs, as NAME.npy"
    )
    check = _add(commands, "check", "Compare each node with another runtime.", check_model, inputs=True)
    check.add_argument("--judge", choices=("reference", "onnxruntime"), default="reference")
    check.add_argument("--rtol", type=float, default=1e-3)
    check.add_argument("--atol", type=float, default=1e-5)
    bench = _add(commands, "bench", "Time calls of a model.", bench_model, inputs=True)
    bench.add_argument("--calls", type=int, default=50)
    bench.add_argument("--beside", choices=("onnxruntime",), help="time it in the same run")
    _add(commands, "show", "Print operators, opsets, inputs and sizes.", show_model)
    cases = commands.add_parser("conformance", help="Run the standard's own cases.")
    cases.add_argument("-k", dest="select", default="", help="only cases whose names hold this")
    cases.add_argument("--every", type=int, default=1, metavar="N", help="only every so-manieth case")
    cases.add_argument("--kind", choices=KINDS, action="append", help="only cases of this kind")
    cases.add_argument(
        "--results", type=Path, help="keep results here; those that are there are not run again"
    )
    cases.add_argument("--page", type=Path, help="write the table of operators to this file")
    cases.set_defaults(run=run_cases)
    return parser


def _add(
    commands: Any, name: str, summary: str, run: Callable[[argparse.Namespace], int], inputs: bool = False
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    parser.add_argument("model", type=Path, help="an ONNX file")
    parser.add_argument("--opset", type=int, help="convert the model to this version first")
    if inputs:
        parser.add_argument(
            "--input",
            action="append",
            default=[],
            metavar="NAME=FILE.npy",
            help="an input; what is not given is drawn, with 1 for dynamic sizes",
        )
    parser.set_defaults(run=run)
    return parser


def _inputs(arguments: argparse.Namespace, model: Model) -> dict[str, Array]:
    given: dict[str, Array] = {}
    for word in arguments.input:
        name, equals, file = word.partition("=")
        if not equals:
            raise InputError(f"--input is NAME=FILE.npy, not {word!r}")
        try:
            given[name] = np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: {error}") from error
    rng = np.random.default_rng(0)
    drawn = {p.name: _draw(p, rng) for p in model.inputs if p.is_required and p.name not in given}
    return drawn | given


def _draw(port: Port, rng: np.random.Generator) -> Array:
    kind = _NUMPY.get(port.element_type)
    if kind is None or port.shape is None:
        raise InputError(f"input {port} cannot be drawn. Give it with --input.")
    shape = tuple(size if isinstance(size, int) else 1 for size in port.shape)
    return rng.random(shape).astype(kind)


def run_model(arguments: argparse.Namespace) -> int:
    """Print a line for each output, or write the outputs."""
    model = load(arguments.model, opset=arguments.opset)
    for name, value in model.run(named=_inputs(arguments, model)).items():
        if not isinstance(value, Tensor):
            print(f"{name}: {value}")
            continue
        array = value.numpy()
        shown = np.array2string(array, threshold=8, precision=5)
        print(f"{name}: {value.dtype.name}{list(array.shape)} {shown}")
        if arguments.output is not None:
            arguments.output.mkdir(parents=True, exist_ok=True)
            np.save(arguments.output / f"{name.replace('/', '_')}.npy", array)
    return 0


def check_model(arguments: argparse.Namespace) -> int:
    """Print the first node whose value differs, and return 1 if there is one."""
    model = load(arguments.model, opset=arguments.opset)
    differences = compare(
        model, _inputs(arguments, model), arguments.judge, rtol=arguments.rtol, atol=arguments.atol
    )
    largest = max((d.largest for d in differences), default=0.0)
    first = next((d for d in differences if not d.is_close), None)
    print(f"{len(differences)} values compared with {arguments.judge}; largest difference {largest:.3g}")
    if first is not None:
        print(f"first that differs: {first.value!r} of {first.node}, by {first.largest:.3g}")
    return int(first is not None)


def bench_model(arguments: argparse.Namespace) -> int:
    """Print the times of calls."""
    model = load(arguments.model, opset=arguments.opset)
    inputs = _inputs(arguments, model)
    tensors = {
        name: value for name, array in inputs.items() if isinstance(value := from_array(array), Tensor)
    }
    GlobalCounters.reset()
    Tensor.realize(*tensors.values())

    def call() -> list[Tensor]:
        outputs = [value for value in model.run(named=tensors).values() if isinstance(value, Tensor)]
        Tensor.realize(*outputs)
        return outputs

    _print_times(f"plugrad on {Device.DEFAULT}, eager", call, arguments.calls)
    _print_times(f"plugrad on {Device.DEFAULT}, jit", jit(call), arguments.calls)
    if arguments.beside:
        session = open_session(arguments.model)
        _print_times("onnxruntime", lambda: session.run(None, inputs), arguments.calls)
    print(f"memory of all buffers: {GlobalCounters.mem_used:,} bytes")
    GlobalCounters.close()
    return 0


def _print_times(name: str, call: Callable[[], Any], calls: int) -> None:
    times: list[float] = []
    for _ in range(calls + 1):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    first, *rest = times
    median, worst = np.percentile(rest, [50, 99])
    print(f"{name}: first call {first:.1f} ms, median {median:.2f} ms, p99 {worst:.2f} ms")


def show_model(arguments: argparse.Namespace) -> int:
    """Print what a model is made of."""
    model = load(arguments.model, opset=arguments.opset)
    opsets = ", ".join(f"{o.domain or 'ai.onnx'} {o.version}" for o in model.proto.opset_import)
    weights = [t for t in model.proto.graph.initializer]
    count = sum(int(np.prod(tuple(t.dims))) for t in weights)
    print(f"opsets: {opsets}")
    for title, ports in (("inputs", model.inputs), ("outputs", model.outputs)):
        print(f"{title}: {'; '.join(str(port) for port in ports if port.is_required)}")
    print(f"initializers: {len(weights)}, with {count:,} elements")
    kinds = Counter(step.operator.name for step in model.graph.steps)
    print("operators: " + ", ".join(f"{name} {number}" for name, number in kinds.most_common()))
    return 0


def run_cases(arguments: argparse.Namespace) -> int:
    """Run the standard's cases, print what became of them, and return 1 if some failed."""
    cases = [
        case
        for i, case in enumerate(read_cases(arguments.kind or KINDS))
        if arguments.select in case.name and i % arguments.every == 0
    ]
    known = _read_results(arguments.results)
    results: list[Result] = []
    for case in cases:
        result = known.get(case.name) or run_case(case)
        results.append(result)
        if arguments.results is not None and case.name not in known:
            with arguments.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
        if result.verdict != "passed":
            print(f"{result.verdict} {result.case}: {' '.join(result.reason.split())[:300]}", flush=True)
    counts = Counter(result.verdict for result in results)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in ("passed", "refused", "failed")))
    if arguments.page is not None:
        arguments.page.write_text(make_page(cases, results), encoding="utf-8")
    return int(counts["failed"] > 0)


def _read_results(file: Path | None) -> dict[str, Result]:
    """Return the results of a run before, by case."""
    if file is None or not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return {result.case: result for result in (Result(**json.loads(line)) for line in lines)}
