"""Published days of Letter Boxed have their known solutions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.words.lexicons import accepted_lexicon
from nightgrid.solvers.algebra import STATUS_CODES, Ask, Budget, Status
from nightgrid.solvers.letterboxed.check import check_chain
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon

pytestmark = pytest.mark.archive

SQUARE = Puzzle(sides=("TAP", "ERD", "NIL", "YCO"))
"""The board of article 003."""


@pytest.fixture(scope="module")
def days(published: Path) -> Mapping[str, dict[str, Any]]:
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((published / "letterboxed").glob("*.json"))
    }
    assert len(found) >= 332
    return found


def word_list(published: Path, name: str) -> Lexicon:
    path = published.parent / "words" / name
    if not path.is_file():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no word list at {path}")
        pytest.skip(f"no word list at {path}")
    return compile_lexicon((word.upper(), 0) for word in path.read_text("ascii").split())


@pytest.mark.slow
def test_every_day_is_solved_in_two_words_and_the_official_answer_is_one_of_them(
    days: Mapping[str, dict[str, Any]],
):
    game = LetterBoxedGame(Rules(), None)
    counts = []
    for date, payload in days.items():
        puzzle = Puzzle.from_json(payload)
        outcome = game.solve(puzzle, Ask(kind="all"))
        assert outcome.value in (1, 2), date
        counts.append(outcome.count)
        official = Chain(words=tuple(payload["ourSolution"]))
        check_chain(puzzle, Rules(), official)
        assert outcome.value == 1 or official in outcome.solutions, date
    # All 1,549 published boards have 1 to 2,885 two-word solutions.
    assert min(counts) >= 1
    assert max(counts) <= 2_885


def test_first_chains_of_typed_boards_are_accepted_on_later_days(
    days: Mapping[str, dict[str, Any]],
):
    """The weights were fitted on the days before September."""
    later = [payload for date, payload in days.items() if date >= "2025-09-01"]
    assert len(later) == 122
    game = LetterBoxedGame(Rules(), accepted_lexicon())
    accepted, probabilities = [], []
    for payload in later:
        (chain,) = game.solve(Puzzle(sides=payload["sides"]), Ask(kind="first")).solutions
        accepted += [[word in payload["dictionary"] for word in chain.words]]
        probabilities.append(chain.probability)
    share = sum(map(all, accepted)) / len(later)
    assert share >= 0.95
    assert sum(map(sum, accepted)) >= 0.99 * sum(map(len, accepted))
    assert abs(sum(probabilities) / len(later) - share) < 0.05


def test_a_batch_has_the_counts_of_single_boards(days: Mapping[str, dict[str, Any]]):
    puzzles = [Puzzle.from_json(payload) for payload in list(days.values())[:20]]
    words = {puzzle.dictionary_id: puzzle.dictionary for puzzle in puzzles}
    game = LetterBoxedGame(Rules(chains=3), None, words.__getitem__)
    arrays = game.to_arrays(puzzles)
    columns = game.solve_batch(arrays, Ask(kind="count"), Budget())
    for row, puzzle in enumerate(puzzles):
        assert game.from_arrays(arrays, row) == puzzle
        alone = game.solve(puzzle, Ask(kind="count"))
        assert STATUS_CODES[columns["status"][row]] is Status.SOLVED
        assert columns["count_lo"][row] == alone.count
        assert columns["value"][row] == alone.value == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "count"), [(2, 273), (3, 273 + 298_660)], ids=["two", "up to three"]
)
def test_the_square_has_the_known_number_of_chains_with_enable(
    published: Path, words: int, count: int
):
    game = LetterBoxedGame(Rules(chains=words), word_list(published, "enable1.txt"))
    assert game.solve(SQUARE, Ask(kind="count")).count == count
