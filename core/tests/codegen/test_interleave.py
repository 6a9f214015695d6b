from plugrad.codegen.interleave import interleaved
from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp

data = UOp(Ops.PARAM, dtypes.int32, (), (0, 16))
out = UOp(Ops.PARAM, dtypes.int32, (), (1, 16))


def _chain(number: int, steps: int) -> UOp:
    place = UOp.const(dtypes.index, number)
    value = data.index(place).load()
    for step in range(steps):
        value = (value ^ step) * 3
    return out.index(place).store(value)


def _order(stores: list[UOp]) -> list[UOp]:
    return list(UOp.sink(*stores).toposort())


def test_long_calculations_take_turns() -> None:
    stores = [_chain(number, 60) for number in range(2)]
    order = _order(stores)
    turns = interleaved(stores, order, registers=16)
    assert set(turns) == set(order) - {UOp.sink(*stores)}
    assert all(turns.index(s) < at for at, u in enumerate(turns) for s in u.src)
    products = [u for u in turns if u.op is Ops.MUL]
    first = set(stores[0].toposort())
    assert [u in first for u in products] == [True, False] * 60


def test_short_calculations_stay_apart() -> None:
    stores = [_chain(number, 8) for number in range(2)]
    assert interleaved(stores, _order(stores), registers=16) == []


def test_calculations_that_do_not_fit_in_registers_together_stay_apart() -> None:
    stores = [_chain(number, 60) for number in range(4)]
    assert interleaved(stores, _order(stores), registers=3) == []
    assert interleaved(stores, _order(stores), registers=8) != []
