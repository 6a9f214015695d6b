import math

from plugrad import Tensor, nn
from plugrad.engine.plan import make_plan, root_of
from plugrad.engine.realize import realize
from plugrad.uop.ops import Ops
from plugrad.uop.uop import UOp
from plugrad_conformance.testing.memory import put


def test_views_of_memory_have_no_root() -> None:
    x = put([[1.0, 2.0]])
    assert root_of(x.permute((1, 0)).expand((2, 5))) is None
    assert root_of(UOp.const(x.dtype, 1.0).reshape((1,)).expand((3,))) is None


def test_the_root_of_a_view_is_its_smallest_value() -> None:
    y = put([[1.0, 2.0]]) + 1
    assert root_of(y.permute((1, 0))) is y
    assert root_of(y.expand((7, 2))) is y
    assert root_of(y.reshape((2,))) is y.reshape((2,))
    part = y.shrink(((0, 1), (0, 1)))
    assert root_of(part.expand((1, 9))) is part if part.shape == (1, 9) else root_of(part) is part
    assert root_of(y.pad(((1, 1), (0, 0)))) is y


def test_the_root_of_a_part_of_an_assign_is_the_assign() -> None:
    x = put([1.0, 2.0])
    changed = x.assign(x + 1)
    assert root_of(changed.shrink(((0, 1),))) is changed
    own = (x + 1).contiguous()
    assert root_of(own.shrink(((0, 1),))) is own


def test_intermediate_values_share_one_arena() -> None:
    value = put([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(6):
        value = (value.reduce_axis(Ops.ADD, (0,)).expand((2, 2)) + value.permute((1, 0))).contiguous()
    plan = make_plan([value], None)
    bases = {buffer.base for call in plan.calls for buffer in plan.buffers(call)[:1]} - {None}
    assert len(bases) == 1
    (arena,) = bases
    assert arena is not None
    sizes = [math.prod(call.root.shape) * 4 for call in plan.calls]  # type: ignore[misc]
    assert arena.nbytes < max(len(sizes) * 64, 1)


class Layer(nn.Module):
    """A layer of a language model."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm, self.inner_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.read, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.inner = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

    def forward(self, x: Tensor) -> Tensor:
        rows, length, size = x.shape
        parts = self.read(self.norm(x)).reshape(rows, length, 3, 2, size // 2)
        q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
        mixed = q.scaled_dot_product_attention(k, v, is_causal=True).transpose(1, 2)
        x = x + self.out(mixed.reshape(rows, length, size))
        return x + self.inner(self.inner_norm(x))


def test_the_step_of_a_language_model_keeps_what_its_gradient_reads_and_no_more() -> None:
    layers, rows, length, size = 3, 2, 64, 128
    model = nn.Sequential(*(Layer(size) for _ in range(layers)), nn.Linear(size, 65))
    parameters = nn.state.get_parameters(model)
    for parameter in parameters:
        parameter.replace(Tensor.empty(*parameter.shape))
    x, labels = Tensor.empty(rows, length, size), Tensor.empty(rows * length, dtype="int32")
    with Tensor.train():
        loss = model(x).reshape(-1, 65).cross_entropy(labels)
        loss.backward()
    plan = make_plan([loss._graph, *(p.grad._graph for p in parameters if p.grad is not None)], None)
    planned = sum(buffer.nbytes for buffer in plan.temporaries)
    # norms, q, k and v, attention, both sides of GELU and the sums of a layer, and what its gradient takes
    assert planned < layers * 25 * x.nbytes


def test_memory_that_is_not_to_be_shared_is_not() -> None:
    x = put([[1.0, 2.0], [3.0, 4.0]])
    total = x.reduce_axis(Ops.ADD, (0,)).contiguous()
    plan = make_plan([(total * 2).contiguous() + total], None, share_memory=False)
    assert all(buffer.base is None for call in plan.calls for buffer in plan.buffers(call))


def test_each_device_has_an_arena_of_its_own() -> None:
    x = put([1.0, 2.0], "PYTHON:1")
    there = (x * 2).contiguous() + 1
    here = (there.copy_to_device("PYTHON") * 3).contiguous() + 1
    plan = make_plan([here], None)
    for call in plan.calls:
        assert plan.buffers(call)[0].device == call.device


def test_a_graph_is_planned_alike_whether_it_has_to_be_resolved_or_not() -> None:
    x, y = put([1.0, 2.0]), put([3.0, 4.0])
    whole = make_plan([(x + y) * x], None)
    history = (x * 7 + 1).contiguous()
    realize([history])
    resolved = make_plan([(history + y) * history], None)
    assert resolved.graph.sink is whole.graph.sink
    assert [call.ast for call in resolved.calls] == [call.ast for call in whole.calls]
    assert [result.place.shape for result in resolved.results] == [(2,)] * len(resolved.results)
    assert [result.value for result in whole.results] == [(x + y) * x]


def test_a_value_and_the_same_without_a_gradient_are_computed_once() -> None:
    x, y = put([1.0, 2.0]), put([3.0, 4.0])
    plan = make_plan([(x + 1).detach() * y, (x + 1) * y], None)
    assert len(plan.calls) == 1
    first, second = plan.results
    assert first.place is second.place
