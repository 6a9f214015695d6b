"""Run on other buffers what was compiled for graphs of the same form.

What is left to do are launches and copies, the memory of results, and noting where these lie: a recipe
neither makes a canonical graph nor looks kernels up.
"""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext

from plugrad._frozen import frozen
from plugrad.device import Device
from plugrad.dtype import DType
from plugrad.engine import storage
from plugrad.engine.capture import is_recording, record_steps
from plugrad.engine.compile import CompiledKernel
from plugrad.engine.execute import Copy, Launch, Picker, Step, launch, picker, takes_long
from plugrad.engine.plan import ExecutionPlan, Result
from plugrad.engine.recipes.form import Form, form_of
from plugrad.engine.schedule_cache import recipes
from plugrad.engine.slice_offsets import variable_offsets
from plugrad.engine.view_path import ViewPath, path_between, shown
from plugrad.progress import progress
from plugrad.runtime.buffer import Buffer
from plugrad.runtime.origin import ARENA, call_site
from plugrad.settings import settings
from plugrad.uop import UOp

_SILENT = nullcontext()


@frozen
class _Memory:
    """Memory that each run makes anew."""

    device: str
    shape: tuple[int, ...]
    dtype: DType


@frozen
class _Part:
    """A part of memory of a run, by the number of that."""

    owner: int
    size: int
    dtype: DType
    offset: int


@frozen
class _Result:
    """A value that has memory afterwards.

    Attributes:
        node: its number among the nodes of the form.
        place: the number of the memory among those of results.
        path: how the value shows the memory.
        steps: how many launches and copies it takes.
    """

    node: int
    place: int
    path: ViewPath
    steps: int


@frozen(eq=False)
class Recipe:
    """The kernels of a form of graphs, and the places of their buffers.

    Buffers of a run are the inputs, what results lie in, temporaries, and parts of all of these.

    Attributes:
        key: that of the form.
        results: the values to note.
        places: the memory of results.
        temporaries: the memory of intermediate values.
        parts: what kernels see parts of.
        steps: the kernels in order, None for a copy, each with what picks its buffers.
        names: for each offset of the form the name of the kernels' variable.
        is_long: they may take long enough for somebody to ask how far they are.
    """

    key: Hashable
    results: tuple[_Result, ...]
    places: tuple[_Memory, ...]
    temporaries: tuple[_Memory, ...]
    parts: tuple[_Part, ...]
    steps: tuple[tuple[CompiledKernel | None, Picker], ...]
    names: Mapping[str, str]
    is_long: bool

    def run(self, form: Form) -> None:
        """Compute the values of a graph of the form, and note where they are.

        When a step fails, or is interrupted, what earlier ones computed is kept.
        """
        site = call_site()
        places = [storage.new_buffer(m.device, m.shape, m.dtype, site) for m in self.places]
        buffers: list[Buffer] = [u.place for u in (*form.inputs, *places)]
        passing = [Device[m.device].new_buffer(m.shape[0], m.dtype, ARENA) for m in self.temporaries]
        buffers += passing
        for part in self.parts:
            buffers.append(buffers[part.owner].view(part.size, part.dtype, part.offset))
        values = {self.names[name]: value for name, value in form.values.items()} if self.names else {}
        done = 0
        try:
            with progress(f"launching {len(self.steps)} again", None) if self.is_long else _SILENT:
                for kernel, pick in self.steps:
                    if kernel is None:
                        Copy(pick(buffers)).run(values)
                    else:
                        launch(kernel, pick(buffers), values)
                    done += 1
            if is_recording():
                record_steps([_step(kernel, pick(buffers)) for kernel, pick in self.steps], values)
        finally:
            if done < len(self.steps):
                # the exception's traceback holds them
                for buffer in passing:
                    buffer.deallocate()
            nodes = [*form.nodes]
            for result in self.results:
                if done >= result.steps:
                    place = places[result.place]
                    storage.record(nodes[result.node], shown(place, result.path) if result.path else place)


def _step(kernel: CompiledKernel | None, buffers: tuple[Buffer, ...]) -> Step:
    if kernel is not None:
        return Launch(kernel, buffers)
    to, source = buffers
    return Copy((to, source))


def form_to_run(roots: Sequence[UOp], device: str | None) -> Form | None:
    """Return the form of a graph; None: a graph like that has no recipe."""
    if settings.CHECK:
        # values are looked at on their way
        return None
    choices = (
        settings.SPEC,
        settings.DETERMINISTIC,
        settings.SHARE_SIZES,
        settings.NOOPT,
        settings.BEAM,
        is_recording(),
    )
    return form_of(roots, (Device.DEFAULT if device is None else device, choices))


def known_recipe(form: Form) -> Recipe | None:
    """Return the recipe for a form, if there is one."""
    recipe = recipes.get(hash(form.key))
    return None if recipe is None or recipe.key != form.key else recipe


def remember(form: Form, plan: ExecutionPlan, steps: Sequence[Step]) -> None:
    """Keep the recipe for a form, if the plan of its graph allows one."""
    if (recipe := _recipe(form, plan, steps)) is not None:
        recipes.put(hash(form.key), recipe, settings.CACHE_SCHEDULES)


def _recipe(form: Form, plan: ExecutionPlan, steps: Sequence[Step]) -> Recipe | None:
    """Return the recipe for a plan; None: it does more than fill new memory."""
    names = _names(form, plan)
    if plan.conditions or names.keys() != form.values.keys():
        return None
    numbers = {u: number for number, u in enumerate(form.nodes)}
    noted = [result for result in plan.results if result.value in numbers]
    places = list(dict.fromkeys(storage.viewed(result.place) for result in noted))
    inputs: list[Buffer] = [u.place for u in form.inputs]
    made: list[Buffer] = [u.place for u in places]
    used = dict.fromkeys(buffer for step in steps for buffer in step.buffers)
    passing = [buffer for buffer in dict.fromkeys([b.whole for b in used]) if buffer in plan.temporaries]
    whole = {buffer: number for number, buffer in enumerate([*inputs, *made, *passing])}
    parts = [buffer for buffer in used if buffer not in whole]
    if len(whole) < len(inputs) + len(made) + len(passing) or not whole.keys() >= {
        part.whole for part in parts
    }:
        return None
    order = {buffer: number for number, buffer in enumerate([*whole, *parts])}
    written = {buffer: count for count, step in enumerate(steps, 1) for buffer in step.written}
    if not written.keys().isdisjoint(inputs) or any([result.is_passing for result in noted]):
        return None
    return Recipe(
        form.key,
        tuple([_result(result, numbers, places, written) for result in noted]),
        tuple([_Memory(u.arg.device, u.arg.shape, u.dtype) for u in places]),
        tuple([_Memory(buffer.device, (buffer.size,), buffer.dtype) for buffer in passing]),
        tuple([_Part(whole[part.whole], part.size, part.dtype, part.offset) for part in parts]),
        tuple([(step.kernel, picker([order[b] for b in step.buffers])) for step in steps]),
        names,
        takes_long([step.kernel.program for step in steps if step.kernel is not None]),
    )


def _names(form: Form, plan: ExecutionPlan) -> dict[str, str]:
    """Return the plan's names of variables by those of the form.

    These follow another order of nodes.
    """
    planned = variable_offsets(plan.graph.nodes) if form.offsets else {}
    return {
        form.offsets[u][axis].src[0].arg[0]: bind.src[0].arg[0]
        for u, by_axis in planned.items()
        for axis, bind in by_axis.items()
    }


def _result(
    result: Result, numbers: Mapping[UOp, int], places: Sequence[UOp], written: Mapping[Buffer, int]
) -> _Result:
    memory = storage.viewed(result.place)
    path = path_between(result.place, memory)
    return _Result(numbers[result.value], places.index(memory), path, written.get(memory.place, 0))
