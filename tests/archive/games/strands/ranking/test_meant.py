"""The ask `meant(k)`: bound to the ranker, and identified by it and the clue."""

from __future__ import annotations

import pytest

from nightgrid.archive.games.strands.ranking.meant import SMALL, SMALL_CLUE
from nightgrid.archive.games.strands.ranking.plugged import ranker_here
from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import MEANT, Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import check_ask
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import cover_from_json


def test_an_ask_names_how_many_covers_are_wanted():
    assert Ask.parse("meant(5)") == Ask(kind="meant", limit=5)
    assert Ask.parse("meant") == MEANT == Ask.parse(str(MEANT))
    with pytest.raises(PermanentError, match=r"expected at most meant\(100\)"):
        Ask.parse("meant(101)")


def test_other_games_and_bare_solvers_refuse_it_in_one_sentence():
    with pytest.raises(
        PermanentError, match=r"meant\(K\) is for Strands; solutions of Pips cannot"
    ):
        check_ask(MEANT, "pips")
    with pytest.raises(PermanentError, match=r"strands, bound as it is, does not answer meant"):
        StrandsGame(Rules()).solve(SMALL, MEANT)
    with pytest.raises(PermanentError, match="give no rules"):
        bind_game("strands", "words=any", ask=MEANT)


def test_the_question_names_the_ranker_and_the_job_the_clue():
    game = bind_game("strands", ask=MEANT)
    question = question_of(game, MEANT)
    assert question.solver_version == ranker_here()
    clues = [SMALL_CLUE, "plants", "", None]
    boards = [game.clued(SMALL, clue) for clue in clues]
    assert {game.puzzle_id(board) for board in boards} == {SMALL.puzzle_id}
    jobs = [question.job_id(game.subject(board)) for board in boards]
    assert len(set(jobs)) == 3
    assert jobs[2] == jobs[3] == question.job_id(SMALL.puzzle_id)


def test_a_board_keeps_its_clue():
    game = bind_game("strands", ask=MEANT)
    boards = [game.clued(SMALL, clue) for clue in (SMALL_CLUE, None)]
    arrays = arrays_of(puzzles_table(game, boards))
    assert [game.from_arrays(arrays, row) for row in range(2)] == boards
    assert [game.puzzle_from_json(game.puzzle_to_json(board)) for board in boards] == boards


def test_the_likeliest_covers_come_first_with_their_evidence():
    game = bind_game("strands", ask=MEANT)
    board = game.clued(SMALL, SMALL_CLUE)
    every = game.solve(board, MEANT)
    assert every.status is Status.SOLVED
    assert every.count == len(every.solutions) > 1
    sure = [cover["confidence"] for cover in every.solutions]
    assert sure == sorted(sure, reverse=True)
    first = every.solutions[0]
    assert first.keys() > {"components", "signals", "words", "clue"}
    assert {entry.word for entry in cover_from_json(first).entries} == first["words"].keys()
    # Confidence is a share of all that were compared, however many are listed.
    assert game.solve(board, Ask.parse("meant(1)")).solutions == (first,)


def test_a_board_that_is_not_ranked_is_refused_on_input_and_invalid_in_a_run():
    game = bind_game("strands", ask=MEANT)
    unknown = Puzzle(board=SMALL.board)
    with pytest.raises(PermanentError, match="give theme_words"):
        game.clued(unknown, None)
    assert game.solve(unknown, MEANT).status is Status.INVALID


def test_a_budget_ends_a_ranking():
    game = bind_game("strands", ask=MEANT)
    outcome = game.solve(game.clued(SMALL, None), MEANT, None, Budget(seconds=1e-6))
    assert outcome.status is Status.OVER_BUDGET
