"""Words that leave values as they are and say when things happen."""

from plugrad.testing.programs.words.word import word

WORDS = (
    word("realize", 1, lambda x: x, lambda x: x.realize(), is_view=True),
    word("contiguous", 1, lambda x: x, lambda x: x.contiguous()),
    word("detach", 1, lambda x: x, lambda x: x.detach(), is_view=True),
)
