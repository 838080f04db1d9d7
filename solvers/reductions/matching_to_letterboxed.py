"""3D matching to Letter Boxed (article 000, Theorem 13): words of five letters.

Side 1 has the letter S once for each element of a set; sides 2, 3 and 4 have a letter for every
element of one set each. A triple is the word S x y z S. A chain of as many words as a set has
elements takes that many letters on each of sides 2 to 4, so each of them once.
"""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.reductions.problems.choices import ThreeDMatching, check_matching
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.reduced import Reduced


def reduce(instance: ThreeDMatching) -> Reduced[ThreeDMatching, Puzzle]:
    """Write an instance as a board with a chain of `size` words if and only if it has a matching.

    Raises PermanentError for an instance without triples.
    """
    if not instance.triples:
        raise PermanentError("an instance has no triples; expected at least one")
    home, *elements = _sides(instance.size)
    return Reduced(
        game="letterboxed",
        instance=instance,
        puzzle=Puzzle(sides=(home, *elements), dictionary=tuple(_words(instance))),
        rules=f"chains={instance.size} min_letters=1",
    )


def _sides(size: int) -> list[str]:
    letters = distinct_letters(1 + 3 * size)
    rest = letters[1:]
    return [letters[0] * size, *(rest[i * size : (i + 1) * size] for i in range(3))]


def _words(instance: ThreeDMatching) -> list[str]:
    home, *elements = _sides(instance.size)
    return [
        home[0] + "".join(side[e] for side, e in zip(elements, triple, strict=True)) + home[0]
        for triple in instance.triples
    ]


def solution_of(reduced: Reduced[ThreeDMatching, Puzzle], chain: Chain) -> tuple[int, ...]:
    """Read the matching off a chain, as ascending indexes of triples, and check it."""
    index = {word: i for i, word in enumerate(_words(reduced.instance))}
    chosen = tuple(sorted(index[word] for word in chain.words))
    check_matching(reduced.instance, chosen)
    return chosen
