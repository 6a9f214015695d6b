"""Make a random program, running it with NumPy on the way to see which steps are possible."""

import math
import random
from dataclasses import dataclass, field

import numpy as np

from plugrad.testing.programs.program import Array, Program, Step
from plugrad.testing.programs.vocabulary import MOST_ELEMENTS, WORDS, Word, array_of, is_tame, random_array

# How often a word is tried; those that rarely apply, or make the most trouble, more often.
_WEIGHTS = {"set": 5, "set_rows": 3, "assign": 4, "add_to": 4, "realize": 3, "matmul": 6, "cat": 3, "cast": 2}
# Sums of products of multiples of 1/16 are exact in 24 bits while they stay below this.
_EXACT_SUM = float(1 << 16)


@dataclass
class _Draft:
    steps: list[Step] = field(default_factory=list[Step])
    values: list[Array] = field(default_factory=list[Array])
    #: of each value, the value whose memory it may share (itself, where it has its own)
    roots: list[int] = field(default_factory=list[int])
    #: values that may be used: the others share memory that has changed
    live: list[int] = field(default_factory=list[int])

    def add(self, step: Step, value: Array, root: int | None = None) -> None:
        place = len(self.steps)
        self.steps.append(step)
        self.values.append(value)
        self.roots.append(place if root is None else root)
        self.live.append(place)


def random_program(seed: int, length: int = 40) -> Program:
    """Return the random program of `seed` with about `length` steps; the same for the same seed."""
    rng = random.Random(seed)
    draft = _Draft()
    for _ in range(rng.randint(2, 5)):
        _input(draft, random_array(rng))
    words = list(WORDS.values())
    weights = [_WEIGHTS.get(word.name, 1) for word in words]
    while len(draft.steps) < length:
        (word,) = rng.choices(words, weights)
        _try(rng, draft, word)
    kept = tuple(draft.live)
    return Program(tuple(draft.steps), kept, tuple(draft.values[i].copy() for i in kept))


def _input(draft: _Draft, array: Array) -> int:
    draft.add(Step("input", (), (array.copy(),)), array)
    return len(draft.steps) - 1


def _try(rng: random.Random, draft: _Draft, word: Word) -> None:
    sources = [_pick(rng, draft) for _ in range(word.arity)]
    if word.arity == 2:
        sources = _matching(rng, draft, word, sources)
    operands = [draft.values[i] for i in sources]
    params = word.propose(rng, operands)
    if params is None:
        return
    if word.changes:
        _try_change(draft, word, sources, params)
        return
    with np.errstate(all="ignore"):
        result = np.asarray(word.on_numpy(*operands, *params))
    if result.size > MOST_ELEMENTS or not is_tame(result) or not _is_exact(word, operands):
        return
    root = draft.roots[sources[0]] if word.is_view else None
    draft.add(Step(word.name, tuple(sources), params), result.copy(), root)


def _try_change(draft: _Draft, word: Word, sources: list[int], params: tuple[object, ...]) -> None:
    target = sources[0]
    if draft.roots[target] != target or draft.roots[sources[1]] == target:
        return
    changed = draft.values[target].copy()
    with np.errstate(all="ignore"):
        word.on_numpy(changed, *(draft.values[i] for i in sources[1:]), *params)
    if not is_tame(changed):
        return
    # views may show the change or not, depending on when they are computed: nobody reads them again
    draft.live = [i for i in draft.live if draft.roots[i] != target]
    draft.add(Step(word.name, tuple(sources), params), changed, None)


def _pick(rng: random.Random, draft: _Draft) -> int:
    recent = draft.live[-6:] if rng.random() < 0.6 else draft.live
    return rng.choice(recent)


def _matching(rng: random.Random, draft: _Draft, word: Word, sources: list[int]) -> list[int]:
    """Exchange the second operand for one of the first one's dtype, or for a new input that fits."""
    first = draft.values[sources[0]]
    if first.dtype == draft.values[sources[1]].dtype and rng.random() < 0.5:
        return sources
    alike = [i for i in draft.live if draft.values[i].dtype == first.dtype and i != sources[0]]
    if alike and rng.random() < 0.6:
        return [sources[0], rng.choice(alike)]
    if rng.random() < 0.5:
        shape = first.shape[::-1] if word.name == "matmul" else first.shape
        if math.prod(shape) <= MOST_ELEMENTS:
            return [sources[0], _input(draft, array_of(rng, shape, first.dtype.name))]
    return sources


def _is_exact(word: Word, operands: list[Array]) -> bool:
    """Say whether no partial sum can be rounded, in any order."""
    if operands[0].dtype.kind != "f" or word.name not in ("sum", "cumsum", "matmul"):
        return True
    limit = _EXACT_SUM / 64 if operands[0].dtype == np.float16 else _EXACT_SUM
    sums = [float(np.abs(x.astype(np.float64)).sum()) for x in operands]
    return math.prod(sums) < limit
