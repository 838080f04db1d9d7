"""`nightgrid count --cancel RUN`: a run is cancelled, wherever it is worked."""

from __future__ import annotations

from dataclasses import asdict

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import Exit, emit, say
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural
from nightgrid.workers.broker.notices import request_stop
from nightgrid.workers.runs.run_files import is_run_id
from nightgrid.workers.runs.status import cancel_run


def cancel(run_id: str, lake: str | None, *, json: bool) -> Exit:
    """Cancel a run of a lake, and say what is left of it."""
    if not is_run_id(run_id):
        raise PermanentError(
            f"--cancel is {run_id!r:.60}; expected the id of a run, 32 hexadecimal digits, which "
            "the count has told"
        )
    settings = read_settings(lake=lake)
    status = cancel_run(Lake.open(settings.lake), run_id)
    if not status.finished:
        request_stop(settings, run_id)
    if json:
        emit(asdict(status))
        return Exit.OK
    if status.finished:
        say(f"Run {run_id} had finished: there is nothing to cancel.")
        return Exit.OK
    say(
        f"Run {run_id} of {plural(status.jobs, 'job')} is cancelled since {status.cancelled_at}: "
        f"{plural(status.chunks_done, 'chunk')} done, {status.chunks_left:,} left. Its driver "
        "and workers stop within seconds; nightgrid count CORPUS --resume goes on."
    )
    return Exit.OK
