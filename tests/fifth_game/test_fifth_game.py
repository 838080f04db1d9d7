"""A fifth game from one folder: everything supports it, though no list elsewhere names it.

The folder is a distribution of its own, as an installed one would be: a package and the entry
points that plug it in. Every process finds it on PYTHONPATH, workers and their children too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, RESULTS
from nightgrid.archive.lake.storage import Lake
from tests.service.scenes import ROOT, environment
from tests.warm_interpreter import started

FOLDER = Path(__file__).parent
PATHS = os.pathsep.join((str(ROOT), str(FOLDER)))
READY_S = 120
PURSE = {"coins": [1, 2, 3, 4, 5], "total": 7}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def count_by_hand(puzzle: dict[str, Any], most: int | None = None) -> int:
    coins = puzzle["coins"]
    sizes = range(1, (most or len(coins)) + 1)
    chosen = (choice for size in sizes for choice in combinations(coins, size))
    return sum(sum(choice) == puzzle["total"] for choice in chosen)


def at_home(**extra: str) -> dict[str, str]:
    return environment(PYTHONPATH=PATHS, NIGHTGRID_GAMES="coins", **extra)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the interpreter in forks of a process with the game plugged in."""
    place = tmp_path_factory.mktemp("warm") / "venv"
    with started(place, PYTHONPATH=PATHS, NIGHTGRID_GAMES="coins") as folder:
        yield folder / "bin" / "python"


@pytest.fixture
def nightgrid(tmp_path: Path, python: Path) -> Run:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(python), "-m", "nightgrid.service.cli.app", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=at_home(),
            timeout=150,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def archive(tmp_path: Path, nightgrid: Run) -> dict[str, dict[str, Any]]:
    """Payloads of four days by date, in the folder `source`."""
    nightgrid("generate", "--game", "coins", "--out", "source", "--days", "4")
    return {path.stem: json.loads(path.read_text()) for path in (tmp_path / "source").iterdir()}


def write(tmp_path: Path, value: dict[str, Any]) -> str:
    path = tmp_path / "purse.json"
    path.write_text(json.dumps(value))
    return str(path)


def test_its_boards_are_recognised_drawn_and_solved(tmp_path: Path, nightgrid: Run) -> None:
    file = write(tmp_path, PURSE)
    assert "(1) (2) (3) (4) (5) -> 7" in nightgrid("show", file).stdout
    assert "= 7" in nightgrid("solve", file).stdout
    counted = json.loads(nightgrid("solve", file, "--count", "--json").stdout)
    assert (counted["game"], counted["count"]) == ("coins", count_by_hand(PURSE))
    few = json.loads(nightgrid("solve", file, "--count", "--rule", "most_coins=2", "--json").stdout)
    assert (few["rules"], few["count"]) == ("most=2", count_by_hand(PURSE, 2))


def test_its_options_are_options_of_the_commands(nightgrid: Run) -> None:
    out = " ".join(nightgrid("solve", "--help").stdout.split())
    assert "Rules of Coins, for --rule: most_coins=N most coins that may be taken." in out
    assert "letterboxed, tiles or coins" in out


def test_a_night_takes_it_from_payloads_to_gold(
    tmp_path: Path, nightgrid: Run, archive: dict[str, dict[str, Any]]
) -> None:
    nightgrid("nightly", "--source", "source", "--game", "coins", "--inline", "--no-prefect")
    lake = Lake.open(str(tmp_path / "lake"))
    rows = lake.read_table("gold/counts_by_date.parquet", COUNTS_BY_DATE).to_pylist()
    found = {row["date"].isoformat(): int(row["count"]) for row in rows}
    assert found == {date: count_by_hand(payload) for date, payload in archive.items()}
    valid = {row["date"].isoformat(): row["official_solution_valid"] for row in rows}
    assert valid == {date: None if p["solution"] is None else True for date, p in archive.items()}


@pytest.mark.long(short="tests/fifth_game/test_fifth_game.py::test_it_is_solved_on_demand")
@pytest.mark.cluster
def test_celery_workers_count_a_corpus_of_it(tmp_path: Path, nightgrid: Run) -> None:
    words = ("count", "coins:n=300,coins=7,seed=3", "--workers", "2", "--no-prefect", "--json")
    assert json.loads(nightgrid(*words).stdout)["game"] == "coins"
    lake = Lake.open(str(tmp_path / "lake"))
    (path,) = lake.list("results")
    rows = lake.read_table(path, RESULTS).to_pylist()
    assert {row["game"] for row in rows} == {"coins"}
    # By hand from the boards in the lake.
    (corpus,) = {name.split("/")[1] for name in lake.list("corpora")}
    boards = [
        row
        for name in lake.list(f"corpora/{corpus}")
        if name.endswith(".parquet")
        for group, _ in enumerate(lake.row_groups(name))
        for row in lake.read_row_groups(name, [group]).to_pylist()
    ]
    by_hand = {
        board["puzzle_id"]: count_by_hand({"coins": board["coin"], "total": board["total"]})
        for board in boards
    }
    assert {row["puzzle_id"]: int(row["count"]) for row in rows} == by_hand


@pytest.fixture
def worker(tmp_path: Path, nightgrid: Run, python: Path) -> Iterator[None]:
    # The first check may come before the worker has created it.
    (tmp_path / "lake").mkdir()
    with subprocess.Popen(
        [str(python), "-m", "nightgrid.service.cli.app", "worker", "--processes", "1"],
        cwd=tmp_path,
        env=at_home(),
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            deadline = time.monotonic() + READY_S
            while not _workers(nightgrid) >= 2:
                assert time.monotonic() < deadline, "the workers did not become ready"
                assert process.poll() is None
                time.sleep(0.2)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _workers(nightgrid: Run) -> int:
    return json.loads(nightgrid("status", "--json").stdout.splitlines()[-1])["workers"] or 0


@pytest.mark.cluster
@pytest.mark.usefixtures("worker")
def test_it_is_solved_on_demand(tmp_path: Path, nightgrid: Run) -> None:
    job = nightgrid("submit", write(tmp_path, PURSE), "--rule", "most_coins=3").stdout.split()[0]
    row = json.loads(nightgrid("result", job, "--wait", "60", "--json").stdout)
    assert (row["game"], row["rules"]) == ("coins", "most=3")
    assert (row["ask"], int(row["count"])) == ("count", count_by_hand(PURSE, 3))


def test_a_game_that_cannot_be_loaded_does_not_affect_the_others(tmp_path: Path) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[nightgrid.solvers]\nbroken = nowhere.plug:PLUG\n")
    done = subprocess.run(
        [sys.executable, "-c", "from nightgrid.solvers.registry import GAMES; print(*GAMES)"],
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path)))),
        check=True,
    )
    assert done.stdout.split() == ["pips", "strands", "letterboxed", "tiles"]
    assert "game 'broken' of nowhere.plug:PLUG cannot be loaded" in done.stderr
