"""Equivalent rules have the same normal form, and rules with different forms differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Outcome
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.letterboxed.puzzle import Puzzle as ChainBoard
from nightgrid.solvers.letterboxed.rules import Rules as ChainRules
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.tiles.puzzle import Puzzle as TileBoard
from nightgrid.solvers.tiles.rules import Rules as WalkRules
from nightgrid.solvers.tiles.solution import Walk
from tests.drawn import drawn
from tests.oracles.tiles_check import check_walk
from tests.solvers.strands.boards import Instance, all_rules, instances, random_instance, zoned

COUNT = Ask(kind="count")
ASKS = (COUNT, Ask(kind="first"), Ask(kind="all", limit=40), Ask(kind="best", limit=4))


def strands(instance: Instance, rules: Rules) -> StrandsGame:
    """Bind the game to rules as given, not to their normal form."""
    return StrandsGame(rules, compile_lexicon(instance.vocabulary.words.items()))


def told(outcome: Outcome[Any]) -> tuple[object, ...]:
    """An answer without its cost."""
    said = outcome.status, outcome.count, outcome.solutions, outcome.value
    return *said, outcome.truncated, outcome.reason


@given(rules=all_rules)
def test_the_normal_form_is_unique_and_is_written(rules: Rules) -> None:
    normal = rules.normal()
    assert normal.normal() == normal
    assert Rules.parse(str(rules)) == normal
    assert str(rules) == str(normal)


@given(
    rules=st.one_of(
        all_rules.map(lambda r: replace(r, spangram="off")),
        all_rules.map(lambda r: replace(r, compound_parts=1)),
        all_rules.map(lambda r: replace(r, diagonal=False)),
    ),
    others=all_rules,
)
def test_irrelevant_rules_change_neither_line_nor_question(rules: Rules, others: Rules) -> None:
    same = rules
    if not rules.diagonal:
        same = replace(same, crossing=others.crossing)
    if rules.spangram == "off":
        same = replace(same, compound_parts=others.compound_parts)
    if rules.spangram == "off" or rules.compound_parts == 1:
        same = replace(
            same,
            part_centizipf=others.part_centizipf,
            compound_centibels=others.compound_centibels,
        )
    assert str(same) == str(rules)
    one, other = (question_of(StrandsGame(r, None), COUNT) for r in (same, rules))
    assert one == other
    assert one.job_id("p") == other.job_id("p")


some_irrelevant = st.one_of(
    all_rules.map(lambda r: replace(r, spangram="off")),
    all_rules.map(lambda r: replace(r, compound_parts=1)),
    all_rules.map(lambda r: replace(r, diagonal=False)),
).filter(lambda r: r.normal() != r)


@pytest.mark.slow
@settings(max_examples=drawn(60), deadline=None)
@given(
    instance=st.one_of(
        instances(some_irrelevant, most_cells=16),
        zoned(some_irrelevant.filter(lambda r: r.spangram != "off")),
    )
)
def test_rules_of_one_normal_form_give_the_same_answers(instance: Instance) -> None:
    given_rules = strands(instance, instance.rules)
    normal = strands(instance, instance.rules.normal())
    for ask in ASKS:
        one, other = (bound.solve(instance.puzzle, ask) for bound in (given_rules, normal))
        assert told(one) == told(other)


SETTINGS: dict[str, tuple[str, ...]] = {
    "spangram": (
        "spangram=required words=any min_letters=2",
        "spangram=one words=any min_letters=2",
        "spangram=off words=any min_letters=2",
    ),
    "words": ("words=given min_letters=2", "words=any min_letters=2"),
    "crossing": (
        "spangram=off words=any min_letters=1 crossing=no",
        "spangram=off words=any min_letters=1 crossing=yes",
    ),
    "repeats": (
        "spangram=off words=any min_letters=1 repeats=no",
        "spangram=off words=any min_letters=1 repeats=yes",
    ),
    "diagonal": (
        "spangram=off words=any min_letters=1 diagonal=yes",
        "spangram=off words=any min_letters=1 diagonal=no",
    ),
    "min_letters": tuple(f"spangram=off words=any min_letters={n}" for n in (1, 2, 3, 4)),
    "compound_parts": tuple(
        f"words=any min_letters=1 part_centizipf=0 compound_centibels=10000 compound_parts={n}"
        for n in (1, 2, 3)
    ),
    "part_centizipf": tuple(
        f"words=any min_letters=1 compound_centibels=10000 part_centizipf={n}"
        for n in (0, 300, 450)
    ),
    "compound_centibels": tuple(
        f"words=any min_letters=1 part_centizipf=0 compound_centibels={n}"
        for n in (0, 1100, 10_000)
    ),
}


def told_apart(
    lines: Iterable[str], boards: Callable[[random.Random], Callable[[str], object]]
) -> set[tuple[str, str]]:
    """Find pairs of rules that differ on some random board; stop when all are found."""
    missing = set(combinations(lines, 2))
    found: set[tuple[str, str]] = set()
    for seed in range(1000):
        if not missing:
            break
        answer = boards(random.Random(seed))
        answers = {line: answer(line) for line in {line for pair in missing for line in pair}}
        found |= {(a, b) for a, b in missing if answers[a] != answers[b]}
        missing -= found
    return found


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_that_is_left_in_the_normal_form_of_strands_matters(setting: str) -> None:
    assert set(SETTINGS) == {field.name for field in fields(Rules)}
    lines = [str(Rules.parse(line)) for line in SETTINGS[setting]]
    assert len(set(lines)) == len(lines)

    def boards(rng: random.Random) -> Callable[[str], object]:
        instance = random_instance(rng, Rules.parse(rng.choice(lines)), most_cells=10)
        return lambda line: told(strands(instance, Rules.parse(line)).solve(instance.puzzle, COUNT))

    assert told_apart(lines, boards) == set(combinations(lines, 2))


def test_every_setting_of_letter_boxed_matters() -> None:
    chains: tuple[Any, ...] = ("fewest-words", "fewest-letters", 1, 2, 3)
    lines = [str(ChainRules(chains=c, min_letters=n)) for c in chains for n in (1, 2, 3, 4)]
    games: dict[str, Game[Any, Any]] = {line: game("letterboxed", line) for line in lines}

    def boards(rng: random.Random) -> Callable[[str], object]:
        text = rng.sample("ABCDEF", rng.randint(1, 6))
        many = rng.randint(2, 3)
        words = {"".join(rng.choices(text, k=rng.randint(1, 6))) for _ in range(60)}
        board = ChainBoard(
            sides=tuple(side for i in range(many) if (side := "".join(text[i::many]))),
            dictionary=tuple(sorted(words)),
        )
        return lambda line: told(games[line].solve(board, COUNT))

    assert told_apart(lines, boards) == set(combinations(lines, 2))


def test_every_setting_of_tiles_matters() -> None:
    ring = TileBoard(tiles=(("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")))
    away = Walk(tiles=(0, 1, 2, 0, 2, 3, 1), teleports=(2, 4))
    check_walk(ring, away, WalkRules(teleports="yes"))
    with pytest.raises(AssertionError, match="breaks the combo"):
        check_walk(ring, away, WalkRules(teleports="forced"))
    # No board is known on which that costs a move, and none is proven not to exist: the walks
    # differ, but have as few moves.
    board = TileBoard(tiles=tuple(map(tuple, ("BCDEF", "ACDEFG", "BCDEGH", "ABDFG", "BCEFGH"))))
    apart = TileBoard(tiles=(("A",), ("A",), ("B",), ("B",)))
    lines = [str(WalkRules(teleports=t)) for t in ("yes", "forced", "no")]
    best = Ask.parse("best(1)")
    answers = [
        [told(game("tiles", line).solve(puzzle, best)) for puzzle in (board, apart)]
        for line in lines
    ]
    assert all(one != other for one, other in combinations(answers, 2))
