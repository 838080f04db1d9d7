"""Published boards have the numbers of solutions that two other programs published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from nightgrid.solvers.algebra import STATUS_CODES, Ask, Budget, Status, count_of
from nightgrid.solvers.game_contract import Game
from tests.oracles import cp_sat
from tests.oracles.brute_force import enumerate_solutions
from tests.solvers.pips.boards import (
    arrangement_of,
    is_solution,
    official_arrangement,
    puzzle_of,
)

pytestmark = pytest.mark.archive

COUNT, FIRST, ALL = Ask(kind="count"), Ask(kind="first"), Ask(kind="all")
LISTED = 20_000
"""Boards with more solutions are counted here and not listed."""
Level = tuple[str, str]
Boards = Mapping[Level, dict[str, Any]]


@pytest.fixture(scope="module")
def counts(pips: Game[Any, Any], published_boards: Boards) -> dict[Level, int]:
    """Our count of every published board, through the batch entry."""
    puzzles = [puzzle_of(board) for board in published_boards.values()]
    columns = pips.solve_batch(pips.to_arrays(puzzles), COUNT, Budget())
    assert {STATUS_CODES[code] for code in columns["status"]} == {Status.SOLVED}
    return {
        level: count_of(columns["count_hi"][row], columns["count_lo"][row])
        for row, level in enumerate(published_boards)
    }


def test_the_archive_is_complete(published_boards: Boards) -> None:
    assert len(published_boards) == 3 * 88


def test_all_88_hard_counts_of_the_article_are_met(
    counts: Mapping[Level, int], article_counts: Mapping[Level, int]
) -> None:
    assert len(article_counts) == 88
    assert {level: counts[level] for level in article_counts} == article_counts


def test_all_183_counts_of_the_second_program_are_met(
    counts: Mapping[Level, int], second_counts: Mapping[Level, int]
) -> None:
    assert len(second_counts) == 183
    assert {level: counts[level] for level in second_counts} == second_counts


def test_official_solutions_are_among_all(
    pips: Game[Any, Any], counts: Mapping[Level, int], published_boards: Boards
) -> None:
    for level, board in published_boards.items():
        official = official_arrangement(board)
        assert is_solution(board, official), level
        if counts[level] > LISTED:
            continue
        outcome = pips.solve(puzzle_of(board), ALL)
        found = {arrangement_of(solution) for solution in outcome.solutions}
        assert len(found) == counts[level], level
        assert official in found, level


def test_the_first_of_every_board_is_a_solution(
    pips: Game[Any, Any], published_boards: Boards
) -> None:
    for level, board in published_boards.items():
        outcome = pips.solve(puzzle_of(board), FIRST)
        assert is_solution(board, arrangement_of(outcome.solutions[0])), level


def test_parts_of_the_hard_boards_add_up(
    pips: Game[Any, Any], counts: Mapping[Level, int], published_boards: Boards
) -> None:
    for number, (level, board) in enumerate(published_boards.items()):
        if level[1] != "hard":
            continue
        puzzle = puzzle_of(board)
        parts = pips.split(puzzle, COUNT, None, 2 + number % 19)
        outcomes = [pips.solve(puzzle, COUNT, part) for part in parts]
        assert pips.merge(puzzle, COUNT, outcomes).count == counts[level], level


def test_easy_boards_have_exactly_the_solutions_of_brute_force(
    pips: Game[Any, Any], published_boards: Boards
) -> None:
    for level, board in published_boards.items():
        if level[1] == "easy":
            outcome = pips.solve(puzzle_of(board), ALL)
            found = sorted(arrangement_of(solution) for solution in outcome.solutions)
            assert found == enumerate_solutions(board), level


def test_revised_boards_are_counted_as_cp_sat_counts_them(
    pips: Game[Any, Any], revisions: list[tuple[str, Level, dict[str, Any]]]
) -> None:
    assert len(revisions) > 35
    for path, (_, level), board in revisions:
        outcome = pips.solve(puzzle_of(board), COUNT)
        oracle = cp_sat.count_solutions(board, limit=3000)
        assert oracle.complete, path
        assert outcome.count == oracle.count, (path, level)
