"""List the solutions of one job or part: few go into its result row, many into files.

A job with too many solutions for one file is counted first and split into ranges of the canonical
order; a range that is still too large is split again by its own chunk. So no process holds more
solutions than one file, and no part takes long.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import COST_COLUMNS, Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.game_contract import Game, over_budget
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, listed_row, result_row
from nightgrid.workers.chunks.solution_texts import SolutionWriter, Texts, take
from nightgrid.workers.runs.finishing.gathering import SPLIT
from nightgrid.workers.runs.listed import ListedPart, Piece, packed, ranks_json
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.settings import Settings

ALL, COUNT = Ask(kind="all"), Ask(kind="count")
CUT_INTO = 64
"""Approximate number of parts of the game that one piece of a listing is split into at once."""
RANGES = 256
"""Most ranges that one chunk splits a listing into by rank alone."""


@dataclass
class Listing:
    """The listing of the only row of a chunk, within the run's budget."""

    lake: Lake
    run: Run
    game: Game[Any, Any]
    puzzle: Any
    head: Row
    settings: Settings
    statistics: Statistics = field(default_factory=Statistics)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.run.budget.seconds

    def row(self, part: Any) -> Row:
        """Answer `all` for a ListedPart, a part of the game, or None for the whole job.

        The solutions are in the PARTS row or already in files; or the row is `split` into ranges. A
        row over budget may be divided like any other job.
        """
        row = self._ranks(part) if isinstance(part, ListedPart) else self._uncounted(part)
        return row | {name: getattr(self.statistics, name) for name in COST_COLUMNS}

    def _left(self) -> Budget:
        left_s = max(self._deadline - time.monotonic(), 1e-3)
        return replace(self.run.budget, seconds=left_s)

    def _writer(self, first: int) -> SolutionWriter:
        puzzle_id = self.game.puzzle_id(self.puzzle)
        job_id = self.head["job_id"]
        return SolutionWriter(self.lake, self.run, job_id, puzzle_id, first, self.settings)

    # -- a job or part not counted yet ---------------------------------------------

    def _uncounted(self, part: Any) -> Row:
        """List what fits into one file; otherwise count and split."""
        tuning, is_part = self.settings.tuning, bool(self.head["part_path"])
        # A driver joins the rows of parts.
        text_bytes = tuning.listing_chunk_bytes if is_part else tuning.listing_file_bytes
        taken = take(
            self.game, self.puzzle, part, self._left(), limit=self.run.question.ask.limit,
            rows=tuning.listing_rows, text_bytes=text_bytes,
        )  # fmt: skip
        self.statistics += taken.outcome.statistics
        is_small = taken.is_whole and taken.text_bytes <= tuning.listing_row_bytes
        if taken.outcome.reason_code is not None or is_small or is_part:
            # The ranks of a part are unknown if its board cannot be counted as a whole.
            return taken.row(self.head)
        if not taken.is_whole:
            return self._counted(taken)
        writer = self._writer(0)
        for text in taken.texts:
            writer.add(text)
        return self._in_files(writer, 0, taken.outcome.value)

    def _counted(self, taken: Texts) -> Row:
        """Count a whole job whose first solutions are known, and split it."""
        counted = self.game.solve(self.puzzle, COUNT, None, self._left())
        self.statistics += counted.statistics
        if counted.count is None:
            return listed_row(self.head, counted)
        limit = self.run.question.ask.limit
        wanted = counted.count if limit is None else min(counted.count, limit)
        mean = taken.text_bytes / len(taken.texts)
        budget = self.run.solution_bytes or self.settings.budget_solution_bytes
        if wanted * mean > budget:
            sentence = (
                f"{wanted:,} solutions of about {mean:.0f} bytes each: more than the budget of "
                f"{budget:,} bytes of solutions"
            )
            reason = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
            return listed_row(self.head, over_budget(reason, self.statistics))
        piece, value = Piece(None, 0, wanted), taken.outcome.value
        fitting = int(self.settings.tuning.listing_file_bytes / mean)
        rows = max(1, min(self.settings.tuning.listing_rows, fitting))
        return self._split(ListedPart(first=0, stop=wanted, pieces=(piece,), value=value), rows)

    # -- a range of ranks --------------------------------------------------------------------

    def _ranks(self, part: ListedPart) -> Row:
        """List a range into files, or split it again.

        Raises RuntimeError if there are fewer solutions than were counted.
        """
        if part.stop - part.first > self.settings.tuning.listing_rows:
            return self._split(part, self.settings.tuning.listing_rows)
        writer = self._writer(part.first)
        for piece in part.pieces:
            stream = self.game.stream(self.puzzle, ALL, piece.part, self._left())
            stream.skip = piece.skip
            before = writer.rank
            for solution in islice(stream, piece.take):
                writer.add(self.game.solution_text(solution))
            self.statistics += stream.statistics
            is_short = writer.rank - before < piece.take
            if is_short and stream.reason_code is not None:
                reason = Reason(code=stream.reason_code, sentence=stream.reason)
                return listed_row(self.head, over_budget(reason, self.statistics))
            if is_short:
                raise RuntimeError(
                    f"ranks {part.first} to {part.stop - 1} of job {self.head['job_id']}: fewer "
                    "solutions than were counted"
                )
        return self._in_files(writer, part.first, part.value)

    def _in_files(self, writer: SolutionWriter, first: int, value: int | None) -> Row:
        writer.flush()
        outcome: Outcome[Any] = Outcome(
            status=Status.SOLVED, count=writer.rank - first, value=value
        )
        return listed_row(self.head, outcome, children=ranks_json(first, writer.rank))

    # -- splitting -----------------------------------------------------------------------------

    def _split(self, part: ListedPart, rows: int) -> Row:
        """Split a part into ranges of about `rows` solutions."""
        pieces = [small for piece in part.pieces for small in self._cut(piece, rows)]
        children, first = [], part.first
        for group in packed(pieces, rows):
            stop = first + sum(piece.take for piece in group)
            children.append(replace(part, first=first, stop=stop, pieces=tuple(group)).to_json())
            first = stop
        sentence = f"{part.stop - part.first:,} solutions, in {len(children)} ranges"
        reason = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
        return result_row(self.head, SPLIT, reason, children=canonical_json(children))

    def _cut(self, piece: Piece, rows: int) -> list[Piece]:
        """Split a piece by counted parts of the game, or else by rank alone."""
        if piece.take <= rows:
            return [piece]
        found: list[Piece] = []
        left = piece.take
        if self.game.parts_in_order and not piece.skip:
            for part in self.game.split(self.puzzle, ALL, piece.part, CUT_INTO):
                counted = self.game.solve(self.puzzle, COUNT, part, self._left())
                self.statistics += counted.statistics
                if counted.count is None:
                    break
                found.append(Piece(part, 0, min(counted.count, left)))
                left -= found[-1].take
                if not left:
                    break
        if not left and len(found) > 1:
            return found
        # Solutions before each range are searched for and skipped.
        size = max(rows, -(-piece.take // RANGES))
        return [
            Piece(piece.part, piece.skip + at, min(size, piece.take - at))
            for at in range(0, piece.take, size)
        ]
