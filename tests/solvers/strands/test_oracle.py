"""The solver of Strands agrees with brute force for every ask under all rules."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Outcome, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules, Words
from nightgrid.solvers.strands.solution import Cover, cover_from_json, cover_to_json
from tests.drawn import drawn
from tests.oracles.strands_brute_force import (
    Covering,
    Steps,
    TooLargeError,
    are_neighbours,
    cross,
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
    needs_solver,
    quick_covers,
    turn_cover,
    turned,
    zoned,
)

pytestmark = needs_solver

COUNT, FIRST, ALL = Ask(kind="count"), Ask(kind="first"), Ask(kind="all")
SIX = (COUNT, FIRST, ALL, Ask(kind="all", limit=3), Ask.parse("best(1)"), Ask.parse("best(4)"))
MOST_STEPS = 5_000
LISTED = 150
"""Boards with more covers are counted and not listed."""
either = st.one_of(instances(), zoned(), zoned())
"""Boards at random, and boards that a spangram divides."""


def game_of(instance: Instance) -> Game[Any, Any]:
    lexicon = compile_lexicon(instance.vocabulary.words.items())
    return game("strands", str(instance.rules), lexicon)


def best(k: int) -> Ask:
    return Ask(kind="best", limit=k)


def identities(outcome: Outcome[Cover]) -> list[Covering]:
    return [cover.identity for cover in outcome.solutions]


def truth(instance: Instance) -> set[Covering]:
    """Enumerate by brute force; reject the example if that takes long."""
    covers = quick_covers(instance)
    assume(covers is not None)
    assert covers is not None
    return covers


def few_covers(strands: Game[Any, Any], instance: Instance) -> int:
    """Count the covers; reject the example if they, or the pieces, are too many to list."""
    try:
        pieces_of(instance.puzzle, instance.rules, instance.vocabulary, Steps(MOST_STEPS))
    except TooLargeError:
        reject()
    count = strands.solve(instance.puzzle, COUNT).count
    assert count is not None
    assume(count <= LISTED)
    return count


def assert_well_formed(instance: Instance, cover: Cover) -> None:
    """Check a cover: its paths spell, step and do not cross; its parts are parts."""
    puzzle, rules, vocabulary = instance.puzzle, instance.rules, instance.vocabulary
    assert why_no_cover(puzzle, rules, vocabulary, cover.identity) == ""
    assert len(cover.identity) == len(cover.entries)
    for entry in cover.entries:
        assert entry.word == "".join(puzzle.board[r][c] for r, c in entry.path)
        assert all(are_neighbours(a, b, rules) for a, b in itertools.pairwise(entry.path))
        assert len(entry.cells) == len(entry.path)
        assert "".join(entry.components) == entry.word
        if entry.word in vocabulary.words:
            assert entry.components == (entry.word,)
        else:
            assert entry is cover.spangram
            assert 2 <= len(entry.components) <= rules.compound_parts
            assert set(entry.components) <= set(vocabulary.parts(rules))
    if not rules.crossing:
        for one, other in itertools.combinations(cover.entries, 2):
            assert not cross(one.path, other.path)
    assert cover.score == vocabulary.score(rules, cover.identity)
    assert (cover.spangram is None) == (rules.spangram == "off")
    assert cover.spangram is None or spans(puzzle, cover.spangram.path)
    firsts = [min(entry.path) for entry in cover.theme_words]
    assert firsts == sorted(firsts)
    assert cover_from_json(json.loads(json.dumps(cover_to_json(cover)))) == cover


def assert_all_asks_agree(strands: Game[Any, Any], instance: Instance, count: int) -> None:
    """`all`, its prefixes, its stream, `first` and `best` are views of one list."""
    puzzle = instance.puzzle
    whole = strands.solve(puzzle, ALL)
    assert whole.count == len(whole.solutions) == len(set(identities(whole))) == count
    assert whole.status is (Status.SOLVED if count else Status.UNSOLVABLE)
    assert not whole.truncated
    assert tuple(strands.stream(puzzle, ALL)) == whole.solutions
    for cover in whole.solutions:
        assert_well_formed(instance, cover)
    first = strands.solve(puzzle, FIRST)
    assert first.count == len(first.solutions) == min(count, 1)
    assert set(identities(first)) <= set(identities(whole))
    for limit in {1, 2, max(1, count - 1), count + 1}:
        some = strands.solve(puzzle, Ask(kind="all", limit=limit))
        assert some.solutions == whole.solutions[:limit]
        assert some.truncated or limit >= count
        assert not some.truncated or limit <= count
    ranked = sorted(whole.solutions, key=lambda cover: -cover.score)
    for k in {1, 2, 5, max(1, count - 1), count + 3}:
        some = strands.solve(puzzle, best(k))
        assert (some.count, some.solutions) == (count, tuple(ranked[:k]))


def answer(outcome: Outcome[Cover]) -> tuple[Any, ...]:
    return outcome.status, outcome.count, outcome.solutions, outcome.truncated, outcome.reason


def by_splitting(
    strands: Game[Any, Any], instance: Instance, ask: Ask, part: Any, rng: random.Random, depth: int
) -> Outcome[Cover]:
    """Split at random, the parts again, all of it through JSON, and merge level by level."""
    if depth == 0 or (part is not None and rng.random() < 0.4):
        return strands.solve(instance.puzzle, ask, part)
    parts = strands.split(instance.puzzle, ask, part, rng.randint(1, 6))
    assert parts
    return strands.merge(
        instance.puzzle,
        ask,
        [
            by_splitting(strands, instance, ask, json.loads(json.dumps(p)), rng, depth - 1)
            for p in parts
        ],
    )


@pytest.mark.slow
@settings(max_examples=drawn(160), deadline=None)
@given(instance=either)
def test_covers_are_those_of_brute_force(instance: Instance) -> None:
    covers = truth(instance)
    strands = game_of(instance)
    counted = strands.solve(instance.puzzle, COUNT)
    assert counted.count == len(covers)
    assert counted.status is (Status.SOLVED if covers else Status.UNSOLVABLE)
    if len(covers) <= LISTED:
        assert set(identities(strands.solve(instance.puzzle, ALL))) == covers


@pytest.mark.slow
@settings(max_examples=drawn(50), deadline=None)
@given(instance=either)
def test_every_ask_sees_the_same_covers(instance: Instance) -> None:
    strands = game_of(instance)
    count = few_covers(strands, instance)
    assert_all_asks_agree(strands, instance, count)


@pytest.mark.slow
@settings(max_examples=drawn(30), deadline=None)
@given(instance=either, seed=st.integers(0, 2**32))
def test_every_split_merges_to_the_whole(instance: Instance, seed: int) -> None:
    strands = game_of(instance)
    count = few_covers(strands, instance)
    rng = random.Random(seed)
    for ask in SIX:
        whole = answer(strands.solve(instance.puzzle, ask))
        assert count or not whole[2]
        for into in (1, rng.randint(2, 9), 50):
            parts = strands.split(instance.puzzle, ask, None, into)
            outcomes = [strands.solve(instance.puzzle, ask, part) for part in parts]
            assert answer(strands.merge(instance.puzzle, ask, outcomes)) == whole
        nested = by_splitting(strands, instance, ask, None, rng, 4)
        assert answer(nested) == whole


@settings(max_examples=drawn(30), deadline=None)
@given(instance=either, into=st.integers(2, 20))
def test_parts_share_no_cover_and_miss_none(instance: Instance, into: int) -> None:
    strands = game_of(instance)
    few_covers(strands, instance)
    parts = strands.split(instance.puzzle, ALL, None, into)
    joined = [
        cover for part in parts for cover in identities(strands.solve(instance.puzzle, ALL, part))
    ]
    assert len(joined) == len(set(joined))
    assert strands.parts_in_order
    assert list(joined) == list(identities(strands.solve(instance.puzzle, ALL)))


@settings(max_examples=drawn(30), deadline=None)
@given(instance=either)
def test_mirrored_and_turned_boards_have_as_many_covers(instance: Instance) -> None:
    strands = game_of(instance)
    puzzle = instance.puzzle
    counted = few_covers(strands, instance)
    for other in (mirrored(puzzle), turned(puzzle), turned(mirrored(puzzle))):
        assert strands.solve(other, COUNT).count == counted
    covers = identities(strands.solve(puzzle, ALL))
    assert set(identities(strands.solve(mirrored(puzzle), ALL))) == {
        mirror_cover(puzzle, cover) for cover in covers
    }
    assert set(identities(strands.solve(turned(puzzle), ALL))) == {
        turn_cover(cover) for cover in covers
    }


@pytest.mark.slow
@settings(max_examples=drawn(30), deadline=None)
@given(instance=either)
def test_rules_forbid_exactly_what_they_name(instance: Instance) -> None:
    """Counts under stricter rules are those of the looser rules' covers that obey them."""
    loose = replace(
        instance, rules=replace(instance.rules, crossing=True, repeats=True, words="any")
    )
    strands = game_of(loose)
    few_covers(strands, loose)
    covers = identities(strands.solve(loose.puzzle, ALL))
    for crossing, repeats, words in itertools.product(
        (False, True), (False, True), ("given", "any")
    ):
        rules = replace(loose.rules, crossing=crossing, repeats=repeats, words=cast(Words, words))
        obeying = sum(
            why_no_cover(loose.puzzle, rules, loose.vocabulary, cover) == "" for cover in covers
        )
        strict = game_of(replace(loose, rules=rules))
        assert strict.solve(loose.puzzle, COUNT).count == obeying


@pytest.mark.parametrize(
    ("letters", "words", "rules", "count"),
    [
        ("AB CD", ["AD", "BC"], "spangram=off min_letters=1", 0),
        ("AB CD", ["AD", "BC"], "spangram=off min_letters=1 crossing=yes", 1),
        ("AB CD", ["ADBC"], "spangram=required", 1),
        ("AA AA", ["AAAA"], "spangram=off", 1),
        ("AA AA", ["AA"], "spangram=off min_letters=2 repeats=yes", 2),
        ("AA AA", ["AA"], "spangram=off min_letters=2 repeats=yes crossing=yes", 3),
        ("AA AA", ["AA"], "spangram=off min_letters=2", 0),
        ("..A. .AXA .YA.", ["AAAA", "XY", "."], "spangram=off min_letters=1 repeats=yes", 1),
        ("..A. .BXD .YC.", ["BADC", "XY", "."], "spangram=off min_letters=1 repeats=yes", 1),
        ("..A. .BXD .YC.", ["ABCD", "XY", "."], "spangram=off min_letters=1 repeats=yes", 0),
        ("A", ["A"], "min_letters=1", 1),
        ("A", ["B"], "min_letters=1", 0),
        ("ABC", ["A", "BC", "AB", "C"], "min_letters=3", 1),
        ("ABC", ["A", "BC", "AB", "C"], "min_letters=3 compound_parts=1", 0),
    ],
)
def test_small_boards_have_the_covers_found_by_hand(
    letters: str, words: list[str], rules: str, count: int
) -> None:
    instance = Instance(
        puzzle=board(letters), rules=Rules.parse(rules), vocabulary=lexicon_of_words(*words)
    )
    covers = quick_covers(instance)
    assert covers is not None
    assert len(covers) == count
    assert_all_asks_agree(game_of(instance), instance, count)


@pytest.mark.parametrize("into", [1, 2, 9])
def test_a_board_without_a_first_word_is_one_part(into: int) -> None:
    puzzle = Puzzle(board=("AAABB", "AABAB"), theme_words=8)
    words = lexicon_of_words("A", "AAB", "B", "BAA")
    instance = Instance(puzzle=puzzle, rules=Rules(compound_parts=1), vocabulary=words)
    strands = game_of(instance)
    (part,) = strands.split(puzzle, ALL, None, into)
    assert strands.solve(puzzle, ALL, part).count == 0
