"""Work ranges of a job on demand in an idle process, for the worker that shares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.workers.broker.shares import OPENED_WITHIN_S, Share
from nightgrid.workers.ondemand.budgets import small_budget
from nightgrid.workers.ondemand.cancelling import job_cancel_check
from nightgrid.workers.ondemand.record_files import read_record
from nightgrid.workers.ondemand.sharing.ranges import Steps, work_ranges
from nightgrid.workers.ondemand.task.messages import read_message
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import Watcher, watching


def work_shared_ranges(
    lake: Lake,
    call: Mapping[str, Any],
    client: redis.Redis,
    settings: Settings,
    worker: str,
    watcher: Watcher | None = None,
) -> int:
    """Work ranges of a job as long as there are any; return how many were brought back.

    `call` is the job's message beside the share's token. The share may not be open yet. What fails
    here fails nothing: the job's worker works what it is not brought.
    """
    share = Share.join(client, settings, str(call["token"]))
    if not share.is_there():
        return 0
    game, puzzle, question, budget, job = read_message(lake, call["message"])
    record = read_record(lake, job)
    if record is None or record.run_id is not None:
        return 0
    brought = 0
    with watching(watcher, job, job_cancel_check(lake, record), record.deadline_at) as stop:
        spent = replace(small_budget(budget, settings), stop=stop)
        try:
            search = game.ranged(puzzle, question.ask, spent)
            steps = None if search is None else Steps.of(search)
            shape = share.opened(OPENED_WITHIN_S)
            if steps is None or (steps.count, steps.search.size) != shape:
                return 0
            for one in work_ranges(steps, share, worker):
                if spent.stopped is not None:
                    break
                share.bring(one.to_json(game))
                brought += 1
        except BudgetSpentError:
            # Its own worker runs out as well, and says so of the job.
            return brought
    return brought
