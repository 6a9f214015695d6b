import numpy as np

from plugrad import Tensor, events
from plugrad.dtype import dtypes
from plugrad.tensor.host.reading import constant_of
from plugrad.uop.uop import UOp


def test_elements_of_numbers_are_read_without_a_kernel() -> None:
    steps = Tensor.arange(3, 40, 2)
    grid = Tensor.arange(12).reshape(3, 4).T.flip(0)
    spaced = Tensor.linspace(0, 1, 7)
    expected = np.arange(12).reshape(3, 4).T[::-1]
    with events.subscribe((events.LowerEvent, events.KernelEvent), lambda event: ran.append(event)):
        ran: list[events.Event] = []
        assert [steps[i].item() for i in (0, 5, -1)] == [3, 13, 39]
        assert [[grid[i, j].item() for j in range(3)] for i in range(4)] == expected.tolist()
        assert [(Tensor.full((3,), float(i))[1] + 1).item() for i in range(3)] == [1.0, 2.0, 3.0]
        assert [Tensor.ones(3, dtype=dtypes.bool)[2].item(), spaced[6].item()] == [True, 1.0]
    assert not ran


def test_the_kernel_writes_the_same_number() -> None:
    x = Tensor.linspace(-1, 1, 9)
    assert [x[i].item() for i in range(9)] == x.tolist()
    assert [(x / 3)[i].item() for i in range(9)] == (x / 3).tolist()


def test_what_takes_a_kernel_is_no_constant() -> None:
    assert constant_of(UOp.new_buffer("PYTHON", (1,), dtypes.int32)) is None
    assert constant_of(UOp.iota(5).pad(((1, 0),)).shrink(((0, 1),))) is None
    n = UOp.variable("n", 1, 9)
    assert constant_of(UOp.const(dtypes.int32, 1).reshape((1,)) + n.bind(3).cast(dtypes.int32)) is None
