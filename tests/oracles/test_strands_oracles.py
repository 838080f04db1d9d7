"""The oracles of Strands agree with one another and with what can be counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.drawn import drawn
from tests.oracles import strands_cp_sat
from tests.oracles.strands_brute_force import (
    Covering,
    TooLargeError,
    Vocabulary,
    cross,
    enumerate_covers,
    paths_of,
    pieces_of,
    spans,
    why_no_cover,
)
from tests.solvers.strands.boards import (
    Instance,
    board,
    instances,
    lexicon_of_words,
    mirror_cover,
    mirrored,
    quick_covers,
    turn_cover,
    turned,
    zoned,
)

LOOSE = Rules(
    spangram="off", words="any", crossing=True, repeats=True, min_letters=1, compound_parts=1
)
"""Nothing is forbidden."""


def covers(puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary) -> set[Covering]:
    """Enumerate by both oracles, which have to agree."""
    found = enumerate_covers(puzzle, rules, vocabulary)
    by_cp_sat = strands_cp_sat.enumerate_covers(puzzle, rules, vocabulary)
    assert by_cp_sat.complete
    assert by_cp_sat.covers == found
    assert all(why_no_cover(puzzle, rules, vocabulary, cover) == "" for cover in found)
    return found


def rules(**switched: object) -> Rules:
    values = {name: getattr(LOOSE, name) for name in Rules.__dataclass_fields__}
    return Rules(**(values | switched))


def words_in(found: set[Covering]) -> list[list[str]]:
    return sorted(sorted(word for word, _ in cover) for cover in found)


def test_two_words_on_the_diagonals_of_four_cells_cross() -> None:
    puzzle, words = board("AB CD"), lexicon_of_words("AD", "BC")
    assert len(covers(puzzle, LOOSE, words)) == 1
    assert covers(puzzle, rules(crossing=False), words) == set()
    assert covers(puzzle, rules(diagonal=False), words) == set()


def test_a_word_may_cross_itself_and_its_paths_are_one_solution() -> None:
    puzzle = board("AB CD")
    assert len(covers(puzzle, rules(crossing=False), lexicon_of_words("ADBC"))) == 1
    same = board("AA AA")
    assert len(list(paths_of(same, LOOSE, "AAAA"))) == 24
    assert len(covers(same, rules(crossing=False), lexicon_of_words("AAAA"))) == 1


def test_words_cross_only_if_all_their_paths_do() -> None:
    # Straight down twice, or crosswise twice: crosswise is legal only if crossing is.
    puzzle, words = board("AA BB"), lexicon_of_words("AB")
    assert len(covers(puzzle, LOOSE, words)) == 2
    assert len(covers(puzzle, rules(crossing=False), words)) == 1


@pytest.mark.parametrize(
    ("letters", "word", "path_count", "legal"),
    [
        ("..A. .AXA .YA.", "AAAA", 8, True),  # round the X, or across the line from X to Y
        ("..A. .BXD .YC.", "BADC", 1, True),  # round the X
        ("..A. .BXD .YC.", "ABCD", 1, False),  # across
    ],
)
def test_one_path_of_a_word_that_crosses_no_other_word_is_enough(
    letters: str, word: str, path_count: int, legal: bool
) -> None:
    puzzle, words = board(letters), lexicon_of_words(word, "XY", ".")
    assert len(list(paths_of(puzzle, LOOSE, word))) == path_count
    assert len(covers(puzzle, LOOSE, words)) == 1
    assert len(covers(puzzle, rules(crossing=False), words)) == legal


def test_a_word_twice_is_a_repeat_wherever_it_lies() -> None:
    puzzle, words = board("ABAB"), lexicon_of_words("AB", "ABAB")
    assert words_in(covers(puzzle, LOOSE, words)) == [["AB", "AB"], ["ABAB"]]
    assert words_in(covers(puzzle, rules(repeats=False), words)) == [["ABAB"]]


def test_the_number_of_words_excludes_the_spangram() -> None:
    puzzle, words = (
        board("ABC DEF", theme_words=1),
        lexicon_of_words("ABC", "DEF", "AD", "BC", "EF"),
    )
    free = rules(spangram="required")
    # The rows span both; the spangram is one of them, the other a theme word. AD spans as well.
    assert words_in(covers(puzzle, free, words)) == [["ABC", "DEF"], ["AD", "BC", "EF"]]
    given = rules(spangram="required", words="given")
    assert words_in(covers(puzzle, given, words)) == [["ABC", "DEF"]]
    two = board("ABC DEF", theme_words=2)
    assert words_in(covers(two, given, words)) == [["AD", "BC", "EF"]]
    assert words_in(covers(two, rules(words="given"), words)) == [["ABC", "DEF"]]
    assert words_in(covers(two, rules(spangram="one"), words)) == [["AD", "BC", "EF"]]


def test_on_a_board_of_one_row_every_piece_spans_it() -> None:
    puzzle, words = board("ABC"), lexicon_of_words("A", "BC", "ABC")
    assert words_in(covers(puzzle, rules(spangram="required"), words)) == [["A", "BC"], ["ABC"]]
    assert words_in(covers(puzzle, rules(spangram="one"), words)) == [["ABC"]]
    assert spans(puzzle, [(0, 1)])
    assert not spans(board("ABC DEF"), [(0, 1)])


def test_a_compound_is_one_spangram_and_no_word() -> None:
    puzzle = board("ABC DEF")
    words = lexicon_of_words("AB", "C", "DEF", "DE", "F")
    joined = rules(spangram="required", compound_parts=2)
    single = rules(spangram="required")
    assert words_in(covers(puzzle, single, words)) == [["AB", "C", "DEF"]]
    found = words_in(covers(puzzle, joined, words))
    assert ["ABC", "DEF"] in found
    # Two compounds, AB + C and DE + F, are never in one cover.
    fewer = lexicon_of_words("AB", "C", "DE", "F")
    assert words_in(covers(puzzle, single, fewer)) == []
    joined_fewer = words_in(covers(puzzle, joined, fewer))
    assert ["ABC", "DEF"] not in joined_fewer
    assert ["ABC", "DE", "F"] in joined_fewer
    assert ["AB", "C", "DEF"] in joined_fewer
    # If exactly one may span: DEF, a word, spans as well.
    alone = words_in(covers(puzzle, rules(spangram="one", compound_parts=2), words))
    assert ["ABC", "DEF"] not in alone


def test_letters_cut_in_several_ways_are_one_compound() -> None:
    puzzle, words = board("ABC"), lexicon_of_words("A", "BC", "AB", "C")
    found = covers(puzzle, rules(spangram="required", compound_parts=3), words)
    assert sum(len(cover) == 1 for cover in found) == 1


def test_rare_words_are_not_parts() -> None:
    puzzle = board("ABC DEF")
    words = Vocabulary(words={"AB": 300, "C": 299, "DEF": 500})
    assert words_in(covers(puzzle, rules(spangram="one", compound_parts=2), words)) == [
        ["AB", "C", "DEF"],
        ["ABDEF", "C"],  # from B diagonally to D
    ]
    lower = rules(spangram="required", compound_parts=2, part_centizipf=299)
    assert ["ABC", "DEF"] in words_in(covers(puzzle, lower, words))


def test_a_long_part_may_be_rarer_but_all_parts_together_only_so_rare() -> None:
    puzzle = board("ABCDE")
    words = Vocabulary(words={"ABCD": 250, "E": 300})
    at_limit = rules(spangram="required", compound_parts=2, compound_centibels=650 + 600)
    assert words_in(covers(puzzle, at_limit, words)) == [["ABCD", "E"], ["ABCDE"]]
    below = rules(spangram="required", compound_parts=2, compound_centibels=650 + 599)
    assert words_in(covers(puzzle, below, words)) == [["ABCD", "E"]]
    rarer = Vocabulary(words={"ABCD": 249, "E": 300})
    assert words_in(covers(puzzle, at_limit, rarer)) == [["ABCD", "E"]]


def test_the_least_length_is_that_of_pieces_not_of_parts() -> None:
    puzzle, words = board("ABCD"), lexicon_of_words("AB", "CD")
    long = rules(spangram="required", compound_parts=2, min_letters=3)
    assert words_in(covers(puzzle, long, words)) == [["ABCD"]]
    assert covers(puzzle, rules(min_letters=3), words) == set()


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        ([("AB", [(0, 0), (0, 1)])], "every cell"),
        ([("AB", [(0, 0), (0, 1)]), ("CD", [(1, 0), (1, 1)])], ""),
        ([("AD", [(0, 0), (1, 1)]), ("BC", [(0, 1), (1, 0)])], "cross"),
        ([("BA", [(0, 0), (0, 1)]), ("CD", [(1, 0), (1, 1)])], "neither"),
        ([("CD", [(0, 0), (0, 1)]), ("AB", [(1, 0), (1, 1)])], "no path"),
    ],
)
def test_invalid_covers_are_explained(
    pieces: list[tuple[str, list[tuple[int, int]]]], reason: str
) -> None:
    words = lexicon_of_words("AB", "CD", "AD", "BC")
    said = why_no_cover(
        board("AB CD"),
        rules(crossing=False),
        words,
        [(word, frozenset(cells)) for word, cells in pieces],
    )
    assert reason in said
    assert bool(reason) == bool(said)


def test_paths_cross_only_in_one_block() -> None:
    assert cross(((0, 0), (1, 1)), ((1, 0), (0, 1)))
    assert not cross(((0, 0), (1, 1)), ((0, 1), (1, 2)))
    assert not cross(((0, 0), (0, 1)), ((1, 0), (1, 1)))


@settings(max_examples=drawn(80), deadline=None)
@given(instance=st.one_of(instances(), zoned()))
def test_the_oracles_agree(instance: Instance) -> None:
    question = instance.puzzle, instance.rules, instance.vocabulary
    found = small(instance, most_covers=100)
    try:
        by_cp_sat = strands_cp_sat.enumerate_covers(*question, time_limit_s=5, most_steps=5_000)
    except TooLargeError:
        assume(False)
    assume(by_cp_sat.complete)
    assert by_cp_sat.covers == found
    assert all(why_no_cover(*question, cover) == "" for cover in found)


@settings(max_examples=drawn(30), deadline=None)
@given(instance=instances())
def test_mirrored_and_turned_boards_have_the_mirrored_and_turned_covers(
    instance: Instance,
) -> None:
    found = small(instance, most_covers=150)
    puzzle, others = instance.puzzle, (instance.rules, instance.vocabulary)
    assert enumerate_covers(mirrored(puzzle), *others) == {
        mirror_cover(puzzle, cover) for cover in found
    }
    assert enumerate_covers(turned(puzzle), *others) == {turn_cover(cover) for cover in found}


def test_pieces_have_all_their_paths() -> None:
    puzzle = board("AB BA")
    found = pieces_of(puzzle, LOOSE, lexicon_of_words("AB", "ABA"))
    assert sum(word == "AB" for word, _ in found) == 4
    assert {len(paths) for (word, _), paths in found.items() if word == "ABA"} == {2}


def small(instance: Instance, *, most_covers: int) -> set[Covering]:
    """Enumerate by brute force; reject the example if that takes long."""
    found = quick_covers(instance)
    assume(found is not None and len(found) <= most_covers)
    assert found is not None
    return found
