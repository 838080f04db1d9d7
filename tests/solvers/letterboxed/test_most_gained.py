"""How many letters one word collects at most: the kernel beside a count by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.solvers.letterboxed.search.general import most_gained

WORDS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), max_size=6)
TIMES = st.lists(st.integers(0, 3), min_size=4, max_size=4)


@given(WORDS, TIMES)
def test_a_word_collects_no_letter_more_often_than_it_stands_on_the_board(
    words: list[list[int]], times: list[int]
) -> None:
    expected = max(
        (sum(min(n, times[letter]) for letter, n in Counter(word[1:]).items()) for word in words),
        default=0,
    )
    letters = np.array([letter for word in words for letter in word], np.int32)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    counts = np.zeros(len(times), np.int64)
    assert most_gained(letters, offsets, np.array(times, np.int64), counts) == expected
    assert not counts.any()
