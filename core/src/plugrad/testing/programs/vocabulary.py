"""All words of random programs, by name."""

from plugrad.testing.programs.words import (
    changes,
    elementwise,
    gradients,
    indexing,
    mixed,
    movement,
    narrow,
    reductions,
    spatial,
    symbolic,
    timing,
)
from plugrad.testing.programs.words.word import Word

_MODULES = (
    elementwise,
    mixed,
    reductions,
    movement,
    spatial,
    indexing,
    changes,
    timing,
    narrow,
    gradients,
    symbolic,
)
WORDS: dict[str, Word] = {word.name: word for module in _MODULES for word in module.WORDS}
CHANGES = frozenset(word.name for word in WORDS.values() if word.changes)
SHARES = CHANGES | {word.name for word in WORDS.values() if word.is_view}
