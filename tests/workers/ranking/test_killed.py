"""Boards are ranked by real workers, and a process that is killed at one loses none."""

import sys
from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.rankings import Wanted, find_ranking, known_rankings
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.ranking.driving import drive_rankings
from tests.solvers.strands.boards import board
from tests.workers.conftest import quick_settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import small_ranking_app as small  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(300)]
ROWS = ("HOTD GOGO CATS SCAT", "HOTD GOGO SCAT CATS", "CATS HOTD GOGO SCAT", "XXXX XXXX XXXX XXXX")
BOARDS = [Wanted(puzzle=board(rows, 2), clue=clue) for rows in ROWS for clue in (None, "pets")]
ONCE = Wanted(puzzle=board(ROWS[0], 2), clue=small.ONCE)
FATAL = Wanted(puzzle=board(ROWS[0], 2), clue=small.FATAL)


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
