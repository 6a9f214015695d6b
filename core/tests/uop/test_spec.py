import pytest

from plugrad.dtype import dtypes
from plugrad.errors import VerifyError
from plugrad.uop.ops import Axis, AxisType, FunctionArg, KernelInfo, Ops
from plugrad.uop.spec import (
    Spec,
    codegen_spec,
    kernel_spec,
    linear_spec,
    tensor_spec,
    verify,
    verify_linear,
    verify_node,
)
from plugrad.uop.uop import UOp

F, INDEX, B = dtypes.float32, dtypes.index, dtypes.bool
t = UOp.new_buffer("CPU", (4, 6), F)
u6 = UOp.new_buffer("CPU", (6,), F)
n = UOp.variable("n", 1, 9)
one, two = UOp.const(F, 1), UOp.const(INDEX, 2)
out_buffer, in_buffer = UOp(Ops.PARAM, F, (), (0, 24)), UOp(Ops.PARAM, F, (), (1, 24))
r, k = UOp.range(4, 0), UOp.range(6, 1, AxisType.REDUCE)
value = in_buffer.index(r * 6 + k).load()
store = out_buffer.index(r).store(value.reduce(Ops.ADD, k), r)

GOOD_TENSORS = [
    t + 1,
    (t < 2).where(t, one),
    t.reshape((24,)).reshape((6, 4)),
    u6.reshape((1, 6)).expand((4, 6)) + t,
    t.permute((1, 0)).flip((0,)),
    t.pad(((1, 2), (0, 0))).shrink(((0, 3), (n, 6))),
    t.reduce_axis(Ops.MAX, (0, 1)),
    t.cast(dtypes.float16).bitcast(dtypes.int16),
    t.contiguous().detach().copy_to_device("CUDA"),
    t.assign(t + 1).after(t),
    (t + 1).later(u6.contiguous()),
    (t + 1).dispatch(print, u6),
    UOp(Ops.OUTPUT, F, (UOp(Ops.FUNCTION, dtypes.void, (t + 1, t), FunctionArg(1, print)),), 0),
    t.shrink(((0, 2), (0, 6))).assign(t.shrink(((2, 4), (0, 6)))),
    UOp.iota(5) + 1,
    u6.shrink(((0, n.bind(3)),)),
    UOp.sink(t, u6),
    UOp(Ops.KERNEL, dtypes.void, (t,), UOp.sink(store)),
]

BAD_TENSORS = [
    UOp(Ops.ADD, F, (t, u6)),
    UOp(Ops.LATER, F, (t,)),
    UOp(Ops.DISPATCH, F, (t,), None),
    UOp(Ops.FUNCTION, dtypes.void, (t,), FunctionArg(2, print)),
    UOp(Ops.OUTPUT, B, (UOp(Ops.FUNCTION, dtypes.void, (t,), FunctionArg(1, print)),), 0),
    UOp(Ops.ADD, F, (t, UOp.const(dtypes.int32, 1))),
    UOp(Ops.ADD, F, (t,)),
    UOp(Ops.CMPLT, F, (t, t)),
    UOp(Ops.WHERE, F, (t, t, t)),
    UOp(Ops.AND, F, (t, t)),
    UOp(Ops.SQRT, dtypes.int32, (UOp.const(dtypes.int32, 1),)),
    UOp(Ops.FLOORDIV, F, (t, t)),
    UOp(Ops.NEG, B, (UOp.const(B, True),)),
    UOp(Ops.ADD, F, (t, t), "arg"),
    UOp(Ops.CONST, F, (), 1),
    UOp(Ops.CONST, dtypes.int32, (), True),
    UOp(Ops.CONST, dtypes.uint8, (), 256),
    UOp(Ops.CONST, F, (), 0.1),
    UOp(Ops.CONST, F.vec(2), (), 1.0),
    UOp(Ops.RESHAPE, F, (t, UOp.const(INDEX, 25))),
    UOp(Ops.RESHAPE, F, (t, UOp.const(dtypes.int32, 24))),
    UOp(Ops.EXPAND, F, (t, UOp.const(INDEX, 8), UOp.const(INDEX, 6))),
    UOp(Ops.PERMUTE, F, (t,), (0, 0)),
    UOp(Ops.PERMUTE, F, (t,), None),
    UOp(Ops.FLIP, F, (t,), (2,)),
    UOp(Ops.PAD, F, (t, two, two)),
    UOp(Ops.PAD, F, (u6, UOp.const(INDEX, -1), two)),
    UOp(Ops.SHRINK, F, (u6, two, UOp.const(INDEX, 7))),
    UOp(Ops.REDUCE_AXIS, F, (t,), (Ops.SUB, (0,))),
    UOp(Ops.REDUCE_AXIS, F, (t,), (Ops.ADD, (2,))),
    UOp(Ops.REDUCE_AXIS, F, (t,), (Ops.ADD, ())),
    UOp(Ops.COPY, F, (t,)),
    UOp(Ops.ASSIGN, F, (t, u6)),
    UOp(Ops.ASSIGN, F, (t + 1, t)),
    UOp(Ops.BUFFER, F, (), (4,)),
    UOp(Ops.BITCAST, dtypes.int16, (t,)),
    UOp(Ops.DEFINE_VAR, INDEX, (), ("n", 3, 1)),
    UOp(Ops.SINK, F, (t,)),
    value,
]

GOOD_KERNELS = [
    UOp.sink(store, arg=KernelInfo("k")),
    UOp.sink(out_buffer.index(n, n < 4).store(one)),
    UOp.sink(UOp(Ops.PARAM, F, (), (0, n * 2)).index(r).store(one, r)),
]

BAD_KERNELS = [
    UOp.sink(),
    UOp.sink(one),
    UOp.sink(out_buffer.index(UOp.const(dtypes.int32, 0)).store(one)),
    UOp.sink(out_buffer.index(r).store(UOp.const(dtypes.int32, 1), r)),
    UOp.sink(out_buffer.index(r).store(one, r, r)),
    UOp.sink(out_buffer.index(r).store(one, n)),
    UOp.sink(out_buffer.index(r, r).store(one, r)),
    UOp.sink(out_buffer.index(r).store(UOp(Ops.REDUCE, F, (value, k), (Ops.ADD, 2)), r)),
    UOp.sink(out_buffer.index(r).store(UOp(Ops.REDUCE, F, (value, n), (Ops.ADD, 1)), r)),
    UOp.sink(out_buffer.index(UOp(Ops.RANGE, INDEX, (two,), 0)).store(one)),
    UOp.sink(UOp(Ops.PARAM, INDEX, (), (0, 4)).index(r).store(r, r)),
    UOp.sink(UOp(Ops.PARAM, F, (), (0, one)).index(r).store(one, r)),
    UOp.sink(out_buffer.index(UOp(Ops.SPECIAL, INDEX, (two,), "gidx0")).store(one)),
    t + 1,
]


@pytest.mark.parametrize("graph", GOOD_TENSORS)
def test_tensor_graph_is_accepted(graph: UOp) -> None:
    verify(graph, tensor_spec)


@pytest.mark.parametrize("graph", BAD_TENSORS)
def test_malformed_tensor_graph_is_refused(graph: UOp) -> None:
    with pytest.raises(VerifyError, match="the tensor graph forbids"):
        verify(graph, tensor_spec)


@pytest.mark.parametrize("graph", GOOD_KERNELS)
def test_kernel_is_accepted_before_and_during_lowering(graph: UOp) -> None:
    verify(graph, kernel_spec)
    verify(graph, codegen_spec)


@pytest.mark.parametrize("graph", BAD_KERNELS)
def test_malformed_kernel_is_refused(graph: UOp) -> None:
    with pytest.raises(VerifyError, match="a kernel before lowering forbids"):
        verify(graph, kernel_spec)


def test_lowering_knows_vectors_launch_axes_and_local_memory() -> None:
    special = UOp(Ops.SPECIAL, INDEX, (UOp.const(INDEX, 6),), "gidx0")
    wide = in_buffer.index(special * 4).load(dtype=F.vec(4))
    local = UOp(Ops.DEFINE_LOCAL, F, (), (0, 16))
    filled = local.index(special).store(wide.gep(2))
    ready = local.after(UOp(Ops.BARRIER, dtypes.void, (filled,)))
    gated = in_buffer.index(special).load(one, special < 3)
    vector = UOp(Ops.VECTORIZE, F.vec(2), (gated, ready.index(special).load()))
    graph = UOp.sink(out_buffer.index(special * 2).store(vector + UOp.const(F.vec(2), 1)))
    verify(graph, codegen_spec)
    with pytest.raises(VerifyError):
        verify(graph, kernel_spec)


@pytest.mark.parametrize(
    "node",
    [
        UOp(Ops.VECTORIZE, F.vec(2), (one,)),
        UOp(Ops.VECTORIZE, F.vec(2), (one, UOp.const(dtypes.int32, 1))),
        UOp(Ops.GEP, F, (UOp.const(F.vec(2), 1),), (2,)),
        UOp(Ops.GEP, F, (one,), (0,)),
        UOp(Ops.LOAD, F, (in_buffer.index(r, r < 2), one, r < 3)),
        UOp(Ops.LOAD, dtypes.int32, (in_buffer.index(r),)),
        UOp(Ops.INDEX, F, (one, r)),
        UOp(Ops.SPECIAL, F, (one,), "gidx0"),
        UOp(Ops.DEFINE_LOCAL, F, (), ("name", 4)),
        UOp(Ops.ADD, F.vec(2), (one, UOp.const(F.vec(2), 1))),
    ],
)
def test_malformed_node_during_lowering_is_refused(node: UOp) -> None:
    with pytest.raises(VerifyError):
        verify_node(node, codegen_spec)


def test_error_names_stage_node_and_sources() -> None:
    with pytest.raises(VerifyError) as caught:
        verify(UOp(Ops.ADD, F, (t, UOp.const(dtypes.int32, 1))), tensor_spec)
    message = str(caught.value)
    for part in ("the tensor graph", "ADD", "BUFFER dtypes.float32", "CONST dtypes.int32 arg=1"):
        assert part in message


def test_error_about_a_huge_graph_is_short() -> None:
    u = n
    for _ in range(5000):
        u = u + 1
    with pytest.raises(VerifyError) as caught:
        verify(UOp(Ops.ADD, F, (u, u)), tensor_spec)
    assert len(str(caught.value)) < 10_000


def test_spec_without_an_op_refuses_it() -> None:
    with pytest.raises(VerifyError, match=r"empty forbids CONST.*no such op"):
        verify(one, Spec("empty", {}))


# --- linear programs ---

i32 = dtypes.int32
size = UOp.const(i32, 4)
loop = UOp(Ops.RANGE, i32, (size,), Axis((0,), AxisType.LOOP))
acc = UOp(Ops.DEFINE_ACC, F, (one,), 0)
loaded = in_buffer.index(loop).load()
added = acc + loaded
PROGRAM = [
    out_buffer,
    in_buffer,
    size,
    one,
    acc,
    loop,
    in_buffer.index(loop),
    loaded,
    added,
    UOp(Ops.ACCUMULATE, dtypes.void, (acc, added)),
    UOp(Ops.END, dtypes.void, (loop,)),
    UOp.const(i32, 0),
    out_buffer.index(UOp.const(i32, 0)),
    out_buffer.index(UOp.const(i32, 0)).store(acc),
]


def test_linear_program_is_accepted() -> None:
    verify_linear(PROGRAM)


def test_conditions_are_blocks() -> None:
    condition = size < size
    guard = UOp(Ops.IF, dtypes.void, (condition,))
    end = UOp(Ops.ENDIF, dtypes.void, (guard,))
    place = out_buffer.index(size)
    store = place.store(one)
    verify_linear([out_buffer, one, size, condition, guard, place, store, end])
    # what was written stays written: others may wait for it
    waiting = UOp(Ops.BARRIER, dtypes.void, (store,))
    verify_linear([out_buffer, one, size, condition, guard, place, store, end, waiting])
    with pytest.raises(VerifyError, match="of a loop or condition that has ended"):
        verify_linear([out_buffer, one, size, condition, guard, place, end, place.store(one)])


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (PROGRAM[:5] + PROGRAM[6:], "does not stand before it"),
        (PROGRAM + PROGRAM[-1:], "stands twice"),
        (PROGRAM[:10], "is never closed"),
        (
            [
                *PROGRAM[:10],
                UOp(Ops.END, dtypes.void, (UOp(Ops.RANGE, i32, (size,), Axis((9,), AxisType.LOOP)),)),
            ],
            "closes",
        ),
        ([*PROGRAM[:11], UOp(Ops.SQRT, F, (loaded,))], "has ended"),
        ([UOp.const(INDEX, 1)], "forbids CONST"),
        ([*PROGRAM[:4], UOp(Ops.REDUCE, F, (one,), (Ops.ADD, 1))], "no such op"),
        ([*PROGRAM[:3], in_buffer.index(size, UOp.const(B, True))], "forbids INDEX"),
        ([*PROGRAM[:4], UOp(Ops.ACCUMULATE, dtypes.void, (one, one))], "forbids ACCUMULATE"),
    ],
)
def test_malformed_linear_program_is_refused(program: list[UOp], why: str) -> None:
    with pytest.raises(VerifyError, match=why):
        verify_linear(program)


def test_linear_spec_has_no_abstract_index() -> None:
    with pytest.raises(VerifyError):
        verify_node(n, linear_spec)
