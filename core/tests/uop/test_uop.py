import copy
import gc
import math
import pickle
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plugrad.dtype import DType, dtypes, truncate
from plugrad.errors import DtypeError, ShapeError
from plugrad.target import Fragment, TensorCore
from plugrad.uop.ops import (
    Axis,
    AxisType,
    BufferArg,
    DispatchArg,
    FunctionArg,
    KernelInfo,
    Ops,
    rule_of,
)
from plugrad.uop.uop import UOp, _buffers, _interned

# what graphs are printed with
_ARGS = (Axis, AxisType, BufferArg, DispatchArg, FunctionArg, KernelInfo, Fragment, TensorCore, Ops, UOp)
_NAMES = {part.__name__: part for part in (*_ARGS, dtypes, rule_of)}

x = UOp.variable("x", 0, 9)
y = UOp.variable("y", 0, 9)


def chain(length: int, tag: object = None) -> UOp:
    u = UOp.variable("start", 0, 9)
    one = UOp.const(dtypes.index, 1)
    for _ in range(length):
        u = UOp(Ops.ADD, dtypes.index, (u, one), None, tag)
    return u


# --- hash-consing ---


def test_equal_parts_are_the_same_object() -> None:
    assert x + y is x + y
    assert x + y is not y + x
    assert UOp(Ops.ADD, dtypes.index, (x, y), None, "tag") is not x + y
    assert UOp.range(4, 0) is UOp.range(4, 0)
    assert UOp.range(4, 0) is not UOp.range(4, 0, AxisType.REDUCE)


def test_constants_differ_by_sign_of_zero_and_dtype() -> None:
    zero, minus_zero = UOp.const(dtypes.float32, 0.0), UOp.const(dtypes.float32, -0.0)
    assert zero is not minus_zero
    assert math.copysign(1, minus_zero.arg) == -1
    assert UOp.const(dtypes.float32, math.nan) is UOp.const(dtypes.float32, float("nan"))
    assert UOp.const(dtypes.int32, 1) is not UOp.const(dtypes.bool, True)
    assert UOp.const(dtypes.int32, 1) is not UOp.const(dtypes.index, 1)
    assert UOp.const(dtypes.float32, 1) is UOp.const(dtypes.float32, 1.0)
    assert UOp(Ops.CONST, dtypes.int32, (), True) is not UOp(Ops.CONST, dtypes.int32, (), 1)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.bfloat16, dtypes.int8, dtypes.bool])
def test_equal_numbers_of_other_types_are_told_apart(dtype: DType) -> None:
    for _ in range(2):
        for value in (0, 0.0, -0.0, False, 1, 1.0, True):
            found = UOp.const(dtype, value).arg
            assert (type(found), repr(found)) == (type(truncate(value, dtype)), repr(truncate(value, dtype)))


def test_constants_are_rounded_and_wrapped_into_their_dtype() -> None:
    assert UOp.const(dtypes.uint8, 257).arg == 1
    assert UOp.const(dtypes.float16, 1e9).arg == math.inf
    assert UOp.const(dtypes.float32, 0.1).arg != 0.1
    assert UOp.const(dtypes.bool, 3).arg is True


def test_garbage_goes_with_its_last_user() -> None:
    gc.collect()
    before = len(_interned)
    u = chain(100, "garbage")
    seen = weakref.ref(u)
    assert len(_interned) >= before + 100
    del u
    assert seen() is None
    assert len(_interned) <= before + 2


def test_a_buffer_of_known_parts_is_the_one_that_was_made() -> None:
    made = UOp.new_buffer("PYTHON", (2,), dtypes.int32)
    assert UOp(Ops.BUFFER, dtypes.int32, (), made.arg) is made
    assert made.rtag("other") is not made
    assert UOp(Ops.BUFFER, dtypes.float32, (), made.arg) is not made
    assert made.rtag("other").rtag(None) is made


def test_buffers_that_are_gone_are_forgotten() -> None:
    kept = UOp.new_buffer("PYTHON", (2,), dtypes.int32)
    for _ in range(100_000):
        UOp.new_buffer("PYTHON", (2,), dtypes.int32)
    assert len(_buffers) < 50_000
    assert UOp(Ops.BUFFER, kept.dtype, (), kept.arg) is kept


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Keep the cycle collector out of the way of tests that make very many objects without cycles."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_a_deep_graph_takes_no_recursion() -> None:
    u = chain(200_000, "deep")
    assert len(u.toposort()) == 200_002
    assert u.vmax == 9 + 200_000
    seen = weakref.ref(u)
    del u
    assert seen() is None


@pytest.mark.usefixtures("no_collector")
def test_every_walk_of_a_deep_graph_takes_no_recursion() -> None:
    u = chain(50_000, "walked")
    assert len(u.key) == 32
    assert u.ranges == frozenset()
    assert u.shape == ()
    assert u.device is None
    assert u.order
    assert u.variables() == (UOp.variable("start", 0, 9),)
    assert u.substitute({UOp.variable("start", 0, 9): x}).vmin == 50_000


def test_nodes_are_immutable() -> None:
    for name in ("op", "dtype", "src", "arg", "tag", "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(x, name, 1)
        with pytest.raises(AttributeError, match="immutable"):
            delattr(x, name)


def test_pickled_and_copied_nodes_are_the_same_object() -> None:
    graph = UOp.sink((x + 1) * y.cast(dtypes.int32).cast(dtypes.index), arg=KernelInfo("k"))
    vector = UOp.const(dtypes.float32.vec(4), -0.0)
    for u in (graph, vector, UOp.range(4, (1, 0), AxisType.UPCAST)):
        assert pickle.loads(pickle.dumps(u)) is u
        assert copy.copy(u) is u
        assert copy.deepcopy(u) is u


def test_threads_that_build_the_same_graph_get_the_same_objects() -> None:
    found: list[list[UOp]] = []
    barrier = threading.Barrier(8)

    def build() -> None:
        barrier.wait()
        out = []
        for round_number in range(300):
            a = UOp.variable("threads", 0, round_number)
            out.append((a + 1) * (a + 2))
            # garbage of other rounds dies in between
            del a
            UOp.const(dtypes.index, random.randrange(10**6)) + 1
        found.append(out)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 8
    assert all(a is b for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_nodes_that_die_and_come_back_in_threads_stay_unique() -> None:
    errors: list[str] = []

    def churn() -> None:
        for number in range(2000):
            a = UOp.variable("churn", 0, number % 7)
            if a is not UOp.variable("churn", 0, number % 7):
                errors.append(str(number))

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []


# --- printing ---


@pytest.mark.parametrize(
    "graph",
    [
        x,
        x + x,
        (x + y) * (x + y),
        UOp.sink(x + 1, (x + 1) * 2),
        UOp.const(dtypes.float32, math.inf),
        UOp.const(dtypes.float32, math.nan),
        UOp.const(dtypes.float64, -0.0),
        UOp.const(dtypes.float32.vec(4), 1.5),
        UOp(Ops.BUFFER, dtypes.float32, (), UOp.new_buffer("CPU", (3,), dtypes.float32).arg),
        UOp.range(4, (0, 1), AxisType.UPCAST).rtag("tag"),
        UOp(Ops.REDUCE, dtypes.index, (x, UOp.range(4, 0)), (Ops.ADD, 1)),
        UOp.sink(arg=KernelInfo("kernel", ())),
        UOp(Ops.KERNEL, dtypes.void, (x + x,), UOp.sink(y + y, (y + y) * x)),
    ],
)
def test_printed_graph_evaluates_to_the_same_object(graph: UOp) -> None:
    assert eval(repr(graph), _NAMES) is graph


def test_printed_deep_graphs_evaluate_too() -> None:
    deep = x
    for step in range(1000):
        deep = (deep + y) * (step + 2)
    called = UOp(Ops.KERNEL, src=(UOp.sink(deep),), arg=UOp.sink(deep, arg=KernelInfo("k")))
    for graph in (deep, deep.sink(deep * 2), called):
        assert eval(repr(graph), _NAMES) is graph


def test_shared_nodes_are_printed_once_and_named() -> None:
    text = repr((x + y) * (x + y))
    assert text.count("Ops.ADD") == 1
    assert "x0:=UOp(" in text


def test_pickling_a_deep_graph_takes_no_recursion() -> None:
    u = chain(100_000, "pickled")
    assert pickle.loads(pickle.dumps(u)) is u


def test_printing_a_deep_graph_takes_no_recursion() -> None:
    assert repr(chain(20_000)).count("Ops.ADD") == 20_000


# --- methods ---


def test_toposort_gives_sources_first_and_each_node_once() -> None:
    graph = (x + y) * (x + 1) + (x + y)
    order = list(graph.toposort())
    assert len(order) == len(set(order))
    assert order[-1] is graph
    for position, u in enumerate(order):
        assert all(s in order[:position] for s in u.src)


def test_toposort_is_the_order_of_a_walk_by_recursion() -> None:
    nodes = [UOp.variable(name, 0, 9) for name in "abc"]
    for i in range(40):
        nodes.append(nodes[i * 7 % (i + 3)].alu(Ops.ADD, nodes[-1 - i % 3]))
    graph = UOp.sink(*nodes[-3:], nodes[5])
    assert list(graph.toposort()) == _by_recursion(graph)
    assert list(graph.toposort(lambda u: u is not nodes[9])) == _by_recursion(graph, nodes[9])


def _by_recursion(graph: UOp, closed: UOp | None = None) -> list[UOp]:
    order: list[UOp] = []

    def walk(node: UOp) -> None:
        if node is closed or node in order:
            return
        for s in node.src:
            walk(s)
        order.append(node)

    walk(graph)
    return order


def test_toposort_of_a_sink_is_remembered_and_nobody_elses() -> None:
    sink = UOp.sink(x + y, y * 2)
    sink.toposort().clear()
    assert [*sink.toposort()][:-1] == [x, y, x + y, UOp.const(dtypes.index, 2), y * 2]
    forgotten = weakref.ref(sink)
    del sink
    assert forgotten() is None


def test_toposort_leaves_out_what_its_gate_closes() -> None:
    product = x * y
    graph = product + 1
    assert list(graph.toposort(lambda u: u is not product)) == [UOp.const(dtypes.index, 1), graph]


def test_replace_changes_only_the_given_parts() -> None:
    u = (x + y).rtag("t")
    assert u.tag == "t"
    assert u.replace(tag=None) is x + y
    assert u.replace(op=Ops.MUL, tag=None) is x * y
    assert (x + y).replace(src=(y, x)) is y + x


def test_substitute_exchanges_nodes_but_not_inside_replacements() -> None:
    assert (x + y).substitute({x: y}) is y + y
    assert (x + y).substitute({x: x + 1}) is (x + 1) + y
    assert (x * 2).substitute({y: x}) is x * 2


def test_variables_are_found_by_name() -> None:
    assert (y * 2 + x).variables() == (x, y)


def test_bind_holds_the_value_and_unbind_gives_it_back() -> None:
    bound = x.bind(3)
    assert bound.unbind() == (x, 3)
    assert (bound.vmin, bound.vmax) == (3, 3)
    with pytest.raises(ShapeError, match=r"x is an integer in 0..9: cannot bind it to 10"):
        x.bind(10)
    with pytest.raises(ShapeError, match=r"cannot bind it to 1.5"):
        x.bind(1.5)  # pyright: ignore[reportArgumentType]


def test_a_variable_has_a_value() -> None:
    assert UOp.variable("n", 3, 3).bind(3).vmax == 3
    with pytest.raises(ShapeError, match=r"no integer lies in 5..2"):
        UOp.variable("n", 5, 2)


def test_key_is_equal_in_every_process_and_differs_by_structure() -> None:
    code = "from plugrad.uop.uop import UOp; print(((UOp.variable('x', 0, 9) + 3) * 2).key.hex())"
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert out.stdout.strip() == ((x + 3) * 2).key.hex()
    assert (x + 3).key != (x + 4).key
    assert (x + y).key != (y + x).key


def test_ranges_are_those_that_are_still_open() -> None:
    i, j = UOp.range(4, 0), UOp.range(5, 1)
    value = (i * 5 + j).cast(dtypes.float32)
    assert value.ranges == {i, j}
    total = value.reduce(Ops.ADD, j)
    assert total.ranges == {i}
    place = UOp(Ops.PARAM, dtypes.float32, (), (0, 4)).index(i)
    assert place.store(total, i).ranges == frozenset()


def test_buffers_are_never_the_same_and_iotas_are() -> None:
    assert UOp.new_buffer("CPU", (2,), dtypes.int32) is not UOp.new_buffer("CPU", (2,), dtypes.int32)
    assert UOp.iota(4) is UOp.iota(4)
    assert UOp.iota(4).shape == (4,)


def test_device_is_that_of_the_memory_below() -> None:
    b = UOp.new_buffer("CPU", (4,), dtypes.float32)
    assert (b + 1).device == "CPU"
    assert (b + 1).copy_to_device("CUDA:1").device == "CUDA:1"
    assert UOp.const(dtypes.float32, 1).device is None


# --- operators ---


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda a, b: a + b, 5 + 3),
        (lambda a, b: a - b, 5 - 3),
        (lambda a, b: a * b, 15),
        (lambda a, b: a // b, 1),
        (lambda a, b: a % b, 2),
        (lambda a, b: a & b, 5 & 3),
        (lambda a, b: a | b, 5 | 3),
        (lambda a, b: a ^ b, 5 ^ 3),
        (lambda a, b: a << b, 5 << 3),
        (lambda a, b: a >> b, 5 >> 3),
        (lambda a, b: -a, -5),
        (lambda a, b: ~a, ~5),
        (lambda a, b: a < b, False),
        (lambda a, b: a <= b, False),
        (lambda a, b: a > b, True),
        (lambda a, b: a >= b, True),
        (lambda a, b: a.eq(b), False),
        (lambda a, b: a.ne(b), True),
        (lambda a, b: a.maximum(b), 5),
        (lambda a, b: a.minimum(b), 3),
        (lambda a, b: (a < b).where(a, b), 3),
        (lambda a, b: a.mulacc(b, b), 18),
        (lambda a, b: 2 + a, 7),
        (lambda a, b: 2 - a, -3),
        (lambda a, b: 2 * a, 10),
        (lambda a, b: 17 // a, 3),
        (lambda a, b: 17 % a, 2),
        (lambda a, b: 6 & a, 4),
        (lambda a, b: 2 | a, 7),
        (lambda a, b: 1 ^ a, 4),
    ],
)
def test_operator_means_what_it_means_in_python(
    build: Callable[[Any, Any], UOp], value: object, compute: Callable[..., Any]
) -> None:
    for dtype in (dtypes.int32, dtypes.index):
        a, b = UOp.variable("a", -9, 9, dtype), UOp.variable("b", 1, 9, dtype)
        assert compute(build(a, b), {a: 5, b: 3}) == value


def test_comparison_gives_bool_with_as_many_lanes() -> None:
    v = UOp.const(dtypes.float32.vec(4), 1)
    assert (v < v).dtype is dtypes.bool.vec(4)
    assert (v < v).where(v, v).dtype is dtypes.float32.vec(4)
    assert v.cast(dtypes.int32).dtype is dtypes.int32.vec(4)


def test_float_le_and_ge_are_false_for_nan(compute: Callable[..., Any]) -> None:
    nan, one = UOp.const(dtypes.float32, math.nan), UOp.const(dtypes.float32, 1)
    assert compute(nan <= one, {}) is False
    assert compute(nan >= one, {}) is False


def test_python_number_takes_the_dtype_of_the_node() -> None:
    assert (x + 1).src[1].dtype is dtypes.index
    assert (UOp.const(dtypes.float32, 2) + 1).src[1] is UOp.const(dtypes.float32, 1)
    with pytest.raises(DtypeError, match=r"1.5 is not a index"):
        x + 1.5
    with pytest.raises(DtypeError, match="give one of them as a node"):
        (x < 3).where(1, 2)


def test_axis_identity_is_part_of_a_range() -> None:
    assert UOp.range(4, 3).arg == Axis((3,), AxisType.LOOP)
    assert UOp.range(x, (1, 2)).src == (x,)


def test_a_function_prints_the_rule_that_it_has() -> None:
    def rule(gradients: object, function: object) -> list[None]:
        return [None]

    x = UOp.const(dtypes.float32, 1.0)
    function = UOp(Ops.FUNCTION, dtypes.void, (x, x), FunctionArg(1, rule))
    assert eval(repr(function), _NAMES) is function
    choice = x.dispatch(rule, x)
    assert eval(repr(choice), _NAMES) is choice
    # rules of softmax and convolutions are values with slots
    valued = UOp(Ops.FUNCTION, dtypes.void, (x, x), FunctionArg(1, KernelInfo("rule")))
    assert eval(repr(valued), _NAMES) is valued


def test_a_number_is_spread_over_a_shape_once() -> None:
    zeros = UOp.const(dtypes.float32, 0.0).spread((2, 3))
    assert zeros.shape == (2, 3)
    assert zeros.spread((2, 3)) is zeros
