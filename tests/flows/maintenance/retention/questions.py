"""Questions on demand about generated boards of Pips: asked, answered, cancelled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.archive.results.parts import Part, division_path, parts_of
from nightgrid.archive.results.results import read_results
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.question import question_of
from nightgrid.workers.ondemand.answers import answer_of, put_answers
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.record_files import create_record
from nightgrid.workers.settings import Settings

BOARDS = 8
GAME = bind_game("pips")
QUESTION = question_of(GAME, Ask(kind="first"))
HALVES = tuple(
    Part(path=f"{i}", what=f"half {i}", status="solved", count=1, states=1, seconds=1.0, worker="w")
    for i in range(2)
)


def board(number: int) -> Any:
    """Make a board."""
    return generate(PRESETS["easy"], 9_000 + number)[0]


def puzzle_id(number: int) -> str:
    """Name a board."""
    return GAME.puzzle_id(board(number))


def job_id(number: int) -> str:
    """Name the question about a board."""
    return QUESTION.job_id(puzzle_id(number))


def ask(lake: Lake, *numbers: int) -> None:
    """Keep boards, as a question about them does before it is worked."""
    boards = [(puzzle_id(number), board(number)) for number in numbers]
    keep_asked(lake, [AskedPuzzle(name, "pips", GAME.puzzle_to_json(one)) for name, one in boards])


def want(lake: Lake, number: int) -> None:
    """Keep that an answer about a board is wanted."""
    record = Record(
        job_id=job_id(number),
        question=QUESTION,
        puzzle=GAME.puzzle_to_json(board(number)),
        budget=budget_of(lake),
        submitted_at=time.time(),
    )
    assert create_record(lake, record)


def answer(lake: Lake, *numbers: int, parts: Sequence[Part] = HALVES) -> None:
    """File answers about boards, those of one call in one file; each job was divided."""
    budget, found = budget_of(lake), []
    for number in numbers:
        outcome = GAME.solve(board(number), QUESTION.ask, None, budget.part)
        found.append(answer_of(GAME, board(number), QUESTION, budget, outcome, parts))
    put_answers(lake, found)


def budget_of(lake: Lake) -> JobBudget:
    """Give what a question may cost."""
    return JobBudget.of(Settings(lake=lake.url, var_dir=Path(f"{lake.url}-var")))


def asked(lake: Lake) -> set[int]:
    """Tell which of the boards stand among those that came with questions."""
    found = lake.read_table("asked", ASKED).column("puzzle_id").to_pylist()
    return {number for number in range(BOARDS) if puzzle_id(number) in found}


def divided(lake: Lake) -> set[int]:
    """Tell of which of the boards the lake says what their jobs were divided into."""
    return {
        number
        for number in range(BOARDS)
        if lake.exists(division_path(f"{ONDEMAND_PREFIX}{job_id(number)}"))
    }


def check_shown(lake: Lake) -> set[int]:
    """Look that each row can be shown with its board and its parts; tell which boards have one."""
    rows = read_results(lake).to_pylist()
    for row in rows:
        (found,) = find_boards(lake, IdReference(prefix=row["puzzle_id"]))
        assert found.published.puzzle.puzzle_id == row["puzzle_id"]
        assert row["parts"] == max(1, len(parts_of(lake, row)))
    ids = {row["puzzle_id"] for row in rows}
    return {number for number in range(BOARDS) if puzzle_id(number) in ids}
