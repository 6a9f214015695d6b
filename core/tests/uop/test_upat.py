import pytest

from plugrad.dtype import dtypes
from plugrad.uop.ops import Ops
from plugrad.uop.rewrite import PatternMatcher
from plugrad.uop.uop import UOp
from plugrad.uop.upat import UPat, pconsts, pvars

i, j, k = (UOp.variable(name, 0, 9) for name in "ijk")
f = UOp.variable("f", 0, 9).cast(dtypes.float32)
x, y = pvars("x y")
c0, c1 = pconsts("c0 c1")


def bindings(pattern: UPat, node: UOp) -> dict[str, UOp] | None:
    """Match through a table, as rules do, and return what x, y, c0, c1 and u were bound to."""
    found: dict[str, UOp] = {}

    def rule(
        x: UOp | None = None,
        y: UOp | None = None,
        c0: UOp | None = None,
        c1: UOp | None = None,
        u: UOp | None = None,
    ) -> UOp:
        named = {"x": x, "y": y, "c0": c0, "c1": c1, "u": u}
        found.update({name: node for name, node in named.items() if node is not None})
        return UOp(Ops.SINK)

    return found if PatternMatcher((pattern, rule)).rewrite(node) is not None else None


def test_variable_matches_anything_and_binds_it() -> None:
    assert bindings(x, i + j) == {"x": i + j}


def test_constant_matches_by_value_or_any() -> None:
    assert bindings(UPat.const(3), UOp.const(dtypes.index, 3)) == {}
    assert bindings(UPat.const(3), UOp.const(dtypes.index, 4)) is None
    assert bindings(c0, UOp.const(dtypes.index, 4)) == {"c0": UOp.const(dtypes.index, 4)}
    assert bindings(c0, i) is None


def test_commutative_op_matches_either_order() -> None:
    assert bindings(x + c0, i + 3) == {"x": i, "c0": UOp.const(dtypes.index, 3)}
    assert bindings(x + c0, 3 + i) == {"x": i, "c0": UOp.const(dtypes.index, 3)}
    assert bindings(x - c0, UOp.const(dtypes.int32, 3).alu(Ops.SUB, i)) is None


def test_backtracking_finds_the_order_that_fits_below() -> None:
    pattern = (x + c0) * (y + x)
    assert bindings(pattern, (j + i) * (3 + i)) == {"x": i, "y": j, "c0": UOp.const(dtypes.index, 3)}
    assert bindings(pattern, (j + i) * (3 + k)) is None


def test_same_name_twice_means_the_same_node() -> None:
    assert bindings(x + x, i + i) == {"x": i}
    assert bindings(x + x, i + j) is None
    assert bindings(x * c0 + x * c1, i * 2 + i * 3) is not None
    assert bindings(x * c0 + x * c1, i * 2 + j * 3) is None


def test_name_on_an_inner_node_binds_it() -> None:
    assert bindings(UPat(Ops.MUL, src=(UPat(Ops.ADD, name="u"), x)), (i + j) * k) == {"u": i + j, "x": k}


def test_any_tries_its_alternatives_at_the_root_and_below() -> None:
    either = UPat.any(x * c0, x + c0)
    assert bindings(either, i * 3) == {"x": i, "c0": UOp.const(dtypes.index, 3)}
    assert bindings(either, i + 3) is not None
    assert bindings(either, i // 3) is None
    assert bindings(either.named("u") // y, (i + 3) // j) == {
        "u": i + 3,
        "x": i,
        "y": j,
        "c0": UOp.const(dtypes.index, 3),
    }
    assert bindings(UPat.any(x * c0, x) + y, i + j) == {"x": i, "y": j}


def test_alternatives_agree_with_names_bound_outside() -> None:
    pattern = UPat(Ops.ADD, src=(x, UPat.any(x * c0, c0 * c1)))
    assert bindings(pattern, i + i * 2) is not None
    assert bindings(pattern, i + j * 2) is None


def test_several_ops_and_dtypes_match_one_of_them() -> None:
    pattern = UPat((Ops.ADD, Ops.MUL), (dtypes.index, dtypes.int32), name="u")
    assert bindings(pattern, i + j) == {"u": i + j}
    assert bindings(pattern, f + f) is None
    assert bindings(pattern, i // j) is None


def test_scalar_dtype_matches_its_vectors_and_a_vector_only_itself() -> None:
    vector = UOp.const(dtypes.float32.vec(4), 1)
    assert bindings(UPat.var("x", dtypes.float32), vector) is not None
    assert bindings(UPat.var("x", dtypes.float32.vec(4)), vector) is not None
    assert bindings(UPat.var("x", dtypes.float32.vec(2)), vector) is None
    assert bindings(UPat.var("x", dtypes.float32.vec(4)), f) is None


def test_one_pattern_matches_every_source() -> None:
    all_constant = UPat(Ops.SINK, src=UPat.cvar())
    one, two = UOp.const(dtypes.index, 1), UOp.const(dtypes.index, 2)
    assert bindings(all_constant, UOp.sink(one, two, one)) == {}
    assert bindings(all_constant, UOp.sink(one, i)) is None


def test_prefix_matches_the_first_sources() -> None:
    pattern = UPat(Ops.SINK, src=(x, y), prefix=True)
    assert bindings(pattern, UOp.sink(i, j, k)) == {"x": i, "y": j}
    assert bindings(pattern, UOp.sink(i)) is None
    assert bindings(UPat(Ops.SINK, src=(x, y)), UOp.sink(i, j, k)) is None


def test_list_of_three_sources_matches_in_any_order() -> None:
    one = UOp.const(dtypes.index, 1)
    pattern = UPat(Ops.SINK, src=[c0, x, UPat(Ops.ADD, name="u")])
    assert bindings(pattern, UOp.sink(i + j, one, k)) == {"c0": one, "x": k, "u": i + j}


def test_arg_is_compared_by_value() -> None:
    r = UOp.range(4, 0)
    assert bindings(UPat(Ops.RANGE, arg=r.arg), r) == {}
    assert bindings(UPat(Ops.RANGE, arg=r.arg), UOp.range(4, 1)) is None
    assert bindings(UPat(Ops.ADD, arg=None), i + j) == {}


@pytest.mark.parametrize(
    ("pattern", "node"),
    [
        (x - y, f - f * f),
        (x / y, f / (f + f)),
        (x // y, i // j),
        (x % y, i % j),
        (x < y, i < j),
        (x & y, i & j),
        (x | y, i | j),
        (x ^ y, i ^ j),
        (x << y, i << j),
        (x >> y, i >> j),
        (-x, -f),
        (x.eq(y), i.eq(j)),
        (x.ne(y), i.ne(j)),
        (x.maximum(y), i.maximum(j)),
        ((x < y).where(x, y), (i < j).where(i, j)),
        (x.cast(dtypes.int32), i.cast(dtypes.int32)),
        (1 + x, 1 + i),
        (2 * x, 2 * i),
    ],
)
def test_operator_of_patterns_matches_operator_of_nodes(pattern: UPat, node: UOp) -> None:
    assert bindings(pattern, node) is not None


def test_pattern_prints_its_structure() -> None:
    assert repr((x + c0).named("u")) == "UPat(ADD:u, (x, CONST:c0))"
    assert repr(UPat.any(x, UPat.const(1))) == "any(x, CONST=1)"
