"""Take solutions from a stream as JSON texts, and write them into files of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import SOLUTIONS
from nightgrid.archive.results.solution_files import file_path, files_folder
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.settings import Settings

ALL = Ask(kind="all")
CLOCK_STRIDE = 1024
"""Solutions listed between two looks at the clock."""


@dataclass
class Texts:
    """Solutions of a stream as JSON texts, as far as they were taken."""

    texts: list[str]
    text_bytes: int
    is_whole: bool
    """Whether the stream has no more of them."""
    outcome: Outcome[Any]
    """How the stream ended, without its solutions: over budget where that stopped it."""


def take(
    game: Game[Any, Any],
    puzzle: Any,
    part: Any,
    budget: Budget,
    *,
    limit: int | None,
    rows: int,
    text_bytes: int,
) -> Texts:
    """Take the first solutions of a job or part, at most about so many rows and bytes of text.

    Takes one solution more than `rows`, where there is one, to know that there are more.
    """
    deadline = budget.deadline_ns()
    ask = ALL if limit is None else Ask(kind="all", limit=limit)
    stream = game.stream(puzzle, ask, part, budget)
    texts: list[str] = []
    size, is_whole = 0, True
    first: Any = None
    stopped: ReasonCode | None = None
    for solution in stream:
        first = solution if first is None else first
        texts.append(game.solution_text(solution))
        size += len(texts[-1])
        if len(texts) > rows or size > text_bytes:
            is_whole = False
            break
        if len(texts) % CLOCK_STRIDE == 0 and budget.is_over(deadline):
            stopped = ReasonCode.SECONDS
            break
    why = stopped or (stream.reason_code if is_whole else None)
    if why is not None:
        reason = Reason(code=why) if stopped else Reason(code=why, sentence=stream.reason)
        ended: Outcome[Any] = Outcome(
            status=Status.OVER_BUDGET if stopped else stream.status,
            reason_code=reason.code,
            reason=reason.sentence,
            statistics=stream.statistics,
        )
        return Texts([], size, is_whole=False, outcome=ended)
    value = None if first is None else game.value_of([first])
    return Texts(
        texts,
        size,
        is_whole=is_whole,
        outcome=Outcome(
            status=Status.SOLVED if texts else Status.UNSOLVABLE,
            count=len(texts),
            truncated=stream.truncated,
            statistics=stream.statistics,
            value=value,
        ),
    )


class SolutionWriter:
    """Writes solutions into files as they come, each once, named by its ranks."""

    def __init__(
        self, lake: Lake, run: Run, job_id: str, puzzle_id: str, first: int, settings: Settings
    ) -> None:
        self._lake, self._run = lake, run
        self._job_id, self._puzzle_id = job_id, puzzle_id
        self._settings = settings
        self._first = self.rank = first
        """The rank of the next solution."""
        self._texts: list[str] = []
        self._bytes = 0

    def add(self, text: str) -> None:
        """Add the next solution, as a JSON text."""
        settings = self._settings
        is_full = self._bytes + len(text) > settings.tuning.listing_file_bytes
        if len(self._texts) >= settings.tuning.listing_rows or (self._texts and is_full):
            self.flush()
        self._texts.append(text)
        self._bytes += len(text)
        self.rank += 1

    def flush(self) -> None:
        """Write what was added since the last file, unless it is there already.

        Raises RefusalError where this process cannot write to the lake.
        """
        if not self._texts:
            return
        table = solutions_table(self._run, self._job_id, self._puzzle_id, self._first, self._texts)
        folder = files_folder(self._run.run_id)
        path = file_path(folder, self._job_id, self._first, self.rank)
        try:
            self._lake.create_table(path, table)
        except PermanentError as error:
            raise RefusalError(str(error)) from error
        self._first, self._texts, self._bytes = self.rank, [], 0


def solutions_table(
    run: Run, job_id: str, puzzle_id: str, first: int, texts: list[str]
) -> pa.Table:
    """Make the rows of solutions that follow on one another, from rank `first` on."""
    same = {
        "job_id": job_id,
        "puzzle_id": puzzle_id,
        "game": run.question.game,
        "ask": str(run.question.ask),
        "run_id": run.run_id,
    }
    columns: dict[str, Any] = {
        name: pa.repeat(pa.scalar(text), len(texts)) for name, text in same.items()
    }
    columns["rank"] = pa.array(range(first, first + len(texts)), pa.int64())
    columns["solution"] = pa.array(texts, pa.string())
    return pa.table({name: columns[name] for name in SOLUTIONS.names}, schema=SOLUTIONS)
