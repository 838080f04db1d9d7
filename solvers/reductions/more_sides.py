"""Letter Boxed on s sides to Letter Boxed on s + 1 sides (article 000, Theorem 14).

Three new letters A, B, C: side s + 1 has A, B and n - 1 times C (n: letters of the longest side),
every other side gets one C. In addition to the old words w there are A w for each, x B for each
letter x that a word ends with, B C and C C. Only A w begins with A, and only it has A, so a chain
begins with it; B C and C C follow one another at the end, once x B has led to side s + 1. Between
the two stands a chain of the old board. The C's take one word each while there are some left both
on side s + 1 and elsewhere, and two afterwards, so the number of their words is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.reduced import Reduced


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A board with its own words, and how many words a chain may have."""

    puzzle: Puzzle
    words: int

    def __post_init__(self) -> None:
        if not self.puzzle.dictionary:
            raise PermanentError("the board has no words of its own; expected a dictionary")
        if self.words < 1:
            raise PermanentError(f"chains of {self.words} words; expected at least 1")


def closing_words(puzzle: Puzzle) -> int:
    """Count the words B C, C C, ... needed to collect every C."""
    n = max(map(len, puzzle.sides))
    return n - 1 + max(len(puzzle.sides), n - 1)


def reduce(instance: Instance) -> Reduced[Instance, Puzzle]:
    """Add a side, with letters and words that require exactly this many more words."""
    old = instance.puzzle
    words = old.dictionary or ()
    a, b, c = _new_letters(instance)
    last = sorted({word[-1] for word in words})
    n = max(map(len, old.sides))
    return Reduced(
        game="letterboxed",
        instance=instance,
        puzzle=Puzzle(
            sides=(*(side + c for side in old.sides), a + b + c * (n - 1)),
            dictionary=(
                *words,
                *(a + word for word in words),
                *(x + b for x in last),
                b + c,
                c + c,
            ),
        ),
        rules=f"chains={instance.words + 1 + closing_words(old)} min_letters=1",
    )


def _new_letters(instance: Instance) -> tuple[str, ...]:
    puzzle = instance.puzzle
    taken = set("".join(puzzle.sides)).union(*(puzzle.dictionary or ()))
    return tuple(distinct_letters(3, taken))


def solution_of(reduced: Reduced[Instance, Puzzle], chain: Chain) -> Chain:
    """Extract the chain of the old board from a chain of the new one.

    Chains correspond one to one. The old one may have collected every letter before its last
    word, where the new one still has its closing words to play. Raises PermanentError for a chain
    of another form or with too many words.
    """
    a, b, c = _new_letters(reduced.instance)
    words = list(chain.words)
    if len(words) < 2 or words[0][0] != a:
        raise PermanentError(f"a chain does not begin with a word on {a}")
    words[0] = words[0][1:]
    while words[-1] in (b + c, c + c):
        words.pop()
    if words.pop()[1:] != b:
        raise PermanentError(f"a chain does not lead to {b} before its closing words")
    if not 1 <= len(words) <= reduced.instance.words:
        raise PermanentError(
            f"the chain of the smaller board has {len(words)} words; expected 1 to"
            f" {reduced.instance.words}"
        )
    return Chain(words=tuple(words))
