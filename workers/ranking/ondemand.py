"""Rankings of single boards on demand: asked for, looked up, left, and sent again when lost.

That a ranking is wanted is a note in the lake until the ranking is there; the message on the queue
`interactive` only gets it made soon. A note also says that a ranking failed or was cancelled, until
it is asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import redis

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.lake.faults import DamagedFileError, set_aside
from nightgrid.archive.lake.json_files import checked_value, read_as, read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import (
    RankingRequest,
    find_ranking,
    ranking_path,
)
from nightgrid.workers.app import RANK_BOARDS, client_app
from nightgrid.workers.broker.notices.job_notifications import notify_of_job
from nightgrid.workers.broker.queues import INTERACTIVE, Watch, send, traffic
from nightgrid.workers.broker.stop_keys import request_stop
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ranking.work import (
    CANCELLED,
    FOLDER,
    attempts_path,
    ranking_message,
    request_path,
)
from nightgrid.workers.runs.interests import (
    add_interest,
    drop_interests,
    interest_name,
    withdraw_interest,
)
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.ranking")

State = Literal["queued", "running", "done", "failed", "cancelled", "unknown"]
OPEN_STATES = ("queued", "running")
POLL_SECONDS = 0.2
HELD_SECONDS = 120.0
"""A message that a worker has taken, and that came to nothing for so long, is sent again."""
SENDS_MAX = 6
DAY_SECONDS = 24 * 3600.0
BY_CLIENT = "cancelled by its client"
NO_WORKER = (
    "sent {sends} times, and no worker has ranked it by {ranker}: are workers of another version, "
    "or without the models of ranking?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingStatus:
    """Where a ranking is."""

    ranking_id: str
    state: State
    ranking: Mapping[str, Any] | None = None
    """The row of the table `rankings`, its covers as JSON values, when it is done."""
    reason: str = ""
    """Why it failed or was cancelled."""

    @property
    def is_open(self) -> bool:
        """Tell whether it is wanted and not made yet."""
        return self.state in OPEN_STATES


def submit_ranking(
    lake: Lake, wanted: RankingRequest, settings: Settings, interest: str = ""
) -> str:
    """Ask for a board to be ranked soon; return the ranking's id.

    Costs no task when the lake has the ranking, or it is wanted already. `interest` tells the
    client from others that want the same (nightgrid.workers.runs.interests). Raises TransientError
    when the broker is dead: the ranking is wanted all the same, and the keeper sends it.
    """
    ranker = ranking_plug().ranker_here()
    ranking_id = wanted.ranking_id(ranker)
    state = ranking_status(lake, ranking_id)
    if state.state == "done":
        return ranking_id
    known = _note(lake, ranking_id) if state.is_open else None
    if known is not None:
        add_interest(lake, ranking_id, known["submitted_at"], interest or interest_name())
        return ranking_id
    message = ranking_message(ranker, [wanted])
    submitted_at = time.time()
    note = {"message": message, "submitted_at": submitted_at, "sends": 1}
    add_interest(lake, ranking_id, submitted_at, interest or interest_name())
    write_json(lake, request_path(ranking_id), note)
    _send(settings, ranking_id, message)
    return ranking_id


def leave_ranking(
    lake: Lake, ranking_id: str, interest: str | None, settings: Settings
) -> tuple[RankingStatus, int]:
    """Withdraw one client's interest in a ranking, and cancel it when it was the last.

    `interest` None cancels it, however many want it. Returns where the ranking is now, and how many
    other interests there are. A worker that is at it stops within a second; one that was about to
    file the ranking may still do so.
    """
    note = _note(lake, ranking_id)
    if note is None or not ranking_status(lake, ranking_id).is_open:
        return ranking_status(lake, ranking_id), 0
    if interest is not None:
        left = withdraw_interest(lake, ranking_id, note["submitted_at"], interest)
        if left:
            return ranking_status(lake, ranking_id), left
    _end(lake, ranking_id, note | {CANCELLED: BY_CLIENT})
    request_stop(settings, ranking_id)
    return ranking_status(lake, ranking_id), 0


def _end(lake: Lake, ranking_id: str, note: dict[str, Any]) -> None:
    """Keep in a note how a ranking ended that was not made."""
    write_json(lake, request_path(ranking_id), note | {"ended_at": time.time()})
    lake.delete(attempts_path(ranking_id), durable=False)
    drop_interests(lake, ranking_id)


def ranking_status(lake: Lake, ranking_id: str) -> RankingStatus:
    """Tell where a ranking is."""
    if lake.exists(ranking_path(ranking_id)):
        row = find_ranking(lake, ranking_id)
        return RankingStatus(ranking_id=ranking_id, state="done", ranking=row)
    note = _note(lake, ranking_id)
    if note is None:
        return RankingStatus(ranking_id=ranking_id, state="unknown")
    if note.get("failed"):
        return RankingStatus(ranking_id=ranking_id, state="failed", reason=str(note["failed"]))
    if note.get(CANCELLED):
        return RankingStatus(ranking_id=ranking_id, state="cancelled", reason=str(note[CANCELLED]))
    is_begun = lake.exists(attempts_path(ranking_id))
    return RankingStatus(ranking_id=ranking_id, state="running" if is_begun else "queued")


def wait_for_ranking(lake: Lake, ranking_id: str, timeout_s: float) -> RankingStatus:
    """Wait until a ranking has ended, at most so long; tell where it is then."""
    ends_at = time.monotonic() + timeout_s
    while True:
        found = ranking_status(lake, ranking_id)
        left_s = ends_at - time.monotonic()
        if not found.is_open or left_s <= 0:
            return found
        time.sleep(min(POLL_SECONDS, left_s))


def _note(lake: Lake, ranking_id: str) -> dict[str, Any] | None:
    """Read what is wanted; None: nothing is, or the note is damaged and can be made again."""
    return read_hint(lake, request_path(ranking_id), _checked)


def read_request_file(lake: Lake, path: str) -> dict[str, Any] | None:
    """Read a request for a ranking; None: it is gone. Raises DamagedFileError."""
    return read_as(lake, path, _checked)


def _checked(note: dict[str, Any]) -> dict[str, Any]:
    checked_value(note, "sends", int)
    for name in ("submitted_at", "ended_at"):
        checked_value({"ended_at": 0, **note}, name, float, int)
    # A later version may say more of the boards: its workers read that.
    message = checked_value(note, "message", dict)
    checked_value(message, "ranker", str)
    if not checked_value(message, "boards", list):
        raise ValueError("its message names no board")
    return note


def _send(settings: Settings, ranking_id: str, message: dict[str, Any]) -> None:
    app = client_app(settings)
    try:
        send(app, RANK_BOARDS, INTERACTIVE, ranking_id, message)
    finally:
        app.close()


class RankingKeeper:
    """Sends requested rankings again whose message is lost, for the keeper."""

    def __init__(self, lake: Lake, settings: Settings, client: redis.Redis) -> None:
        self._lake, self._settings, self._client = lake, settings, client
        self._watch = Watch(patience_s=HELD_SECONDS)

    def poll(self) -> None:
        """Send requested rankings again whose message is lost.

        Raises redis.RedisError and NightgridError.
        """
        folder = f"{FOLDER}/wanted"
        names = [path.rpartition("/")[2] for path in self._lake.list(folder)]
        wanted = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        if not wanted:
            return
        gone = self._watch.gone(wanted, traffic(self._client, self._settings, INTERACTIVE))
        for ranking_id in wanted:
            if self._lake.exists(ranking_path(ranking_id)):
                self._lake.delete(request_path(ranking_id), durable=False)
                drop_interests(self._lake, ranking_id)
            elif ranking_id in gone:
                self._send_again(ranking_id)

    def drop_old_ends(self, kept_days: float) -> None:
        """Forget rankings that failed or were cancelled so long ago."""
        before = time.time() - kept_days * DAY_SECONDS
        for path in self._lake.list(f"{FOLDER}/wanted"):
            note = read_hint(self._lake, path, _checked)
            if note is not None and note.get("ended_at", before) < before:
                self._lake.delete(path, durable=False)

    def _send_again(self, ranking_id: str) -> None:
        path = request_path(ranking_id)
        try:
            note = read_request_file(self._lake, path)
        except DamagedFileError as error:
            aside = set_aside(self._lake, path)
            log.warning("request set aside", path=path, now=aside, reason=str(error))
            self._lake.delete(attempts_path(ranking_id), durable=False)
            drop_interests(self._lake, ranking_id)
            notify_of_job(self._client, self._settings, ranking_id)
            return
        if note is None or note.get("failed") or note.get(CANCELLED):
            return
        if note["sends"] >= SENDS_MAX:
            ranker = note["message"]["ranker"]
            note["failed"] = NO_WORKER.format(sends=note["sends"], ranker=ranker)
            log.warning("refused", ranking=ranking_id, reason=note["failed"])
            _end(self._lake, ranking_id, note)
            notify_of_job(self._client, self._settings, ranking_id)
            return
        log.info("sent again", ranking=ranking_id, sends=note["sends"])
        write_json(self._lake, request_path(ranking_id), note | {"sends": note["sends"] + 1})
        _send(self._settings, ranking_id, note["message"])
