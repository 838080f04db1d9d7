"""What a worker does with a message: ranks its boards one by one, and files each at once.

A message names what ranks, so that workers of another version or without the models leave
it to others. A board that is ranked already is passed over: a message may come twice. An attempt is
noted in the lake before its board is ranked; a board over the cap on attempts is poison. A ranking
on demand that is cancelled is not begun, and ends at the next step or look of the search where it
has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.games.plug import Ranker
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import (
    RankingRequest,
    failed_row,
    keep_ranking,
    rank,
    ranking_path,
)
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.freed_memory import map_large, trim
from nightgrid.workers.runs.interests import drop_interests
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import CancelCheck, Watcher, watching

FOLDER = "runs/rankings"
INLINE_WORKER = "inline"
"""Worker id of boards that a process ranks for itself."""
CANCELLED = "cancelled"
"""In the note of a ranking that is not wanted any more: why."""
MESSAGE_KEYS = {"ranker", "boards"}


def ranking_message(ranker: str, boards: Iterable[RankingRequest]) -> dict[str, Any]:
    """Write the message by which boards are ranked."""
    return {"ranker": ranker, "boards": [wanted.to_json() for wanted in boards]}


def read_message(message: Mapping[str, Any]) -> tuple[str, list[RankingRequest]]:
    """Read a message. Raises PermanentError for anything else."""
    if set(message) != MESSAGE_KEYS or not isinstance(message["boards"], list):
        raise PermanentError("expected a message with ranker and boards")
    return str(message["ranker"]), [RankingRequest.from_json(value) for value in message["boards"]]


@lru_cache(maxsize=1)
def open_ranker() -> Ranker:
    """Open what ranks on this machine, once a process."""
    map_large()
    return ranking_plug().open_ranker()


def warm() -> None:
    """Open what ranks, and load the kernels that it needs, by ranking small boards."""
    ranking_plug().warm(open_ranker())
    trim()


def attempts_path(ranking_id: str) -> str:
    """Name the file that counts attempts at a board."""
    return f"{FOLDER}/attempts/{ranking_id}.json"


def request_path(ranking_id: str) -> str:
    """Name the file of a request for a ranking on demand."""
    return f"{FOLDER}/wanted/{ranking_id}.json"


def rank_message(
    lake: Lake,
    message: Mapping[str, Any],
    settings: Settings,
    worker: str = INLINE_WORKER,
    about: str = "",
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Rank the boards of a message that the lake has no ranking of.

    `about` is what its sender called the message. One on demand is called after its ranking, which
    may be cancelled; boards of a night are ranked whatever was asked on demand.

    Raises RefusalError when this process cannot rank as the message wants.
    """
    try:
        wanted_ranker, boards = read_message(message)
        ranker = open_ranker()
    except PermanentError as error:
        raise RefusalError(str(error)) from error
    name = ranker.name
    if name != wanted_ranker:
        raise RefusalError(
            f"boards are to be ranked by {wanted_ranker!r:.60}, and this worker has {name}"
        )
    budget = Budget(
        nodes=settings.budget_nodes,
        table_bytes=settings.budget_table_bytes,
        seconds=settings.budget_seconds,
    )
    done = 0
    for one in boards:
        ranking_id = one.ranking_id(name)
        if ranking_id != about:
            done += rank_board(lake, ranker, one, budget, settings, worker)
            continue
        check = _ranking_cancel_check(lake, ranking_id)
        if check() is not None:
            continue
        with watching(watcher, ranking_id, check) as stop:
            own = replace(budget, stop=stop)
            done += rank_board(lake, ranker, one, own, settings, worker)
    return {"ranked": done, "boards": len(boards)}


def _ranking_cancel_check(lake: Lake, ranking_id: str) -> CancelCheck:
    path = request_path(ranking_id)
    return lambda: (
        ReasonCode.CANCELLED if read_hint(lake, path, lambda note: note.get(CANCELLED)) else None
    )


def rank_board(
    lake: Lake,
    ranker: Ranker,
    wanted: RankingRequest,
    budget: Budget,
    settings: Settings,
    worker: str = INLINE_WORKER,
) -> bool:
    """Rank a board and file its ranking, unless the lake has one; tell whether it did so.

    What the budget's stop has ended is filed nowhere, and is no attempt that counts.
    """
    ranking_id = wanted.ranking_id(ranker.name)
    if lake.exists(ranking_path(ranking_id)):
        _tidy(lake, ranking_id)
        return False
    note = attempts_path(ranking_id)
    attempts = read_attempts(lake, ranking_id)[0]
    if attempts >= settings.attempts_max:
        reason = f"{attempts} attempts ended without an answer"
        row = failed_row(ranker.name, wanted, Status.POISON, reason, ReasonCode.PROCESS_LOST)
    else:
        write_json(lake, note, {"attempts": attempts + 1, "worker": worker}, durable=False)
        row = rank(ranker, wanted, budget)
        # The next board's pieces are found in new buffers, which would lie beside the freed ones.
        trim()
        if budget.stopped is not None and row["status"] == Status.OVER_BUDGET:
            lake.delete(note, durable=False)
            return False
    kept = keep_ranking(lake, row)
    _tidy(lake, ranking_id)
    return kept


def read_attempts(lake: Lake, ranking_id: str) -> tuple[int, str | None]:
    """Read how often a board was begun, and which worker began last; None: none that is known."""
    note = read_hint(
        lake, attempts_path(ranking_id), lambda found: (int(found["attempts"]), found["worker"])
    )
    return note or (0, None)


def _tidy(lake: Lake, ranking_id: str) -> None:
    lake.delete(attempts_path(ranking_id), durable=False)
    if lake.exists(request_path(ranking_id)):
        lake.delete(request_path(ranking_id), durable=False)
        drop_interests(lake, ranking_id)
