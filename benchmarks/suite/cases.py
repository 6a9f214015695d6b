"""The measured cases: one row of the table each, with its work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["import", "first", "time", "rate"]
Limit = Literal["", "copy", "read", "fma"]


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement.

    Attributes:
        name: for `--only`.
        title: for the table.
        kind: "time" calls a function many times in one process; "import" times one import and "first" a whole
            process, Python's start included; "rate" asks for something a second.
        work: the function of each library's module that does it.
        sizes: its arguments.
        quick: those that `--quick` takes instead.
        flops: arithmetic operations of one call.
        nbytes: bytes of its inputs and outputs, each once.
        limit: what of the machine bounds it.
        aim: what plugrad should reach, in words.
    """

    name: str
    title: str
    kind: Kind = "time"
    work: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    quick: Mapping[str, int] = field(default_factory=dict[str, int])
    flops: int = 0
    nbytes: int = 0
    limit: Limit = ""
    aim: str = ""

    @property
    def computes(self) -> bool:
        """Whether the work is that of kernels, not of a call or the compiler."""
        return bool(self.limit) or self.work.endswith("_step")

    def arguments(self, quick: bool) -> Mapping[str, int]:
        """Return the sizes to run with."""
        return {**self.sizes, **self.quick} if quick else self.sizes


def _matmul(n: int, aim: str = "") -> Case:
    return Case(
        f"matmul_{n}",
        f"`A @ B`, {n} x {n}, float32",
        work="matmul",
        sizes={"n": n},
        quick={"n": min(n, 64)},
        flops=2 * n**3,
        limit="fma",
        aim=aim,
    )


_MILLIONS_16 = 1 << 24

CASES = (
    Case("import", "import", "import", aim="< 100 ms"),
    Case("first_cold", "`(a + b).relu().sum()`, new process, empty cache", "first"),
    Case("first_warm", "`(a + b).relu().sum()`, new process, filled cache", "first", aim="< 250 ms"),
    Case("op_call", "`a + b` of 16 floats, not jitted", work="op_call", sizes={"n": 16}),
    Case("jit_call", "`a + b` of 16 floats, jitted", work="jit_call", sizes={"n": 16}, aim="< 20 µs"),
    Case(
        "chain",
        "`((x + 1) * 2 - 0.5).relu() + 3`, 16M floats",
        work="chain",
        sizes={"n": _MILLIONS_16},
        quick={"n": 4096},
        nbytes=8 * _MILLIONS_16,
        limit="copy",
        aim="copy bandwidth",
    ),
    Case(
        "sum",
        "`x.sum()`, 16M floats",
        work="total",
        sizes={"n": _MILLIONS_16},
        quick={"n": 4096},
        nbytes=4 * _MILLIONS_16,
        limit="read",
    ),
    Case(
        "sum_64m",
        "`x.sum()`, 64M floats",
        work="total",
        sizes={"n": 4 * _MILLIONS_16},
        quick={"n": 4096},
        nbytes=16 * _MILLIONS_16,
        limit="read",
    ),
    Case(
        "softmax",
        "`x.softmax()`, 4096 x 4096",
        work="softmax",
        sizes={"n": 4096},
        quick={"n": 64},
        nbytes=8 * _MILLIONS_16,
        limit="copy",
    ),
    Case(
        "layernorm",
        "layernorm, 4096 x 4096",
        work="layernorm",
        sizes={"n": 4096},
        quick={"n": 64},
        nbytes=8 * _MILLIONS_16,
        limit="copy",
    ),
    Case(
        "gemv",
        "`A @ x`, 4096 x 4096, float32",
        work="gemv",
        sizes={"n": 4096},
        quick={"n": 64},
        nbytes=4 * _MILLIONS_16,
        limit="read",
    ),
    _matmul(256),
    _matmul(512),
    _matmul(1024, "half of the FMA peak"),
    _matmul(2048),
    _matmul(1000),
    Case(
        "matmul_transposed",
        "`A @ B.T`, 1024 x 1024, float32",
        work="matmul_transposed",
        sizes={"n": 1024},
        quick={"n": 64},
        flops=2 * 1024**3,
        limit="fma",
    ),
    Case(
        "conv2d",
        "3 x 3 convolution, (8, 32, 32, 32) to 64 channels",
        work="conv2d",
        sizes={"batch": 8, "channels": 32, "size": 32, "filters": 64},
        quick={"batch": 2, "channels": 4, "size": 8, "filters": 4},
        flops=2 * 8 * 64 * 32 * 32 * 32 * 9,
        limit="fma",
    ),
    Case(
        "conv2d_56",
        "3 x 3 convolution, (8, 64, 56, 56) to 64 channels",
        work="conv2d",
        sizes={"batch": 8, "channels": 64, "size": 56, "filters": 64},
        quick={"batch": 2, "channels": 4, "size": 8, "filters": 4},
        flops=2 * 8 * 64 * 56 * 56 * 64 * 9,
        limit="fma",
    ),
    Case(
        "attention",
        "attention, 8 heads of 512 tokens, 64 wide",
        work="attention",
        sizes={"heads": 8, "tokens": 512, "size": 64},
        quick={"heads": 2, "tokens": 8, "size": 4},
        flops=4 * 8 * 512 * 512 * 64,
        limit="fma",
    ),
    Case(
        "mlp_step",
        "training step of 784 to 512 to 10, batch 128",
        work="mlp_step",
        sizes={"batch": 128},
        quick={"batch": 8},
    ),
    Case(
        "train_step",
        "training step of a digits network, batch 64",
        work="train_step",
        sizes={"batch": 64},
        quick={"batch": 8},
    ),
    Case(
        "building",
        "nodes of a transformer's graph built, a second",
        "rate",
        work="building",
        sizes={"layers": 12, "builds": 20},
        quick={"layers": 2, "builds": 1},
        aim="> 120k",
    ),
    Case(
        "lowering",
        "kernels of that step lowered to source, a second",
        "rate",
        work="lowering",
        sizes={"batch": 64},
    ),
    Case(
        "rewriting",
        "node visits of `graph_rewrite`, a second",
        "rate",
        work="rewriting",
        sizes={"batch": 64},
        aim="> 300k",
    ),
)


def select(names: "list[str]") -> tuple[Case, ...]:
    """Return the cases whose names begin so, or all.

    Raises:
        SystemExit: a name fits no case.
    """
    for name in names:
        if not any(case.name.startswith(name) for case in CASES):
            raise SystemExit(
                f"there is no case {name!r}; there are {', '.join(case.name for case in CASES)}."
            )
    return tuple(case for case in CASES if not names or any(case.name.startswith(name) for name in names))
