"""Work a night: the six steps of each game, and what fails for one game kept from the others.

Each step reads from the lake what is left to do: a night that was killed anywhere is ended by the
same call, and it does only the rest. Steps add what they find to the game's report.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from nightgrid.archive.ingest import fetch as fetching
from nightgrid.archive.ingest import normalise as normalising
from nightgrid.archive.ingest.editions import editions_path, observations_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lookup.listing import Wanted
from nightgrid.archive.results import gold
from nightgrid.archive.results.gold import ranks_path
from nightgrid.archive.sources import open_source
from nightgrid.archive.words.binding import bind_game
from nightgrid.flows.attention import in_quarantine, quarantine_of, unanswered
from nightgrid.flows.cluster import OwnWorkers, work_run
from nightgrid.flows.night.report import GameReport, NightFailedError, NightReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.runs import (
    SILENT,
    AsStep,
    StepsAhead,
    StoppedError,
    Watch,
    ignore,
    plain,
)
from nightgrid.solvers.algebra import Ask, Game, Status
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.question import Question, question_of
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.processes import alone
from nightgrid.workers.runs.manifest import Run, has_plan, open_run, read_done
from nightgrid.workers.runs.plan.planner import plan_run


def work_night(night: NightSettings, watch: Watch = SILENT, as_step: AsStep = plain) -> NightReport:
    """Do the six steps of every game and report them; a killed night is ended by the same call.

    First all sources are fetched and all games planned, then all are solved one after the other
    by the same workers: those of our own load no game but those that there is something to solve
    of. A source that is missing, fails or gives nothing but payloads that cannot be read, and
    whatever else goes wrong with one of several games, costs that game alone.

    Raises NightFailedError at the end when a game failed, StoppedError when a signal asked this
    process to stop or a run is cancelled, TransientError while another process of this machine has
    the lake's night, and whatever goes wrong with the only game of a night.
    """
    with night_alone(night):
        check_sources(night, watch)
        return work_steps(night, watch, as_step, StepsAhead())


def night_alone(night: NightSettings) -> AbstractContextManager[None]:
    """Hold the night of a lake. Raises TransientError while another process here has it."""
    refusal = f"another night is at work on the lake {night.workers.lake}"
    return alone(night.workers.side_dir, "night", refusal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What a night found before it began."""

    work: bool
    """Whether there is something to normalise, plan or solve."""
    trouble: bool = False
    """Whether a source or a game failed."""


def work_ahead(
    night: NightSettings, ahead: StepsAhead, watch: Watch, on_work: Callable[[], None]
) -> Ahead:
    """Check and fetch the sources and look for work.

    Calls `on_work` as soon as there is some: a run that an earlier night has begun, a payload that
    the lake does not have, a job without an answer. A lake that fails counts as work: a flow engine
    may try again. Where nothing was fetched, normalising and planning are worked ahead, too.

    Raises PermanentError when the source of the only game is none.
    """
    check_sources(night, watch)
    games = [_GameWork(night, game, ahead.work) for game in night.games]
    try:
        if any(_is_begun(night, game) for game in night.games):
            on_work()
        for work in games:
            work.fetch(on_work)
        news = [work.game.game for work in games if work.report.new_payloads]
        if news:
            watch.on_work(news)
            return Ahead(work=True)
        for work in games:
            work.plan()
    except TransientError:
        on_work()
        return Ahead(work=True)
    return Ahead(
        work=any(work.report.planned for work in games),
        trouble=any(work.report.failed for work in games),
    )


def check_sources(night: NightSettings, watch: Watch = SILENT) -> None:
    """Look whether every source is one, and tell at once of those that are none.

    Raises PermanentError when that of the only game is none.
    """
    for game in night.games:
        try:
            open_source(game.source, game=game.game).close()
        except PermanentError as error:
            if len(night.games) == 1:
                raise
            watch.on_trouble(game.game, str(error))


def work_steps(
    night: NightSettings, watch: Watch, as_step: AsStep, ahead: StepsAhead
) -> NightReport:
    """Do what `work_night` does, in a night that is held, beginning with what was done ahead."""
    do = ahead.taken_over_by(as_step)
    games = [_GameWork(night, game, do, ahead.seconds(game.game)) for game in night.games]
    for work in games:
        work.fetch()
    for work in games:
        work.plan()
    loaded = [work.game.game for work in games if work.report.planned]
    if loaded:
        watch.on_work(loaded)
    with OwnWorkers(night, loaded) as workers:
        for work in games:
            work.finish(workers, watch)
            watch.on_report(work.report)
    reports = tuple(work.report for work in games)
    figures = NightReport(games=reports, wall_seconds=time.monotonic() - ahead.begun_s)
    if figures.failed:
        raise NightFailedError(figures)
    return figures


class _GameWork:
    """The steps of one game of a night, and its report as far as they have come."""

    def __init__(
        self, night: NightSettings, game: NightGame, as_step: AsStep, seconds: float = 0.0
    ) -> None:
        self.game = game
        self.report = GameReport(
            game=game.game, ask=", ".join(map(str, game.asks)), lake=night.workers.lake
        )
        self._night = night
        self._as_step = as_step
        self._planned: list[PlannedRun] | None = None
        self._seconds = seconds

    def fetch(self, on_new: Callable[[], None] | None = None) -> None:
        """Fetch; without a source, go on with what the lake has."""
        night, game, do = self._night, self.game, self._as_step
        more = () if on_new is None else (on_new,)
        with self._timed(), self._spared("source_trouble", source_failed=True):
            self.report = do("fetch", fetch)(night, game, self.report, *more)

    def plan(self) -> None:
        """Normalise and plan."""
        night, game, do = self._night, self.game, self._as_step
        with self._timed(), self._spared("failure"):
            self.report = do("normalise", normalise)(night, game, self.report)
            self.report, self._planned = do("plan", plan)(night, game, self.report)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - begun

    def finish(self, workers: OwnWorkers, watch: Watch) -> None:
        """Solve, aggregate and file the report; of a game that has failed, file the report."""
        begun = time.monotonic() - self._seconds
        night, game, do = self._night, self.game, self._as_step
        if self._planned is not None:
            with self._spared("failure"):
                self.report = do("solve", solve)(
                    night, game, self._planned, self.report, workers, watch
                )
                self.report = do("aggregate", aggregate)(night, game, self.report)
        self.report = replace(self.report, wall_seconds=time.monotonic() - begun)
        with self._spared("failure", "not filed: "):
            do("report", file_report)(night, game, self.report)

    @contextmanager
    def _spared(self, field: str, what: str = "", **more: bool) -> Iterator[None]:
        """Put what goes wrong into the report, where there are other games to go on with."""
        try:
            yield
        except StoppedError:
            raise
        except Exception as error:
            if len(self._night.games) == 1:
                raise
            known = isinstance(error, NightgridError)
            why = what + (str(error) if known else f"{type(error).__name__}: {error}")
            told = "; ".join(filter(None, (getattr(self.report, field), why)))
            changes: dict[str, Any] = {field: told, **more}
            self.report = replace(self.report, **changes)


def open_run_path(game: str, ask: Ask) -> str:
    """Name the note of the run that a night has begun, which stands until the run is ended.

    A night that finds new puzzles would plan another run and leave the work done for this one
    behind.
    """
    return f"runs/nightly/{game}-{str(ask).rstrip(')').replace('(', '-')}.json"


def report_path(game: str) -> str:
    """Name the report of the last night of a game."""
    return f"gold/nightly-{game}.json"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The run that answers one ask."""

    run: Run
    resumed: bool = False
    """Whether an earlier night began it."""


def fetch(
    night: NightSettings,
    game: NightGame,
    report: GameReport,
    on_new: Callable[[], None] = ignore,
) -> GameReport:
    """Store the payloads that are new. A date that fails is reported and does not stop the night.

    `on_new` is called at the first payload that is new. Raises PermanentError for a source that is
    none.
    """
    source = open_source(game.source, game=game.game)
    try:
        found = fetching.fetch(
            night.lake,
            source,
            game=game.game,
            first=game.since,
            last=game.until,
            refresh_days=game.refresh_days,
            on_new=on_new,
        )
    finally:
        source.close()
    return replace(
        report,
        fetched=len(found.asked),
        new_payloads=len(found.new),
        fetch_failures=tuple(f"{failure.date}: {failure.message}" for failure in found.failed),
        source_failed=found.source_failed,
        source_trouble=_trouble(found, game, local=source.local),
    )


def normalise(night: NightSettings, game: NightGame, report: GameReport) -> GameReport:
    """Turn new payloads into editions, puzzles and quarantine.

    A source counts as failed, too, when nothing that it gave can be read.
    """
    done = normalising.normalise(night.lake, game=game.game)
    quarantined = sum(done.quarantined.values())
    report = replace(
        report,
        editions=done.edition_count,
        revisions=done.revisions_added,
        quarantined=quarantined,
        observations=done.observation_count,
        in_quarantine=done.quarantine_count,
        attention=in_quarantine(done.faults),
    )
    if report.source_failed:
        return report
    trouble = ""
    if done.payloads and not done.sound:
        trouble = f"{game.source}: all {done.payloads} new payloads are in quarantine"
    elif report.fetched and done.quarantine_count > quarantined and not done.edition_count:
        trouble = f"{game.source}: all payloads are in quarantine"
        report = replace(report, attention=quarantine_of(night.lake, game.game))
    return replace(report, source_failed=True, source_trouble=trouble) if trouble else report


def plan(
    night: NightSettings, game: NightGame, report: GameReport
) -> tuple[GameReport, list[PlannedRun]]:
    """Take up the runs that an earlier night has begun, or plan all jobs that are not answered.

    Returns the report with a run for each ask.
    """
    bound = _bound(night, game)
    planned = [_plan(night, bound, ask) for ask in game.asks]
    question = planned[0].run.question
    report = replace(
        report,
        rules=question.rules,
        lexicon_id=question.lexicon_id,
        planned=sum(found.run.job_count for found in planned),
        already_known=sum(found.run.answered_count for found in planned),
        resumed=any(found.resumed for found in planned),
    )
    return report, planned


def _plan(night: NightSettings, game: Game[Any, Any], ask: Ask) -> PlannedRun:
    lake = night.lake
    begun = _begun_run(night, question_of(game, ask))
    if begun is not None:
        return PlannedRun(begun, resumed=True)
    run_id = plan_run(
        lake,
        game,
        read_puzzle_table(lake, game.name),
        ask,
        night.workers.budget,
        worker_count=night.workers.batch_processes,
    )
    run = open_run(lake, run_id)
    if run.job_count:
        write_json(lake, open_run_path(game.name, ask), {"run_id": run_id})
    return PlannedRun(run)


def solve(
    night: NightSettings,
    game: NightGame,
    planned: list[PlannedRun],
    report: GameReport,
    workers: OwnWorkers,
    watch: Watch,
) -> GameReport:
    """Work every run to its end, and after a resumed one whatever has become known since.

    Raises TransientError when workers or lake stay away, StoppedError after a signal and for a run
    that is cancelled.
    """
    summaries = []
    for found in planned:
        ask = found.run.question.ask
        while found.run.job_count:
            summaries.append(work_run(night, found.run.run_id, workers, watch.on_progress))
            night.lake.delete(open_run_path(game.game, ask))
            if not found.resumed:
                break
            found = _plan(night, _bound(night, game), ask)  # noqa: PLW2901
    statuses: Counter[str] = Counter()
    for summary in summaries:
        statuses.update(summary.statuses)
    endings: dict[str, Any] = {status.value: statuses[status.value] for status in Status}
    runs = frozenset(summary.run_id for summary in summaries)
    open_jobs = unanswered(night.lake, Wanted(games=(game.game,), runs=runs), endings)
    return replace(
        report,
        **endings,
        attention=(*open_jobs, *report.attention),
        planned=sum(summary.job_count for summary in summaries),
        chunks_worked=sum(s.chunks_total - s.chunks_resumed for s in summaries),
        chunks_found=sum(s.chunks_resumed for s in summaries),
        run_id=summaries[-1].run_id if summaries else None,
    )


def aggregate(night: NightSettings, game: NightGame, report: GameReport) -> GameReport:
    """Make the tables for people anew; tell where every table lies."""
    lake = night.lake
    gold.write_gold(lake, _bound(night, game), game.asks)
    places = {
        "counts by date": gold.COUNTS_PATH,
        "runtimes": gold.RUNTIMES_PATH,
        "ranks": ranks_path(game.game),
        "results": "results",
        **({"dictionaries": "dictionaries"} if game_plug(game.game).own_words else {}),
        "editions": editions_path(game.game),
        "quarantine": normalising.quarantine_path(game.game),
        "observations": observations_path(game.game),
    }
    paths = {name: lake.place(path) for name, path in places.items() if lake.exists(path)}
    return replace(report, paths=paths)


def file_report(night: NightSettings, game: NightGame, report: GameReport) -> None:
    """File the figures of the game in the lake."""
    write_json(night.lake, report_path(game.game), report.to_json())


def _trouble(found: fetching.FetchReport, game: NightGame, *, local: bool) -> str:
    if found.source_failed:
        dates = "the date" if len(found.asked) == 1 else f"all {len(found.asked)} dates"
        return f"{game.source} gave nothing: {dates} asked for failed"
    if found.asked or found.known or found.failed:
        return ""
    bounds = f" from {game.since}" if game.since else ""
    bounds += f" until {game.until}" if game.until else ""
    return f"no {'YYYY-MM-DD.json' if local else 'date to ask for'} in {game.source}{bounds}"


def _bound(night: NightSettings, game: NightGame) -> Game[Any, Any]:
    return bind_game(game.game, game.rules, game.lexicon, night.lake)


def _is_begun(night: NightSettings, game: NightGame) -> bool:
    """Tell whether the lake has the note of a run that an earlier night has begun."""
    return any(night.lake.exists(open_run_path(game.game, ask)) for ask in game.asks)


def _begun_run(night: NightSettings, question: Question) -> Run | None:
    """Find the run that a killed night has left, if it still answers what this night asks."""
    lake = night.lake
    note = read_json(lake, open_run_path(question.game, question.ask))
    if note is None or not has_plan(lake, note["run_id"]):
        return None
    run = open_run(lake, note["run_id"])
    if (run.question, run.budget) != (question, night.workers.budget):
        return None
    return run if read_done(lake, run.run_id) is None else None
