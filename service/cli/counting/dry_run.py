"""`nightgrid count --dry-run`: what there is to do, and about how long it takes."""

from __future__ import annotations

import tempfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import begun_run, bring_corpus, estimate_count
from nightgrid.flows.runs import Watch, how_far
from nightgrid.service.cli.counting.count_tables import say_estimate
from nightgrid.service.terminal.console import Exit, emit, same_command, say
from nightgrid.service.terminal.progress import SlicesLine
from nightgrid.workers.runs.status import is_cancelled

if TYPE_CHECKING:
    from nightgrid.archive.corpus.corpus import Corpus
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.workers.runs.plan.plan_pass import PlanPass


def tell_estimate(settings: CountSettings, *, json: bool) -> Exit:
    """Say what a count of the corpus would come to; nothing is solved, and the lake only read.

    A corpus that the lake lacks is made in a folder that is deleted again.
    """
    with tempfile.TemporaryDirectory(prefix="nightgrid-corpus-") as folder:
        with closing(SlicesLine()) as slices:
            watch = Watch(on_slices=slices, on_rows=slices.rows)
            corpus = bring_corpus(settings, watch, into=Lake.open(folder))
        value = _estimate_json(settings, corpus, estimate_count(settings, corpus))
    if json:
        emit(value)
        return Exit.OK
    say_estimate(value)
    if run_id := value["begun_run"]:
        cancelled = value["cancelled"]
        what = "cancelled" if cancelled else "begun"
        say(f"Run {run_id} is {what}: {how_far(settings, run_id, cancelled=cancelled)}.")
        if cancelled:
            say(f"  {same_command('--resume', without=['--dry-run'])}")
    return Exit.OK


def _estimate_json(settings: CountSettings, corpus: Corpus, estimate: PlanPass) -> dict[str, Any]:
    """Write an estimate as --json has it."""
    begun = begun_run(settings, corpus)
    return {
        "corpus": corpus.name,
        "corpus_id": corpus.corpus_id,
        "game": corpus.game,
        "ask": str(settings.ask),
        "rows": corpus.row_count,
        "quarantined": corpus.quarantined,
        "jobs": estimate.job_count,
        "repeated": estimate.repeated_count,
        "already_known": estimate.answered_count,
        "chunks": estimate.chunk_count,
        "core_seconds": estimate.cost_s,
        "workers": settings.processes,
        "wall_seconds": estimate.cost_s / settings.processes,
        "begun_run": begun,
        "cancelled": begun is not None and is_cancelled(settings.lake, begun),
        "largest": estimate.largest,
    }
