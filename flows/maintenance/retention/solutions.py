"""Drop answers to `all` whose solutions lie in files of their own, row and listing together.

A row without its solutions would be no answer any more wherever `all` is asked. So the row goes,
and what is noted of it keeps nights from working the job again. The count stays: an answer goes
only where a row of `count` says the same of the board.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.without import keys_in
from nightgrid.archive.results.results import once_a_job
from nightgrid.archive.results.solution_files import LISTINGS_FOLDER
from nightgrid.flows.maintenance.retention.ages import aged_rows
from nightgrid.flows.maintenance.retention.going import Going
from nightgrid.flows.maintenance.retention.listings import with_listings, with_solutions
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.flows.maintenance.retention.results import compared_answers, is_of
from nightgrid.solvers.algebra import Ask, Status

_ALL = "all"
_QUESTION = ("puzzle_id", "rules", "lexicon_id")
_COUNTED = (*_QUESTION, "count_text")


def prune_solutions(
    lake: Lake,
    game: str,
    before: dt.datetime,
    today: dt.date,
    check: Callable[[], None],
) -> Pruned:
    """Drop the listed answers of a game that are older than `before`; return how many."""
    aged = aged_rows(lake, game, before)
    rows = aged.rows
    answers = once_a_job(rows)
    due = _due(lake, game, rows, answers)
    goes = due.filter(_is_counted(due, answers))
    # A job goes as a whole: a row that is left would become its answer.
    chosen = rows.filter(is_of(rows, goes))
    listed = with_solutions(lake, chosen)
    # Of solutions that a call has deleted before it was killed, it is noted already.
    going = Going(game=game, aged=aged, rows=chosen, listed=listed, noted_as=LISTINGS_FOLDER)
    freed = going.drop(lake, today, check)
    going.end(lake)
    count, stays = len(goes), len(due) - len(goes)
    return Pruned(what=Kept.SOLUTIONS, game=game, count=count, freed_bytes=freed, stays=stays)


def _due(lake: Lake, game: str, rows: pa.Table, answers: pa.Table) -> pa.Table:
    """Choose the answers with listings of jobs of which all rows are old.

    What contradicts an answer of another version, and what it contradicts, stay for a person.
    """
    solved = answers.filter(pc.equal(answers.column("status"), Status.SOLVED.value))
    listed = with_listings(lake, game, solved.filter(pc.starts_with(solved.column("ask"), _ALL)))
    young = rows.filter(pc.invert(rows.column("can_go")))
    listed = listed.filter(pc.invert(is_of(listed, young)))
    _, contradicting = compared_answers(lake, game, answers)
    boards = pc.unique(contradicting.column("puzzle_id"))
    return listed.filter(pc.invert(pc.is_in(listed.column("puzzle_id"), value_set=boards)))


def _is_counted(due: pa.Table, answers: pa.Table) -> pa.ChunkedArray:
    """Tell which answers a row of `count` repeats, of any version of the solver."""
    counts = answers.filter(
        pc.and_(
            pc.equal(answers.column("ask"), str(Ask(kind="count"))),
            pc.equal(answers.column("status"), Status.SOLVED.value),
        )
    )
    told, known = (keys_in(_with_text(table), _COUNTED) for table in (due, counts))
    return pc.is_in(told, value_set=pc.unique(known))


def _with_text(table: pa.Table) -> pa.Table:
    text = pc.cast(table.column("count"), pa.string())
    return table.append_column("count_text", text)
