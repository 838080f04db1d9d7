"""Drop result rows that nothing asks for any more.

Three kinds go, each by its age. Rows that lose against a final one of the same job. Rows of earlier
versions of the solver whose question was compared: the present version has answered the same about
the board. And rows of boards that no night has brought, of corpora and of jobs on demand: a job
that is asked again is worked again. Answers that contradict one another stay until a person has
them dropped.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.without import keys_in
from nightgrid.archive.results.contradictions import (
    CONTRADICTED,
    answer_texts,
    compared_path,
    recount_contradicted,
)
from nightgrid.archive.results.files import SOLUTIONS_FOLDER
from nightgrid.archive.results.results import once_a_job
from nightgrid.archive.results.statuses import FINAL, PROVEN, is_among
from nightgrid.flows.maintenance.retention.ages import KEY, UNSETTLED, AgedRows, aged_rows
from nightgrid.flows.maintenance.retention.corpora import (
    corpora_to_drop,
    drop_corpus,
    is_worked,
)
from nightgrid.flows.maintenance.retention.dictionaries import drop_dictionaries
from nightgrid.flows.maintenance.retention.going import Going
from nightgrid.flows.maintenance.retention.leftovers import drop_divisions, drop_puzzles
from nightgrid.flows.maintenance.retention.listings import JOB, with_solutions
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned, WithResults
from nightgrid.solvers.registry import game as game_named

_QUESTION = ("puzzle_id", "ask", "rules", "lexicon_id")


def prune_results(
    lake: Lake,
    what: Kept,
    game: str,
    before: dt.datetime,
    now: dt.datetime,
    check: Callable[[], None],
) -> Pruned:
    """Drop the rows of a game that are older than `before`; return how many.

    Of results, corpora of which none is left go after the rows, then puzzles that came with
    questions. Gold is made anew at the end.
    """
    aged = aged_rows(lake, game, before)
    choose = _contradicted if what is Kept.CONTRADICTED else _chosen
    chosen = choose(lake, game, aged)
    goes = pc.is_in(keys_in(aged.rows, KEY), value_set=keys_in(chosen, KEY))
    stays = aged.rows.filter(pc.invert(goes))
    # Another row of the same job and run may rest on the solutions.
    is_shared = pc.is_in(keys_in(chosen, JOB), value_set=keys_in(stays, JOB))
    listed = with_solutions(lake, chosen.filter(pc.invert(is_shared)))
    going = Going(game=game, aged=aged, rows=chosen, listed=listed, noted_as=SOLUTIONS_FOLDER)
    freed = going.drop(lake, now.date(), check)
    if what is Kept.CONTRADICTED:
        recount_contradicted(lake, game, game_named(game).solver_version)
        going.end(lake)
        return Pruned(what=what, game=game, count=len(chosen), freed_bytes=freed)
    settled = min(before, now - UNSETTLED)
    corpora = 0
    for path in corpora_to_drop(lake, game, settled):
        check()
        if is_worked(lake, game):
            break  # A count that has begun meanwhile may read it.
        corpora, freed = corpora + 1, freed + drop_corpus(lake, path)
    left = drop_puzzles(lake, game, settled, check)
    going.end(lake)
    return Pruned(
        what=what,
        game=game,
        count=len(chosen),
        freed_bytes=freed + left.freed_bytes,
        with_them=WithResults(corpora=corpora, puzzles=left.puzzles),
    )


def prune_of_no_game(
    lake: Lake, before: dt.datetime, now: dt.datetime, check: Callable[[], None]
) -> Pruned:
    """Drop divisions of jobs of which no result is left, and words that no board has."""
    settled = min(before, now - UNSETTLED)
    left = drop_divisions(lake, settled, check)
    dictionaries, freed_bytes = drop_dictionaries(lake, settled, check)
    return Pruned(
        what=Kept.RESULTS,
        game=None,
        count=0,
        freed_bytes=left.freed_bytes + freed_bytes,
        with_them=WithResults(divisions=left.divisions, dictionaries=dictionaries),
    )


def _chosen(lake: Lake, game: str, aged: AgedRows) -> pa.Table:
    """Choose the rows that go."""
    rows = aged.rows
    answers = once_a_job(rows)
    final = answers.filter(is_among(answers.column("status"), FINAL))
    is_answer = pc.is_in(keys_in(rows, KEY), value_set=keys_in(answers, KEY))
    lost = pc.and_(pc.invert(is_answer), is_of(rows, final))
    repeated, contradicting = compared_answers(lake, game, answers)
    brought = pc.is_in(rows.column("puzzle_id"), value_set=aged.of_nights)
    gone = pc.or_(pc.invert(brought), is_of(rows, repeated))
    # A job goes as a whole: a row that is left would become its answer.
    young = rows.filter(pc.invert(rows.column("can_go")))
    gone = reduce(
        pc.and_, (gone, pc.invert(is_of(rows, young)), pc.invert(is_of(rows, contradicting)))
    )
    return rows.filter(pc.and_(pc.or_(lost, gone), rows.column("can_go")))


def _contradicted(lake: Lake, game: str, aged: AgedRows) -> pa.Table:
    """Choose the answers of earlier versions that contradict the present one."""
    rows = aged.rows
    _, contradicting = compared_answers(lake, game, once_a_job(rows))
    return rows.filter(pc.and_(is_of(rows, contradicting), rows.column("can_go")))


def compared_answers(lake: Lake, game: str, answers: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Find the answers of earlier versions that were compared with those of the present one.

    First those that the present one repeats, or that were none, then those that it contradicts.
    """
    present = game_named(game).solver_version
    known = read_hint(lake, compared_path(game), dict) or {}
    done = [
        about for about, version in known.items() if version == present and about != CONTRADICTED
    ]
    about = pc.binary_join_element_wise(
        *(answers.column(name) for name in ("ask", "rules", "lexicon_id")), "\n"
    )
    is_now = pc.equal(answers.column("solver_version"), present)
    was_compared = pc.is_in(about, value_set=pa.array(done, pa.string()))
    earlier = answers.filter(pc.and_(pc.invert(is_now), was_compared))
    now = answers.filter(is_now)
    at = pc.index_in(keys_in(earlier, _QUESTION), value_set=keys_in(now, _QUESTION))
    earlier, now = earlier.filter(pc.is_valid(at)), now.take(at.drop_null())
    proven, proven_now = (is_among(side.column("status"), PROVEN) for side in (earlier, now))
    same = pc.equal(answer_texts(earlier), answer_texts(now))
    repeated = pc.or_(pc.invert(proven), pc.and_(proven_now, same))
    differs = reduce(pc.and_, (proven, proven_now, pc.invert(same)))
    return earlier.filter(repeated), earlier.filter(differs)


def is_of(rows: pa.Table, jobs: pa.Table) -> pa.ChunkedArray:
    """Tell which rows are of the jobs of other rows."""
    return pc.is_in(rows.column("job_id"), value_set=pc.unique(jobs.column("job_id")))
