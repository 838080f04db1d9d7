"""Run a night: under Prefect where it is installed, and just the same without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from flows import environment, steps
from flows.report import NightlyReport
from flows.settings import NightlySettings
from solvers.algebra import Status
from workers.locks import alone
from workers.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The six steps, plain or each as a Prefect task."""

    fetch: Callable[[NightlySettings], steps.Fetched]
    normalise: Callable[[NightlySettings], steps.Normalised]
    plan: Callable[[NightlySettings], steps.Planned]
    solve: Callable[[NightlySettings, steps.Planned, steps.OnProgress | None], steps.Solved]
    aggregate: Callable[[NightlySettings], dict[str, str]]
    report: Callable[[NightlySettings, NightlyReport], NightlyReport]


PLAIN = Steps(
    fetch=steps.fetch,
    normalise=steps.normalise,
    plan=steps.plan,
    solve=steps.solve,
    aggregate=steps.aggregate,
    report=steps.report,
)


def run_nightly(
    settings: NightlySettings,
    *,
    prefect: bool | None = None,
    on_progress: steps.OnProgress | None = None,
) -> NightlyReport:
    """Run one night to its end; a killed night is ended by calling this again.

    `prefect` None means under Prefect if it is installed; then the flow runs on the server of
    PREFECT_API_URL, or on a temporary one of its own.

    Raises TransientError when a later call may succeed (SourceDownError, which holds the report,
    when every date asked for failed), PermanentError when it will not, and NightStoppedError when a
    signal asked this process to stop.
    """
    with one_night(settings.workers):
        return _run(settings, prefect, on_progress)


def one_night(workers: Settings) -> AbstractContextManager[None]:
    """Hold a lake's night on this machine while the body runs.

    Raises TransientError while another process holds it.
    """
    return alone(workers.side_dir, "night", f"another night is at work on the lake {workers.lake}")


def _run(
    settings: NightlySettings, prefect: bool | None, on_progress: steps.OnProgress | None
) -> NightlyReport:
    if not environment.enter(prefect):
        return run_steps(settings, PLAIN, on_progress)
    from flows.tasks import run_flow

    return run_flow(settings, on_progress)


def run_steps(
    settings: NightlySettings, do: Steps, on_progress: steps.OnProgress | None = None
) -> NightlyReport:
    """Do the six steps in their order and report them.

    Raises SourceDownError at the end, with everything done, when the source gave nothing.
    """
    figures = finish(settings, do, prepare(settings, do, do.fetch), on_progress)
    if figures.source_failed:
        raise steps.SourceDownError(figures)
    return figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What there is to solve, and how the steps before that went."""

    fetched: steps.Fetched
    normalised: steps.Normalised
    planned: steps.Planned
    seconds: float
    """What these steps took."""


def prepare(
    settings: NightlySettings,
    do: Steps,
    fetch: Callable[[NightlySettings], steps.Fetched],
    *,
    judge: bool = False,
) -> Prepared:
    """Fetch, normalise and plan.

    With `judge` a source counts as failed too when all that it gave is in quarantine.
    """
    begun = time.monotonic()
    fetched = fetch(settings)
    normalised = do.normalise(settings)
    if judge and not fetched.source_failed:
        trouble = steps.broken_source(settings, fetched, normalised)
        if trouble:
            fetched = replace(fetched, source_failed=True, source_trouble=trouble)
    return Prepared(
        fetched=fetched,
        normalised=normalised,
        planned=do.plan(settings),
        seconds=time.monotonic() - begun,
    )


def finish(
    settings: NightlySettings,
    do: Steps,
    prepared: Prepared,
    on_progress: steps.OnProgress | None = None,
) -> NightlyReport:
    """Solve, aggregate and report."""
    begun = time.monotonic() - prepared.seconds
    solved = do.solve(settings, prepared.planned, on_progress)
    paths = do.aggregate(settings)
    endings: dict[str, Any] = {s.value: solved.statuses.get(s.value, 0) for s in Status}
    figures = NightlyReport(
        **told(settings, prepared),
        **endings,
        planned=solved.job_count,
        already_known=solved.already_known,
        chunks_worked=solved.chunks_worked,
        chunks_found=solved.chunks_found,
        run_id=solved.run_ids[-1] if solved.run_ids else None,
        wall_seconds=time.monotonic() - begun,
        paths=paths,
    )
    return do.report(settings, figures)


def told(settings: NightlySettings, prepared: Prepared) -> dict[str, Any]:
    """Give the figures of a report that are known before anything is solved."""
    fetched, normalised, planned = prepared.fetched, prepared.normalised, prepared.planned
    return {
        "game": settings.game,
        "ask": ", ".join(map(str, settings.asks)),
        "rules": planned.rules,
        "lexicon_id": planned.lexicon_id,
        "fetched": fetched.asked,
        "new_payloads": fetched.new,
        "fetch_failures": fetched.failures,
        "source_failed": fetched.source_failed,
        "source_trouble": fetched.source_trouble,
        "editions": normalised.editions,
        "revisions": normalised.revisions,
        "quarantined": normalised.quarantined,
        "observations": normalised.observations,
        "resumed": planned.resumed,
    }


__all__ = [
    "PLAIN",
    "NightlyReport",
    "NightlySettings",
    "Prepared",
    "Steps",
    "finish",
    "one_night",
    "prepare",
    "run_nightly",
    "run_steps",
    "told",
]
