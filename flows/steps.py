"""The six steps of a night as plain functions: each reads from the lake what is left to do.

So a night that was killed anywhere is ended by the same call, and it does only the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from archive import fetch as fetching
from archive import gold
from archive import normalise as normalising
from archive.cancelling import cancelled_path
from archive.editions import editions_path
from archive.games import bind_game
from archive.lake import Lake
from archive.observations import observations_path
from archive.puzzles import read_puzzle_table
from archive.ranks import RANKS_PATH
from archive.runfiles import folder, read_json, write_json
from archive.runs import open_run, plan_run, read_done
from archive.sources import open_source
from flows.cluster import executor
from flows.report import NightlyReport
from flows.settings import NightlySettings
from solvers.algebra import Ask, Game
from solvers.errors import NightgridError, TransientError
from solvers.question import question_of
from solvers.registry import OWN_WORDS
from workers.driver import Progress, RunSummary, drive

OnProgress = Callable[[Progress], None]


def open_run_path(game: str, ask: Ask) -> str:
    """Name the note of the run that a night has begun, which stands until the run is ended.

    A night that finds new puzzles would plan another run and leave the work done for this one
    behind.
    """
    return f"runs/nightly/{game}-{str(ask).rstrip(')').replace('(', '-')}.json"


def report_path(game: str) -> str:
    """Name the report of the last night of a game."""
    return f"gold/nightly-{game}.json"


class NightStoppedError(NightgridError):
    """A signal asked the night to stop; the next one goes on with its run."""


class SourceDownError(TransientError):
    """Every date asked for failed. The night was done with what the lake had; so says `report`."""

    def __init__(self, report: NightlyReport) -> None:
        super().__init__(report.source_trouble)
        self.report = report


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What the source gave."""

    asked: int
    new: int
    failures: tuple[str, ...]
    """One sentence for each date that could not be fetched."""
    source_failed: bool = False
    """Whether every date that was asked for failed."""
    source_trouble: str = ""
    """What was the matter with the source as a whole: it gave nothing, or has nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """What became of the new payloads."""

    editions: int
    revisions: int
    quarantined: int
    observations: int = 0
    payloads: int = 0
    """Payloads that were new."""
    sound: int = 0
    """Those of them that hold a puzzle without a fault."""
    quarantined_before: int = 0
    """Rows in quarantine that earlier nights have found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """The run that answers one ask."""

    run_id: str
    ask: Ask
    job_count: int
    already_known: int
    resumed: bool
    """Whether an earlier night began it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The runs to work, one for each ask."""

    runs: tuple[PlannedRun, ...]
    rules: str
    lexicon_id: str

    @property
    def job_count(self) -> int:
        """Jobs to work."""
        return sum(run.job_count for run in self.runs)

    @property
    def already_known(self) -> int:
        """Jobs that need no work."""
        return sum(run.already_known for run in self.runs)

    @property
    def resumed(self) -> bool:
        """Whether an earlier night began any of it."""
        return any(run.resumed for run in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """How the jobs of all runs of this night ended."""

    run_ids: tuple[str, ...] = ()
    job_count: int = 0
    already_known: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    chunks_worked: int = 0
    chunks_found: int = 0
    """Chunks that an earlier night had worked."""


def fetch(settings: NightlySettings) -> Fetched:
    """Store the payloads that are new. A date that fails is reported and does not stop the night.

    Raises PermanentError for a source that is none.
    """
    source = open_source(settings.source, game=settings.game)
    try:
        found = fetching.fetch(
            _lake(settings),
            source,
            game=settings.game,
            first=settings.since,
            last=settings.until,
            refresh_days=settings.refresh_days,
        )
    finally:
        source.close()
    return Fetched(
        asked=len(found.asked),
        new=len(found.new),
        failures=tuple(f"{failure.date}: {failure.message}" for failure in found.failed),
        source_failed=found.source_failed,
        source_trouble=_trouble(found, settings, local=source.local),
    )


def normalise(settings: NightlySettings) -> Normalised:
    """Turn new payloads into editions, puzzles and quarantine."""
    done = normalising.normalise(_lake(settings), game=settings.game)
    return Normalised(
        editions=done.edition_count,
        revisions=done.revisions_added,
        quarantined=sum(done.quarantined.values()),
        observations=done.observation_count,
        payloads=done.payloads,
        sound=done.sound,
        quarantined_before=done.quarantine_count - sum(done.quarantined.values()),
    )


def broken_source(settings: NightlySettings, fetched: Fetched, normalised: Normalised) -> str:
    """Say that nothing which the source gave can be read, or ""."""
    if normalised.payloads and not normalised.sound:
        return f"{settings.source}: all {normalised.payloads} new payloads are in quarantine"
    if fetched.asked and normalised.quarantined_before and not normalised.editions:
        return f"{settings.source}: all payloads are in quarantine"
    return ""


def plan(settings: NightlySettings) -> Planned:
    """Take up the runs that an earlier night has begun, or plan all jobs that are not answered."""
    game = _game(settings)
    runs = tuple(_plan(settings, game, ask) for ask in settings.asks)
    return Planned(runs=runs, rules=game.rules, lexicon_id=game.lexicon_id)


def _plan(settings: NightlySettings, game: Game[Any, Any], ask: Ask) -> PlannedRun:
    lake = _lake(settings)
    begun = _begun_run(lake, settings, game, ask)
    if begun is not None:
        return begun
    run_id = plan_run(
        lake,
        game,
        read_puzzle_table(lake, game.name),
        ask,
        settings.workers.budget,
        worker_count=settings.workers.batch_processes,
    )
    run = open_run(lake, run_id)
    if run.job_count:
        write_json(lake, open_run_path(game.name, ask), {"run_id": run_id})
    return PlannedRun(
        run_id=run_id,
        ask=ask,
        job_count=run.job_count,
        already_known=run.answered_count,
        resumed=False,
    )


def solve(
    settings: NightlySettings, planned: Planned, on_progress: OnProgress | None = None
) -> Solved:
    """Work every run to its end, and after a resumed one whatever has become known since.

    Raises TransientError when workers or lake stay away, NightStoppedError after a signal.
    """
    if not planned.job_count:
        return Solved(already_known=planned.already_known)
    lake = _lake(settings)
    summaries = []
    with executor(settings.executor, lake, settings.workers, settings.game) as hands:
        for first in planned.runs:
            run = first
            while run.job_count:
                summary = drive(lake, run.run_id, hands, on_progress, settings=settings.workers)
                if summary.cancelled:
                    raise NightStoppedError(
                        f"run {run.run_id} is cancelled; nights go on with it when "
                        f"{cancelled_path(run.run_id)} is deleted from the lake"
                    )
                if not summary.finished:
                    raise NightStoppedError(
                        f"asked to stop in run {run.run_id}; the next night goes on with it"
                    )
                lake.delete(open_run_path(settings.game, run.ask))
                summaries.append(summary)
                if not run.resumed:
                    break
                run = _plan(settings, _game(settings), run.ask)
    return _sum(summaries, planned)


def aggregate(settings: NightlySettings) -> dict[str, str]:
    """Make the tables for people anew; return where every table lies."""
    lake = _lake(settings)
    gold.write_gold(lake, _game(settings), settings.asks)
    places = {
        "counts by date": gold.COUNTS_PATH,
        "runtimes": gold.RUNTIMES_PATH,
        **({"ranks": RANKS_PATH} if settings.game == "strands" else {}),
        "results": "results",
        **({"dictionaries": "dictionaries"} if settings.game in OWN_WORDS else {}),
        "editions": editions_path(settings.game),
        "quarantine": normalising.quarantine_path(settings.game),
        "observations": observations_path(settings.game),
    }
    base = lake.url.split("?")[0].rstrip("/")
    return {name: f"{base}/{path}" for name, path in places.items() if lake.exists(path)}


def report(settings: NightlySettings, figures: NightlyReport) -> NightlyReport:
    """File the figures of the night in the lake."""
    write_json(_lake(settings), report_path(settings.game), figures.to_json())
    return figures


def _trouble(found: fetching.FetchReport, settings: NightlySettings, *, local: bool) -> str:
    if found.source_failed:
        dates = "the date" if len(found.asked) == 1 else f"all {len(found.asked)} dates"
        return f"{settings.source} gave nothing: {dates} asked for failed"
    if found.asked or found.known or found.failed:
        return ""
    bounds = f" from {settings.since}" if settings.since else ""
    bounds += f" until {settings.until}" if settings.until else ""
    return f"no {'YYYY-MM-DD.json' if local else 'date to ask for'} in {settings.source}{bounds}"


def _lake(settings: NightlySettings) -> Lake:
    return Lake.open(settings.workers.lake)


def _game(settings: NightlySettings) -> Game[Any, Any]:
    return bind_game(settings.game, settings.rules, settings.lexicon, _lake(settings))


def _begun_run(
    lake: Lake, settings: NightlySettings, game: Game[Any, Any], ask: Ask
) -> PlannedRun | None:
    """Find the run that a killed night has left, if it still answers what this night asks."""
    note = read_json(lake, open_run_path(game.name, ask))
    if note is None or not lake.exists(f"{folder(note['run_id'])}/plan.json"):
        return None
    run = open_run(lake, note["run_id"])
    if (run.question, run.budget) != (question_of(game, ask), settings.workers.budget):
        return None
    if read_done(lake, run.run_id) is not None:
        return None
    return PlannedRun(
        run_id=run.run_id,
        ask=ask,
        job_count=run.job_count,
        already_known=run.answered_count,
        resumed=True,
    )


def _sum(summaries: list[RunSummary], planned: Planned) -> Solved:
    statuses: Counter[str] = Counter()
    for summary in summaries:
        statuses.update(summary.statuses)
    return Solved(
        run_ids=tuple(summary.run_id for summary in summaries),
        job_count=sum(summary.job_count for summary in summaries),
        # What was known before this night: the first plans of the night know it.
        already_known=planned.already_known,
        statuses=dict(statuses),
        chunks_worked=sum(s.chunks_total - s.chunks_resumed for s in summaries),
        chunks_found=sum(s.chunks_resumed for s in summaries),
    )
