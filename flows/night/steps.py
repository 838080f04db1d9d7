"""The steps of a night over one game: fetch, normalise, plan, solve, aggregate, report.

Each step reads from the lake what is left to do, and adds its figures to the game's report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from nightgrid.archive.games import archive_plug
from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.ingest import fetch as fetching
from nightgrid.archive.ingest import normalise as normalising
from nightgrid.archive.ingest.editions import (
    editions_path,
    quarantine_path,
    set_tables_aside,
)
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.contradictions import (
    contradictions,
    is_compared,
    note_compared,
)
from nightgrid.archive.results.gold import rebuild
from nightgrid.archive.results.gold.rank_accuracy import write_accuracy
from nightgrid.archive.sources import open_source
from nightgrid.archive.state import NIGHT_REPORT, read_state, write_state
from nightgrid.flows.attention import (
    MISSING,
    SKIPPED,
    AttentionItem,
    contradicting,
    in_quarantine,
    missing_dates,
    quarantine_of,
    skipped_names,
    unanswered,
)
from nightgrid.flows.cluster import OwnWorkers, work_run
from nightgrid.flows.night.planning import (
    PlannedRun,
    bound_game,
    note_run,
    plan_ask,
)
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import Watch
from nightgrid.solvers.algebra import MEANT, Status
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.lease import check_held

T = TypeVar("T")

NIGHT = "night"
"""The lease that a night holds while it works on a lake."""


def fetch(night: NightSettings, game: NightGame, report: GameReport) -> GameReport:
    """Store the new payloads. A date that fails is reported and does not stop the night.

    Raises PermanentError for an invalid source.
    """
    source = open_source(game.source, game=game.game)
    try:
        found = _with_sound_tables(
            night.lake,
            game.game,
            lambda: fetching.fetch(
                night.lake,
                source,
                game=game.game,
                first=game.since,
                last=game.until,
                refresh_days=game.refresh_days,
            ),
        )
        beside = source.skipped()
        gaps = missing_dates(source.dates(game.since, game.until)) if source.local else ()
    finally:
        source.close()
    return replace(
        report,
        fetched=len(found.new) + len(found.unchanged),
        new_payloads=len(found.new),
        fetch_failures=tuple(f"{failure.date}: {failure.message}" for failure in found.failed),
        source_failed=found.source_failed,
        source_trouble=_trouble(found, game, local=source.local),
        skipped=len(beside),
        attention=(*skipped_names(beside), *gaps),
    )


def normalise(night: NightSettings, game: NightGame, report: GameReport) -> GameReport:
    """Turn new payloads into editions, puzzles and quarantine.

    The source also counts as failed while the lake has nothing but quarantine of its game.
    """
    lake = night.lake
    done = _with_sound_tables(
        lake,
        game.game,
        lambda: normalising.normalise(lake, game=game.game, check=lambda: check_held(lake, NIGHT)),
    )
    quarantined = sum(done.quarantined.values())
    report = replace(
        report,
        editions=done.edition_count,
        revisions=done.revisions_added,
        quarantined=quarantined,
        observations=done.observation_count,
        in_quarantine=done.quarantine_count,
        attention=(*report.attention, *in_quarantine(done.faults)),
    )
    if report.source_failed:
        return report
    if done.edition_count or not done.quarantine_count:
        return report
    if done.quarantine_count > quarantined:
        beside = (item for item in report.attention if item.kind in (SKIPPED, MISSING))
        report = replace(report, attention=(*beside, *quarantine_of(night.lake, game.game)))
    trouble = f"{game.source}: all payloads are in quarantine; the lake has no {game.game} board"
    return replace(report, source_failed=True, source_trouble=trouble)


def _with_sound_tables(lake: Lake, game: str, step: Callable[[], T]) -> T:
    """Run a step; if a table of the game is damaged, set it aside and repeat the step."""
    try:
        return step()
    except DamagedFileError:
        check_held(lake, NIGHT)
        if not set_tables_aside(lake, game):
            raise
        return step()


def plan(
    night: NightSettings, game: NightGame, report: GameReport
) -> tuple[GameReport, list[PlannedRun]]:
    """Resume the runs that an earlier night has started, or plan all unanswered jobs.

    Returns the report with a run for each ask.
    """
    planned = []
    for ask in game.asks:
        bound = bound_game(night, game, ask)
        planned.append(plan_ask(night, bound, ask, night.retry))
        if planned[-1].jobs:
            # Caches of a machine are filled before workers start.
            bound.open()
    question = planned[0].question
    report = replace(
        report,
        rules=question.rules,
        lexicon_id=question.lexicon_id,
        planned=sum(found.jobs for found in planned),
        already_known=sum(found.known for found in planned),
        known_poison=sum(found.poison for found in planned),
        resumed=any(found.resumed for found in planned),
    )
    return report, planned


def solve(
    night: NightSettings,
    game: NightGame,
    planned: list[PlannedRun],
    report: GameReport,
    workers: OwnWorkers,
    watch: Watch,
) -> GameReport:
    """Drive every run to its end, and after a resumed one the jobs that have been added since.

    Raises TransientError if workers or lake are unavailable, StoppedError after a signal and for a
    cancelled run.
    """
    summaries = []
    ranked = 0
    for found in planned:
        ask = found.question.ask
        while found.run is not None and found.run.job_count:
            summaries.append(work_run(night, found.run.run_id, workers, watch.on_progress))
            note_run(night.lake, game.game, ask, None)
            ranked += summaries[-1].job_count if ask.kind == "meant" else 0
            if not found.resumed:
                break
            # Jobs that the resumed run has retried are not retried again.
            retry = None if found.run.retry is night.retry else night.retry
            found = plan_ask(night, bound_game(night, game, ask), ask, retry)  # noqa: PLW2901
    statuses: Counter[str] = Counter()
    for summary in summaries:
        statuses.update(summary.statuses)
    endings: dict[str, Any] = {status.value: statuses[status.value] for status in Status}
    runs = frozenset(summary.run_id for summary in summaries)
    changed = tuple(_contradicting(night.lake, planned))
    open_jobs = unanswered(night.lake, RowFilter(games=(game.game,), runs=runs), endings)
    open_jobs = (*open_jobs, *_known_poison(night.lake, planned, open_jobs))
    rankers = (found.question for found in planned if found.question.ask.kind == "meant")
    ranker = next((question.solver_version for question in rankers), "")
    return replace(
        report,
        **endings,
        ranked=ranked,
        ranker=ranker,
        with_model=not ranker.endswith(ALONE_SUFFIX) if ranker else None,
        attention=(*changed, *open_jobs, *report.attention),
        contradictions=len(changed),
        planned=sum(summary.job_count for summary in summaries),
        chunks_worked=sum(s.chunks_total - s.chunks_resumed for s in summaries),
        chunks_found=sum(s.chunks_resumed for s in summaries),
        run_id=summaries[-1].run_id if summaries else None,
    )


def _contradicting(lake: Lake, planned: list[PlannedRun]) -> Iterator[AttentionItem]:
    """Compare answers with those of earlier versions of the solver, once for each new version."""
    for question in {found.question: None for found in planned}:
        if not is_compared(lake, question):
            found = list(contradictions(lake, question))
            yield from contradicting(found, str(question.ask))
            note_compared(lake, question, len(found))


def _known_poison(
    lake: Lake, planned: list[PlannedRun], told: Sequence[AttentionItem]
) -> Iterator[AttentionItem]:
    """List the puzzles that are poison, from earlier nights and this one."""
    names = {(item.puzzle_id, item.ask) for item in told}
    for one in (found for found in planned if found.poison):
        wanted = RowFilter(games=(one.question.game,), question=one.question)
        for item in unanswered(lake, wanted, {Status.POISON.value: one.poison}):
            if (item.puzzle_id, item.ask) not in names:
                names.add((item.puzzle_id, item.ask))
                yield item


def aggregate(night: NightSettings, game: NightGame, report: GameReport) -> GameReport:
    """Rewrite the tables for people; report where every table is."""
    lake = night.lake
    is_rebuilt = rebuild.write_gold(lake, bound_game(night, game), game.asks)
    places = {
        **({"rankings": write_accuracy(lake)} if MEANT in game.asks else {}),
        "counts by date": rebuild.COUNTS_PATH,
        "runtimes": rebuild.RUNTIMES_PATH,
        **({"ranks": rebuild.RANKS_PATH} if archive_plug(game.game).ranked else {}),
        "results": "results",
        **({"dictionaries": "dictionaries"} if game_plug(game.game).own_words else {}),
        "editions": editions_path(game.game),
        "quarantine": quarantine_path(game.game),
    }
    paths = {name: lake.location(path) for name, path in places.items() if lake.exists(path)}
    return replace(report, paths=paths, made_anew=is_rebuilt)


def file_report(night: NightSettings, game: NightGame, report: GameReport) -> None:
    """Store the figures of the game in the lake, with the time, and when a night last succeeded."""
    ended_at = datetime.now(UTC).isoformat(timespec="seconds")
    before = read_state(night.lake, game.game, NIGHT_REPORT) or {}
    succeeded_at = before.get("succeeded_at") if report.failed else ended_at
    told = {**report.to_json(), "ended_at": ended_at, "succeeded_at": succeeded_at}
    write_state(night.lake, game.game, NIGHT_REPORT, told, durable=True)


def _trouble(found: fetching.FetchReport, game: NightGame, *, local: bool) -> str:
    if found.source_failed:
        dates = "the date" if len(found.asked) == 1 else f"all {len(found.asked)} dates"
        return f"{game.source} gave nothing: {dates} asked for failed"
    if found.asked or found.known or found.failed:
        return ""
    bounds = f" from {game.since}" if game.since else ""
    bounds += f" until {game.until}" if game.until else ""
    what = f"payload of {game.game} for a day" if local else "date to ask for"
    return f"no {what} in {game.source}{bounds}"
