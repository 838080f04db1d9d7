"""Small boards of Letter Boxed for hypothesis: few letters, with many repetitions."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from nightgrid.solvers.letterboxed.puzzle import Puzzle

LETTERS = "ABCDE"


@st.composite
def boards(draw: st.DrawFn, *, sides_max: int = 4, letters_max: int = 6) -> Puzzle:
    """Draw a board with its own dictionary: letters may occur several times, on several sides."""
    letters = draw(st.sampled_from([LETTERS[:3], LETTERS[:4], LETTERS]))
    text = draw(st.text(letters, min_size=1, max_size=letters_max))
    count = draw(st.integers(1, min(sides_max, len(text))))
    cuts = [len(text) * i // count for i in range(count + 1)]
    words = draw(st.lists(st.text(letters, min_size=1, max_size=5), min_size=1, max_size=6))
    sides = tuple(text[a:b] for a, b in pairwise(cuts))
    return Puzzle(sides=sides, dictionary=tuple(words))


@st.composite
def distinct_boards(draw: st.DrawFn) -> Puzzle:
    """Draw a board with distinct letters."""
    text = "".join(draw(st.permutations(LETTERS)))
    count = draw(st.integers(2, 5))
    sides = tuple(text[i::count] for i in range(count))
    words = draw(st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=10))
    return Puzzle(sides=sides, dictionary=tuple(words))
