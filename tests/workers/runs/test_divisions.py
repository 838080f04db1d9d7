"""What parts of runs are, in words."""

import pytest

from nightgrid.workers.runs.divisions import words_of


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("", "the whole"),
        ('{"layer": 3, "buckets": [0, 64], "until": 5}', "layer 3, buckets 0-63, up to layer 5"),
        (
            '{"layer": 0, "buckets": [0, 1024], "until": null, "carry_rows": 200000}',
            "layer 0, buckets 0-1023",
        ),
        ('{"zones": [3]}', "zones [3]"),
        ("[[[0, 1], [0, 2]]]", "first choices [[[0,1],[0,2]]]"),
    ],
)
def test_a_part_is_said_in_words(part, words):
    assert words_of(part) == words


def test_long_parts_are_cut():
    assert len(words_of(str(list(range(100))))) == 100
