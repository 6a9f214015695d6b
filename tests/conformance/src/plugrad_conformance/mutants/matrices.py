"""Renderers with a defect in a matrix instruction or in its description."""

from collections.abc import Sequence
from dataclasses import replace

from plugrad.dtype import dtypes
from plugrad.renderer.base import Renderer
from plugrad.target import Fragment, TensorCore
from plugrad.uop import Ops, UOp
from plugrad_conformance.mutants.arithmetic import RewritingRenderer, rewrite
from plugrad_conformance.mutants.mutant import Mutant

#: An instruction of 32 threads, each with two neighbours of a row.
SOUND = TensorCore(
    "square",
    (8, 8, 8),
    32,
    dtypes.float16,
    dtypes.float32,
    a=Fragment(("k1", "k2", "m0", "m1", "m2"), ("k0",)),
    b=Fragment(("n1", "n2", "k0", "k1", "k2"), ("n0",)),
    c=Fragment(("n1", "n2", "m0", "m1", "m2"), ("n0",)),
)
_TWICE = replace(SOUND, name="twice", a=Fragment(("k1", "k1", "m0", "m1", "m2"), ("k0",)))


def declaring(inner: Renderer, core: TensorCore = SOUND) -> Renderer:
    """Return a renderer that has a matrix instruction."""
    renderer = RewritingRenderer(inner, list)
    renderer.capabilities = replace(inner.capabilities, tensor_cores=(core,))
    return renderer


def _declaring_twice(inner: Renderer) -> Renderer:
    return declaring(inner, _TWICE)


def _other_layout(inner: Renderer) -> Renderer:
    def change(uops: Sequence[UOp]) -> list[UOp]:
        return rewrite(uops, lambda u: u.replace(arg=_turned(u.arg)) if u.op is Ops.WMMA else None)

    renderer = RewritingRenderer(inner, change)
    renderer.capabilities = replace(inner.capabilities, tensor_cores=(SOUND,))
    return renderer


def _turned(core: TensorCore) -> TensorCore:
    """Return the instruction with two bits of B's threads exchanged: another one than was declared."""
    first, second, *others = core.b.threads
    return replace(core, b=replace(core.b, threads=(second, first, *others)))


MUTANTS = (
    Mutant(
        "fragment-holds-elements-twice",
        "of a matrix instruction, two threads hold one element of A, and nobody another",
        ("contract/plugin/tensor-cores-hold-whole-tiles",),
        renderer=_declaring_twice,
    ),
    Mutant(
        "fragment-is-another",
        "a matrix instruction takes B from other threads than it declares",
        ("core/matrices/float16-64", "core/matrices/float16-100"),
        renderer=_other_layout,
    ),
)
