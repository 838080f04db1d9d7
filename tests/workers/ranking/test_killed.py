"""Boards are ranked by real workers: one that is killed loses none, one is stopped by a client."""

import sys
from pathlib import Path

import pytest

from benchmarks.instruments.processes import wait_for
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import RankingRequest, find_ranking, known_rankings
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.ranking.driving import drive_rankings
from nightgrid.workers.ranking.ondemand import (
    leave_ranking,
    ranking_status,
    submit_ranking,
    wait_for_ranking,
)
from nightgrid.workers.ranking.work import attempts_path
from tests.solvers.strands.boards import board
from tests.workers.conftest import quick_settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import small_ranking_app as small  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(300)]
ROWS = ("HOTD GOGO CATS SCAT", "HOTD GOGO SCAT CATS", "CATS HOTD GOGO SCAT", "XXXX XXXX XXXX XXXX")
BOARDS = [
    RankingRequest(puzzle=board(rows, 2), clue=clue) for rows in ROWS for clue in (None, "pets")
]
ONCE = RankingRequest(puzzle=board(ROWS[0], 2), clue=small.ONCE)
LONG = RankingRequest(puzzle=board(small.LONG_ROWS, 10), clue=small.LONG)
FATAL = RankingRequest(puzzle=board(ROWS[0], 2), clue=small.FATAL)


@pytest.mark.long(
    short="tests/workers/ranking/test_work.py::test_a_board_that_kills_its_worker_is_poison_in_the_end"
)
def test_a_killed_process_loses_no_board(tmp_path, monkeypatch):
    """Given boards at which processes die, Then all are ranked but the one that is always fatal."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("SMALL_RANKING_FOLDER", str(tmp_path))
    settings = quick_settings(tmp_path, celery_app="small_ranking_app", games="")
    ranker = small.RANKER.name
    lake = Lake.open(settings.lake)
    wanted = [*BOARDS, ONCE, FATAL]
    told = []
    with local_cluster(settings, roles=("server", "batch")):
        drive_rankings(lake, wanted, ranker, settings, lambda done, of: told.append((done, of)))
    assert told[-1] == (len(wanted), len(wanted))
    assert known_rankings(lake) == {one.ranking_id(ranker) for one in wanted}
    ends = [find_ranking(lake, one.ranking_id(ranker))["status"] for one in (ONCE, FATAL)]
    assert ends == ["solved", "poison"]
    assert lake.list("runs/rankings") == []


@pytest.mark.long(
    short="tests/workers/ranking/test_work.py::test_a_ranking_that_is_cancelled_while_it_is_made_stops_and_is_filed_nowhere"
)
def test_a_ranking_that_is_cancelled_while_a_worker_is_at_it_frees_the_worker(
    tmp_path, monkeypatch
):
    """Given a search that ends with its stop alone, When left, Then the next board is ranked."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("SMALL_RANKING_FOLDER", str(tmp_path))
    monkeypatch.setattr(
        "nightgrid.archive.games.strands.ranking.minilm.is_installed", lambda: False
    )
    settings = quick_settings(tmp_path, celery_app="small_ranking_app", games="")
    lake = Lake.open(settings.lake)
    with local_cluster(settings, roles=("server", "interactive")):
        ranking = submit_ranking(lake, LONG, settings)
        wait_for((tmp_path / small.BEGUN).exists, "the search begun", 120)
        assert ranking_status(lake, ranking).state == "running"
        now, left = leave_ranking(lake, ranking, None, settings)
        assert (now.state, left) == ("cancelled", 0)
        other = submit_ranking(lake, BOARDS[0], settings)
        assert wait_for_ranking(lake, other, 120).state == "done"
    assert ranking_status(lake, ranking).state == "cancelled"
    assert known_rankings(lake) == {other}
    assert not lake.exists(attempts_path(ranking))
