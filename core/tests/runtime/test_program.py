"""Programs are picklable data; symbolic launch sizes take the values of the variables."""

import pickle

from plugrad.runtime.program import Program
from plugrad.uop.op_cost import Estimates
from plugrad.uop.uop import UOp

n = UOp.variable("n", 1, 64)
m = UOp.variable("m", 1, 8)


def test_fixed_sizes_need_no_values() -> None:
    program = Program("k", "src", b"lib", (4, 2), (8,))
    assert program.has_fixed_launch
    assert program.launch_dims({}) == ((4, 2), (8,))


def test_symbolic_sizes_take_the_values_of_their_variables() -> None:
    program = Program("k", "src", b"lib", (n * m, 3), ((n + 3) // 4,))
    assert not program.has_fixed_launch
    assert program.launch_dims({"n": 9, "m": 2}) == ((18, 3), (3,))


def test_estimates_are_evaluated_together() -> None:
    assert Estimates(n * 2, 8, n * 4).evaluate({"n": 3}) == (6, 8, 12)


def test_a_program_survives_pickling() -> None:
    program = Program("k", "src", b"lib", (n,), variables=("n",), outs=(0,), ins=(1,), opts=("UPCAST",))
    assert pickle.loads(pickle.dumps(program)) == program
