"""Tests of the table that a schedule prints as."""

import pytest

from plugrad import Tensor, Variable
from plugrad.dtype import dtypes
from plugrad.engine.schedule_table import operations
from plugrad.uop import UOp
from plugrad.uop.ops import FourierArg, Ops


def test_a_schedule_prints_one_line_a_step_with_what_it_fuses() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="PYTHON").realize()
    lines = str((x.exp() * x * 2).sum(1).schedule()).splitlines()
    assert lines[0].split() == ["kernel", "device", "shape", "bytes", "operations"]
    assert lines[1].split(maxsplit=5) == ["0", "reduce_2_2", "PYTHON", "(2,)", "24", "exp, mul x2, sum"]
    assert len(lines) == 2


def test_a_transform_is_one_of_the_operations() -> None:
    i, c = UOp.range(16, 0), UOp.range(2, 1)
    out, x, roots = (UOp(Ops.PARAM, dtypes.float32, (), (slot, 32)).index(i * 2 + c) for slot in range(3))
    value = UOp(Ops.FOURIER, dtypes.float32, (x.load(), roots.load(), i, c), FourierArg(-1, (4, 4)))
    assert operations(UOp.sink(out.store(value, i, c))) == "fourier"


def test_copies_are_steps_of_a_schedule_too() -> None:
    (item,) = Tensor([1.0, 2.0], device="PYTHON").realize().to("NULL").schedule()
    text = str(Tensor([1.0, 2.0], device="PYTHON").realize().to("NULL").schedule())
    assert item.device == "NULL"
    assert "copy    PYTHON -> NULL  (2,)   8" in text


def test_symbolic_sizes_are_shown_by_their_names() -> None:
    n = Variable("n", 1, 8).bind(3)
    x = Tensor.zeros(8, device="PYTHON").contiguous().realize()
    assert " (n,) " in str((x[:n] * 2).schedule())


def test_an_empty_schedule_says_so_and_equals_an_empty_list() -> None:
    steps = Tensor([1.0, 2.0], device="PYTHON").realize().schedule()
    assert steps == []
    assert str(steps) == "nothing to compute"


def test_a_step_prints_as_one_line() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="PYTHON").realize()
    (item,) = (x * 2 + 1).sum(1).schedule()
    assert str(item) == f"{item.ast.arg.name} on PYTHON, shape (2,), 24 bytes: mul, add, sum"
    (copy,) = x.to("NULL").schedule()
    assert str(copy) == "copy PYTHON -> NULL, shape (4,), 16 bytes"


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor.ones(2, 3, 4, 5, 6, 7, 8, 9, device="PYTHON").contiguous().realize()
    schedule = (
        (x.exp().sin() * x / 2 - x.log() * x.sqrt() * 2)
        .sum((0, 2, 4))
        .gelu(approximate="none")
        .log()
        .schedule()
    )
    monkeypatch.setenv("COLUMNS", "1000")
    whole = str(schedule)
    assert max(map(len, whole.splitlines())) > 120
    monkeypatch.setenv("COLUMNS", str(width))
    lines = str(schedule).splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(lines).split() == whole.split()
    # a count stays with its operation
    assert not any(line.split()[0].startswith("x") for line in lines)
