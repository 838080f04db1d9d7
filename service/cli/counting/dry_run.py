"""`nightgrid count --dry-run`: what there is to do, and about how long it takes."""

from __future__ import annotations

import tempfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import OpenCount, bring_corpus, estimate_count, open_count
from nightgrid.flows.runs import Watch
from nightgrid.service.cli.counting.count_tables import say_estimate
from nightgrid.service.terminal.console import Exit, emit, same_command, say
from nightgrid.service.terminal.progress import SlicesLine
from nightgrid.workers.driver.progress import Left

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
        estimate = estimate_count(settings, corpus)
        begun = open_count(settings, corpus, estimate)
        value = _estimate_json(settings, corpus, estimate, begun)
    if json:
        emit(value)
        return Exit.OK
    say_estimate(value)
    if begun is not None:
        say(begun.sentence())
        if begun.cancelled:
            say(f"  {same_command('--resume', without=['--dry-run'])}")
    return Exit.OK


def _estimate_json(
    settings: CountSettings, corpus: Corpus, estimate: PlanPass, begun: OpenCount | None
) -> dict[str, Any]:
    """Write an estimate as --json has it; of a run that is `begun`, what is left."""
    processes = settings.processes
    whole = Left(core_s=estimate.cost_s, wall_s=estimate.cost_s / processes, at_least=False)
    left = whole if begun is None else begun.left
    return {
        "corpus": corpus.name,
        "corpus_id": corpus.corpus_id,
        "game": corpus.game,
        "ask": str(settings.ask),
        "rows": corpus.row_count,
        "quarantined": corpus.quarantined,
        "jobs": estimate.job_count if begun is None else begun.jobs_left,
        "repeated": estimate.repeated_count,
        "already_known": estimate.answered_count,
        "chunks": estimate.chunk_count if begun is None else begun.chunks_left,
        "core_seconds": left.core_s,
        "workers": processes,
        "wall_seconds": left.wall_s,
        "at_least": left.at_least,
        "begun_run": None if begun is None else begun.run_id,
        "planned": None if begun is None else begun.planned,
        "cancelled": begun is not None and begun.cancelled,
        "jobs_done": None if begun is None else begun.jobs_done,
        "chunks_done": None if begun is None else begun.chunks_done,
        "largest": estimate.largest,
    }
