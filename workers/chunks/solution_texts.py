"""Solutions as JSON texts: a few in the row of their job, many in files of bounded size."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from nightgrid.archive.lake.schemas import SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.solution_files import file_path, files_folder
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game, over_budget
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, listed_row
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.settings import Settings


class Texts(NamedTuple):
    """Solutions taken from a stream, as JSON texts."""

    texts: list[str]
    text_bytes: int
    is_whole: bool
    """Whether the stream is exhausted."""
    outcome: Outcome[Any]
    """The end of the stream, without its solutions."""

    def in_row(self) -> Outcome[Any]:
        """Return the outcome of a job with its solutions inline; too many are over budget."""
        if self.is_whole or self.outcome.reason_code is not None:
            return self.outcome
        sentence = f"{len(self.texts):,} solutions and more: too many for one row"
        reason = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
        return over_budget(reason, self.outcome.statistics)

    def row(self, head: Row) -> Row:
        """Return the PARTS row of a job with its solutions inline."""
        outcome = self.in_row()
        has_texts = outcome.reason_code is None
        return listed_row(
            head, outcome, solutions=f"[{','.join(self.texts)}]" if has_texts else None
        )


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
    """Take the first solutions of a job or part, up to about so many rows and bytes of text.

    Takes one more than `rows` if there is one, to know that there are more.
    """
    stream = game.stream(puzzle, Ask(kind="all", limit=limit), part, budget)
    texts: list[str] = []
    size, first = 0, None
    for solution in stream:
        first = solution if first is None else first
        texts.append(game.solution_text(solution))
        size += len(texts[-1])
        if len(texts) > rows or size > text_bytes:
            break
    is_whole = len(texts) <= rows and size <= text_bytes
    if is_whole and stream.reason_code is not None:
        reason = Reason(code=stream.reason_code, sentence=stream.reason)
        spent = replace(over_budget(reason, stream.statistics), status=stream.status)
        return Texts([], size, is_whole=False, outcome=spent)
    outcome: Outcome[Any] = Outcome(
        status=Status.SOLVED if texts else Status.UNSOLVABLE,
        count=len(texts),
        truncated=stream.truncated,
        statistics=stream.statistics,
        value=None if first is None else game.value_of([first]),
    )
    return Texts(texts, size, is_whole=is_whole, outcome=outcome)


def solve_whole(
    game: Game[Any, Any], puzzle: Any, ask: Ask, budget: Budget, settings: Settings
) -> Outcome[Any]:
    """Solve a job in one piece; over budget if it has more solutions than fit into a result row."""
    if ask.kind != "all":
        return game.solve(puzzle, ask, None, budget)
    rows, text_bytes = settings.tuning.listing_rows, settings.tuning.listing_row_bytes
    taken = take(game, puzzle, None, budget, limit=ask.limit, rows=rows, text_bytes=text_bytes)
    outcome = taken.in_row()
    if outcome.reason_code is not None:
        return outcome
    values = (game.solution_from_json(json.loads(text)) for text in taken.texts)
    return replace(outcome, solutions=tuple(values))


class SolutionWriter:
    """Writes solutions into files as they arrive, named by their ranks, each file once."""

    def __init__(
        self, lake: Lake, run: Run, job_id: str, puzzle_id: str, first: int, settings: Settings
    ) -> None:
        self._lake, self._run = lake, run
        self._job_id, self._puzzle_id = job_id, puzzle_id
        self._tuning = settings.tuning
        self._first = self.rank = first
        """Rank of the next solution."""
        self._texts: list[str] = []
        self._bytes = 0

    def add(self, text: str) -> None:
        """Add the next solution, as a JSON text."""
        is_full = self._bytes + len(text) > self._tuning.listing_file_bytes
        if len(self._texts) >= self._tuning.listing_rows or (self._texts and is_full):
            self.flush()
        self._texts.append(text)
        self._bytes += len(text)
        self.rank += 1

    def flush(self) -> None:
        """Write the solutions added since the last file, unless that file exists already.

        Raises RefusalError if this process cannot write to the lake.
        """
        if not self._texts:
            return
        folder = files_folder(self._run.run_id)
        path = file_path(folder, self._job_id, self._first, self.rank)
        try:
            self._lake.write_table(path, self._table(), new=True)
        except PermanentError as error:
            raise RefusalError(str(error)) from error
        self._first, self._texts, self._bytes = self.rank, [], 0

    def _table(self) -> pa.Table:
        rows = len(self._texts)
        same = {
            "job_id": self._job_id,
            "puzzle_id": self._puzzle_id,
            "game": self._run.question.game,
            "ask": str(self._run.question.ask),
            "run_id": self._run.run_id,
        }
        columns: dict[str, Any] = {name: pa.repeat(text, rows) for name, text in same.items()}
        columns["rank"] = pa.array(range(self._first, self.rank), pa.int64())
        columns["solution"] = pa.array(self._texts, pa.string())
        return pa.table({name: columns[name] for name in SOLUTIONS.names}, schema=SOLUTIONS)
