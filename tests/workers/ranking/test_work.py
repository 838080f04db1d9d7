"""A message ranks its boards, each once, as it names; what kills its worker ends as poison."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import NAME, fitted_weights
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import RankingRequest, find_ranking, known_rankings
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from nightgrid.workers.ranking import driving, work
from nightgrid.workers.ranking.work import (
    attempts_path,
    rank_message,
    ranking_message,
    request_path,
)
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import CancelCheck
from tests.solvers.strands.boards import board

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
RANKER = Ranker(fitted_weights(), vocabulary_of(WORDS, set(WORDS), []), None)
ALONE = f"{NAME}-alone"
BOARDS = [
    RankingRequest(puzzle=board("HOTD GOGO CATS SCAT", 2), clue="letters"),
    RankingRequest(puzzle=board("HOTD GOGO SCAT CATS", 2), clue=None),
    RankingRequest(puzzle=board("XXXX XXXX", 1), clue=None),
]
IDS = [wanted.ranking_id(ALONE) for wanted in BOARDS]


@pytest.fixture(autouse=True)
def small_ranker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "open_ranker", lambda: RANKER)
    monkeypatch.setattr(driving, "open_ranker", lambda: RANKER)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(lake=str(tmp_path / "lake"))


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake.open(settings.lake)


def test_a_message_ranks_what_is_not_ranked(lake: Lake, settings: Settings):
    message = ranking_message(ALONE, BOARDS)
    write_json(lake, request_path(IDS[0]), {"ranker": ALONE})
    assert rank_message(lake, message, settings) == {"ranked": 3, "boards": 3}
    assert known_rankings(lake) == set(IDS)
    assert rank_message(lake, message, settings) == {"ranked": 0, "boards": 3}
    assert lake.list("runs/rankings") == []


def test_a_message_for_others_is_refused_and_files_nothing(lake: Lake, settings: Settings):
    with pytest.raises(RefusalError, match=f"by '{NAME}', and this worker has {ALONE}"):
        rank_message(lake, ranking_message(NAME, BOARDS), settings)
    for wrong in ({}, {"ranker": ALONE, "boards": 3}, {"ranker": ALONE, "boards": [{}]}):
        with pytest.raises(RefusalError, match="expected"):
            rank_message(lake, wrong, settings)
    assert known_rankings(lake) == set()


def test_a_board_that_kills_its_worker_is_poison_in_the_end(
    lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    """Given a board at which the process dies, Then the others are ranked and it is poison."""

    def die(_ranker: Ranker, wanted: RankingRequest, _budget: object) -> None:
        raise KeyboardInterrupt

    message = ranking_message(ALONE, BOARDS[:1])
    with monkeypatch.context() as dying:
        dying.setattr(work, "rank", die)
        for attempt in range(1, settings.attempts_max + 1):
            with pytest.raises(KeyboardInterrupt):
                rank_message(lake, message, settings)
            assert read_json(lake, attempts_path(IDS[0])) == {
                "attempts": attempt,
                "worker": "inline",
            }
        rank_message(lake, message, settings)
    found = find_ranking(lake, IDS[0])
    assert found is not None
    assert (found["status"], found["covers"]) == ("poison", [])
    assert lake.list("runs/rankings") == []


class Server:
    """Stands for the queue: takes messages, and works or loses them as told."""

    def __init__(self, lake: Lake, settings: Settings, lost: int = 0) -> None:
        self.lake, self.settings, self.lost = lake, settings, lost
        self.sent: list[dict[str, object]] = []

    def send(self, _app: object, _task: str, _queue: str, _about: str, message: dict) -> None:  # type: ignore[type-arg]
        self.sent.append(message)
        if self.lost:
            self.lost -= 1
        else:
            rank_message(self.lake, message, self.settings)


def drive(
    server: Server, monkeypatch: pytest.MonkeyPatch, boards: list[RankingRequest]
) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(driving, "send", server.send)
    monkeypatch.setattr(driving, "living_workers", lambda *_: {})
    monkeypatch.setattr(driving, "BOARDS_A_MESSAGE", 2)
    monkeypatch.setattr(driving, "POLL_SECONDS", 0)
    seen = driving.traffic.__globals__["Traffic"](waiting=frozenset(), acquired=frozenset())
    monkeypatch.setattr(driving, "traffic", lambda *_: seen)
    driving.drive_rankings(
        server.lake, boards, ALONE, server.settings, lambda done, of: told.append((done, of))
    )
    return told


def test_a_driver_sends_what_is_lost_again(
    lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    server = Server(lake, settings, lost=2)
    assert drive(server, monkeypatch, BOARDS)[-1] == (3, 3)
    assert len(server.sent) == 4
    assert known_rankings(lake) == set(IDS)


def test_a_driver_gives_up_where_no_worker_ranks(
    lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(TransientError, match="no worker has ranked one by"):
        drive(
            Server(lake, settings.model_copy(update={"broker_patience_seconds": 0}), lost=99),
            monkeypatch,
            BOARDS,
        )


def test_boards_are_ranked_in_this_process(lake: Lake, settings: Settings):
    told: list[int] = []
    driving.rank_inline(lake, BOARDS, settings, lambda done, _: told.append(done))
    assert told == [1, 2, 3]
    assert known_rankings(lake) == set(IDS)


def test_a_ranking_that_is_cancelled_while_it_is_made_stops_and_is_filed_nowhere(
    lake: Lake, settings: Settings
):
    """Given a stop before the search begins, Then it ends at once, and no attempt is counted."""
    checks: list[object] = []

    class Cancelled:
        @contextmanager
        def watching(
            self, name: str, check: CancelCheck, deadline_at: float | None = None
        ) -> Iterator[Stop]:
            assert (name, deadline_at) == (IDS[0], None)
            checks.append(check())
            write_json(lake, request_path(IDS[0]), {"cancelled": "by its client"})
            checks.append(check())
            stop = Stop()
            stop.set(ReasonCode.CANCELLED)
            yield stop

    message = ranking_message(ALONE, BOARDS[:1])
    report = rank_message(lake, message, settings, about=IDS[0], watcher=Cancelled())

    assert report == {"ranked": 0, "boards": 1}
    assert checks == [None, ReasonCode.CANCELLED]
    assert known_rankings(lake) == set()
    assert not lake.exists(attempts_path(IDS[0]))
    # A night that ranks the same board asks nobody on demand.
    assert rank_message(lake, message, settings)["ranked"] == 1
