"""List the solutions of one job or part: few into its result row, many into files of their own.

What has too many solutions for one file is counted, cut into ranges of the canonical order whose
counts are known, and comes back split; a range that is too large is cut again. So no process holds
more solutions than a file does, and no part takes long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import COST_COLUMNS, Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.base_game import over_budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.inline_solutions import inline_row
from nightgrid.workers.chunks.result_rows import Row, listed_row, result_row
from nightgrid.workers.chunks.solution_texts import (
    ALL,
    CLOCK_STRIDE,
    SolutionWriter,
    Texts,
    take,
)
from nightgrid.workers.runs.finishing.gathering import SPLIT
from nightgrid.workers.runs.listed import InFiles, ListedPart, Piece, packed, sliced, windows
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.settings import Settings

COUNT = Ask(kind="count")
CUT_INTO = 16
"""Parts that a part is cut into at once, about, before they are counted."""
RANGES = 256
"""Ranges that one chunk cuts a listing into, about; larger ones are cut again in theirs."""


def list_row(
    lake: Lake,
    run: Run,
    game: Game[Any, Any],
    head: Row,
    puzzle: Any,
    part: Any,
    settings: Settings,
) -> Row:
    """Answer `all` for the one row of a chunk; return its PARTS row.

    `part` is a ListedPart, a part of the game, or None for the whole job. The solutions lie in
    the row, or in files by the time this returns; or the row is `split` into ranges of them. What
    is over budget otherwise may be divided like any other job.
    """
    listing = _Listing(lake, run, game, puzzle, head, game.puzzle_id(puzzle), settings)
    return listing.ranks(part) if isinstance(part, ListedPart) else listing.uncounted(part)


@dataclass
class _Listing:
    """The listing of one row, within the time of a chunk."""

    lake: Lake
    run: Run
    game: Game[Any, Any]
    puzzle: Any
    head: Row
    puzzle_id: str
    settings: Settings
    statistics: Statistics = field(default_factory=Statistics)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.run.budget.seconds
        self._limit = self.run.question.ask.limit

    def _left(self) -> Budget:
        """Return what may still be spent."""
        left_s = max(self._deadline - time.monotonic(), 1e-3)
        return replace(self.run.budget, seconds=left_s)

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline or self.run.budget.stopped is not None

    def _writer(self, first: int) -> SolutionWriter:
        job_id = self.head["job_id"]
        return SolutionWriter(self.lake, self.run, job_id, self.puzzle_id, first, self.settings)

    # -- a job or part of which nothing is known ---------------------------------------------

    def uncounted(self, part: Any) -> Row:
        """List what fits into a file; cut what does not."""
        tuning, is_part = self.settings.tuning, bool(self.head["part_path"])
        # A driver joins the rows of parts.
        text_bytes = tuning.listing_chunk_bytes if is_part else tuning.listing_file_bytes
        taken = take(
            self.game, self.puzzle, part, self._left(), limit=self._limit,
            rows=tuning.listing_rows, text_bytes=text_bytes,
        )  # fmt: skip
        self.statistics += taken.outcome.statistics
        is_small = taken.is_whole and taken.text_bytes <= tuning.listing_row_bytes
        if taken.outcome.reason_code is not None or is_small or is_part:
            # The ranks of a part are not known: it is of a board that cannot be counted whole.
            return inline_row(self.head, taken)
        if taken.is_whole:
            writer = self._writer(0)
            for text in taken.texts:
                writer.add(text)
            writer.flush()
            return self._in_files(0, len(taken.texts), taken.outcome)
        return self._counted(taken)

    def _counted(self, taken: Texts) -> Row:
        """Count a whole job, of which the first solutions are known, and cut it."""
        counted = self.game.solve(self.puzzle, COUNT, None, self._left())
        self.statistics += counted.statistics
        known, limit = counted.count, self._limit
        if known is None and limit is None:
            return self._row(counted)
        wanted = limit if known is None else known if limit is None else min(known, limit)
        assert wanted is not None
        mean = taken.text_bytes / len(taken.texts)
        budget = self.run.solution_bytes or self.settings.budget_solution_bytes
        if wanted * mean > budget:
            sentence = (
                f"{wanted:,} solutions of about {mean:.0f} bytes each: more than the budget of "
                f"{budget:,} bytes of solutions"
            )
            reason = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
            return self._row(over_budget(reason, self.statistics))
        whole = ListedPart(
            first=0,
            stop=wanted,
            pieces=(Piece(None, 0, wanted),),
            value=taken.outcome.value,
            is_open=known is None,
            truncated=known is not None and wanted < known,
        )
        fitting = int(self.settings.tuning.listing_file_bytes / mean)
        rows = max(1, min(self.settings.tuning.listing_rows, fitting))
        return self._split(whole, rows) or self._row(
            over_budget(Reason(code=ReasonCode.SECONDS), self.statistics)
        )

    # -- a range of ranks --------------------------------------------------------------------

    def ranks(self, part: ListedPart) -> Row:
        """List a range into files, or cut it once more."""
        size = part.stop - part.first
        if size > self.settings.tuning.listing_rows:
            row = self._split(part, self.settings.tuning.listing_rows)
            if row is not None:
                return row
        writer = self._writer(part.first)
        reason = self._list(part, writer)
        if reason is None:
            writer.flush()
            whole: Outcome[Any] = Outcome(
                status=Status.SOLVED,
                count=writer.rank - part.first,
                truncated=part.truncated,
                value=part.value,
            )
            return self._in_files(part.first, writer.rank, whole)
        # What is searched for in vain once is searched for in vain by each half.
        halves = self._halves(part) if writer.rank > part.first and reason.code.is_budget else None
        return halves or self._row(over_budget(reason, self.statistics))

    def _list(self, part: ListedPart, writer: SolutionWriter) -> Reason | None:
        """Write a range's solutions with a writer; return why it stopped before the end, or None.

        Raises RuntimeError where there are fewer than were counted.
        """
        for piece in part.pieces:
            stream = self.game.stream(self.puzzle, ALL, piece.part, self._left())
            stream.skip = piece.skip
            wanted = piece.take
            for solution in stream:
                writer.add(self.game.solution_text(solution))
                wanted -= 1
                if not wanted:
                    break
                if wanted % CLOCK_STRIDE == 0 and self._is_late():
                    break
            self.statistics += stream.statistics
            if wanted and stream.reason_code is not None:
                return Reason(code=stream.reason_code, sentence=stream.reason)
            if wanted and self._is_late():
                return Reason(code=ReasonCode.SECONDS)
            if wanted and not part.is_open:
                raise RuntimeError(
                    f"ranks {part.first} to {part.stop - 1} of job {self.head['job_id']}: "
                    f"{wanted} solutions fewer than were counted"
                )
        return None

    # -- cutting -----------------------------------------------------------------------------

    def _split(self, part: ListedPart, rows: int) -> Row | None:
        """Cut a part into ranges of about `rows` solutions, more if there would be too many."""
        size = part.stop - part.first
        target = max(rows, -(-size // RANGES))
        pieces = list(self._cut(part.pieces, target, size))
        ranges = packed(pieces, target)
        if len(ranges) < 2:
            return self._halves(part)
        return self._ranges(part, ranges)

    def _cut(self, pieces: tuple[Piece, ...], target: int, size: int) -> Iterator[Piece]:
        """Cut pieces until each is small enough, or time runs out, in canonical order."""
        stack = list(reversed(pieces))
        while stack:
            piece = stack.pop()
            if piece.take <= target or (self._is_late() and piece.take < size):
                yield piece
                continue
            children = self._children(piece)
            if children is None:
                yield from sliced(piece, target)
            else:
                stack.extend(reversed(children))

    def _children(self, piece: Piece) -> list[Piece] | None:
        """Divide a piece by parts of the game and count those; None where that cannot be."""
        game, puzzle = self.game, self.puzzle
        if not game.parts_in_order:
            return None
        parts = game.split(puzzle, ALL, piece.part, CUT_INTO)
        if len(parts) < 2:
            return None
        counts: list[int] = []
        wanted = piece.skip + piece.take
        for part in parts:
            if sum(counts) >= wanted:
                counts.append(0)
                continue
            counted = game.solve(puzzle, COUNT, part, self._left())
            self.statistics += counted.statistics
            if counted.count is None:
                return None
            counts.append(counted.count)
        if sum(counts) < wanted:
            raise RuntimeError(
                f"the parts of {canonical_json(piece.part)} of job {self.head['job_id']} have "
                f"{sum(counts)} solutions; expected {wanted}"
            )
        return windows(piece, parts, counts)

    def _halves(self, part: ListedPart) -> Row | None:
        """Cut a part in two by counting from its beginning; one solution cannot be."""
        half = (part.stop - part.first + 1) // 2
        pieces: list[Piece] = []
        left = half
        for piece in part.pieces:
            here = min(left, piece.take)
            left -= here
            pieces += [
                Piece(piece.part, piece.skip, here),
                Piece(piece.part, piece.skip + here, piece.take - here),
            ]
        ranges = packed(pieces, half)
        return self._ranges(part, ranges) if len(ranges) > 1 else None

    def _ranges(self, part: ListedPart, ranges: list[list[Piece]]) -> Row:
        first = part.first
        children = []
        for pieces in ranges:
            stop = first + sum(piece.take for piece in pieces)
            children.append(replace(part, first=first, stop=stop, pieces=tuple(pieces)).to_json())
            first = stop
        sentence = f"{part.stop - part.first:,} solutions, in {len(children)} ranges"
        told = Reason(code=ReasonCode.SOLUTION_BYTES, sentence=sentence)
        return self._costs(result_row(self.head, SPLIT, told, children=canonical_json(children)))

    # -- rows --------------------------------------------------------------------------------

    def _in_files(self, first: int, stop: int, outcome: Outcome[Any]) -> Row:
        ranks = InFiles(first=first, stop=stop)
        return self._costs(listed_row(self.head, outcome, children=ranks.to_json()))

    def _row(self, outcome: Outcome[Any]) -> Row:
        return self._costs(listed_row(self.head, outcome))

    def _costs(self, row: Row) -> Row:
        return row | {name: getattr(self.statistics, name) for name in COST_COLUMNS}
