"""Results, solutions and their gold tables."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, RESULTS, RUNTIMES, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.results.gold.rebuild import (
    COUNTS_PATH,
    PENDING,
    RUNTIMES_PATH,
    write_gold,
)
from nightgrid.archive.results.results import (
    find_results,
    find_results_of,
    solution_tables,
)
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.algebra import MAX_COUNT, Ask
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.question import question_of

COUNT = Ask(kind="count")
VERSION = "test-1"


class VersionedGame(PipsGame):
    solver_version = VERSION


GAME = VersionedGame()
ONLY = {"rules": "", "lexicon_id": "", "table_bytes": 1, "parts": 1, "nodes": 5}


def job_id(puzzle_id: str, **other: Any) -> str:
    return replace(question_of(GAME, COUNT), **other).job_id(puzzle_id)


def result(puzzle_id: str, run_id: str = "r1", **given: Any) -> dict[str, Any]:
    row = {
        "job_id": job_id(puzzle_id),
        "puzzle_id": puzzle_id,
        "game": "pips",
        "ask": "count",
        "solver_version": VERSION,
        "status": "solved",
        "count": Decimal(7),
        "reason": "",
        "states": 3,
        "kernel_ns": 1000,
        "run_id": run_id,
    }
    return ONLY | row | given


def put_results(lake: Lake, run_id: str, *rows: dict[str, Any]) -> None:
    ordered = sorted(rows, key=lambda row: row["job_id"])
    table = pa.Table.from_pylist([row | {"run_id": run_id} for row in ordered], schema=RESULTS)
    lake.write_table(f"results/{run_id}.parquet", table)


@pytest.fixture
def filled(lake: Lake, write_archive: Callable[..., Path], now: Callable[[], dt.datetime]) -> Lake:
    """A lake with three days of editions."""
    folder = write_archive("source", {f"2026-01-0{n}": n for n in (1, 2, 3)})
    fetch(lake, FolderSource(folder), now=now)
    normalise(lake)
    return lake


def gold_counts(lake: Lake, asks: Sequence[Ask] = (COUNT,)) -> pa.Table:
    """Write the gold tables and read the counts."""
    write_gold(lake, GAME, asks)
    return lake.read_table(COUNTS_PATH, COUNTS_BY_DATE)


def test_jobs_are_found_across_runs_and_unknown_ones_are_not(lake: Lake) -> None:
    put_results(lake, "r1", result("a"), result("b"))
    put_results(lake, "r2", result("c"))
    rows = lake.read_table(RESULTS_FOLDER, RESULTS, ["run_id"])
    assert rows.column("run_id").to_pylist() == ["r1", "r1", "r2"]
    wanted = [result(name)["job_id"] for name in ("a", "c", "nobody")]
    found = find_results(lake, wanted)
    assert found.schema.equals(RESULTS, check_metadata=True)
    assert sorted(found.column("puzzle_id").to_pylist()) == ["a", "c"]
    assert len(find_results(lake, [])) == 0


def solutions_in(lake: Lake, job: str, run_id: str) -> list[object]:
    row = {"job_id": job, "run_id": run_id, "ask": "all", "count": 3}
    texts = (t for table in solution_tables(lake, row) for t in table["solution"].to_pylist())
    return [json.loads(text) for text in texts]


def test_the_most_informative_of_several_results_counts(lake: Lake) -> None:
    failed = {"count": None, "reason": "the node budget ran out"}
    put_results(lake, "r1", result("a", status="over_budget", **failed), result("b"))
    put_results(lake, "r2", result("a"), result("b", status="poison", **failed))
    put_results(lake, "r3", result("a", status="poison", **failed))
    rows = find_results(lake, [result("a")["job_id"], result("b")["job_id"]]).to_pylist()
    assert {(r["puzzle_id"], r["status"], r["run_id"]) for r in rows} == {
        ("a", "solved", "r2"),
        ("b", "solved", "r1"),
    }


def test_the_largest_count_comes_back_exactly(lake: Lake) -> None:
    put_results(lake, "r1", result("a", count=Decimal(MAX_COUNT)))
    (row,) = find_results(lake, [result("a")["job_id"]]).to_pylist()
    assert int(row["count"]) == MAX_COUNT


def test_solutions_come_in_their_order_from_one_run(lake: Lake) -> None:
    for run_id in ("r2", "r1"):
        rows = [
            {
                "job_id": "j",
                "puzzle_id": "p",
                "game": "pips",
                "ask": "all",
                "rank": rank,
                "solution": json.dumps([run_id, rank]),
                "run_id": run_id,
            }
            for rank in (2, 0, 1)
        ]
        lake.write_table(
            f"solutions/{run_id}.parquet", pa.Table.from_pylist(rows, schema=SOLUTIONS)
        )
    assert solutions_in(lake, "j", "r1") == [["r1", 0], ["r1", 1], ["r1", 2]]
    assert solutions_in(lake, "j", "r2") == [["r2", 0], ["r2", 1], ["r2", 2]]
    assert solutions_in(lake, "j", "r3") == solutions_in(lake, "other", "r1") == []


def test_counts_by_date_join_current_editions_with_their_results(filled: Lake) -> None:
    editions = current_editions(filled).to_pylist()
    counted, unsolvable, other_version = (row["puzzle_id"] for row in editions[:3])
    put_results(
        filled,
        "r1",
        result(counted, count=Decimal(12), states=9, kernel_ns=77),
        result(unsolvable, status="unsolvable", count=Decimal(0)),
        result(other_version)
        | {
            "job_id": job_id(other_version, solver_version="test-0"),
            "solver_version": "test-0",
        },
    )
    table = gold_counts(filled)
    rows = table.to_pylist()
    with filled.open_parquet(COUNTS_PATH) as file:
        assert file.schema_arrow.equals(COUNTS_BY_DATE, check_metadata=True)
    assert [(r["date"], r["level"]) for r in rows] == [
        (dt.date(2026, 1, n), level) for n in (1, 2, 3) for level in ("easy", "hard", "medium")
    ]
    assert (rows[0]["status"], rows[0]["count"], rows[0]["states"], rows[0]["kernel_ns"]) == (
        "solved",
        12,
        9,
        77,
    )
    assert (rows[1]["status"], rows[1]["count"]) == ("unsolvable", 0)
    assert {(r["status"], r["count"]) for r in rows[2:]} == {(PENDING, None)}
    assert all(row["size"] >= 1 for row in rows)
    assert {row["official_solution_valid"] for row in rows} == {True}


def test_an_official_solution_is_checked_against_the_stored_board(filled: Lake) -> None:
    rows = filled.read_table("editions", EDITIONS).to_pylist()
    rows[0]["official_solution"] = rows[3]["official_solution"]
    rows[1]["official_solution"] = None
    filled.write_table("editions/pips.parquet", pa.Table.from_pylist(rows, schema=EDITIONS))
    counts = gold_counts(filled)
    valid = counts.column("official_solution_valid").to_pylist()
    assert valid[:2] == [False, None]
    assert set(valid[2:]) == {True}


def times(folder: Path) -> dict[Path, int]:
    """When each file was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_gold_keeps_the_rows_of_other_games(filled: Lake) -> None:
    table = gold_counts(filled)
    other = pa.Table.from_pylist(
        [row | {"game": "strands"} for row in table.to_pylist()[:2]], schema=COUNTS_BY_DATE
    )
    filled.write_table("gold/counts_by_date.parquet", pa.concat_tables([table, other]))
    written = times(Path(filled.url, "gold"))
    write_gold(filled, GAME)
    assert times(Path(filled.url, "gold")) == written
    put_results(filled, "r1", result(table.column("puzzle_id")[0].as_py()))
    write_gold(filled, GAME)
    read = filled.read_table("gold/counts_by_date.parquet", COUNTS_BY_DATE)
    assert len(read) == len(table) + 2
    assert read.slice(len(table)).equals(other)


@pytest.mark.parametrize(
    "other", [{"lexicon_id": "f" * 32}, {"rules": "x=1"}, {"solver_version": "test-2"}], ids=str
)
def test_answers_to_another_question_are_not_in_gold(filled: Lake, other: dict[str, str]) -> None:
    first = current_editions(filled).to_pylist()[0]
    name = first["puzzle_id"]
    theirs = result(name, job_id=job_id(name, **other), kernel_ns=10**9, count=Decimal(8), **other)
    put_results(filled, "r1", theirs)
    assert len(find_results_of(filled, question_of(GAME, COUNT))) == 0
    assert gold_counts(filled).column("count").null_count == 9
    assert filled.read_table(RUNTIMES_PATH, RUNTIMES).num_rows == 0
    put_results(filled, "r2", result(name))
    assert gold_counts(filled).column("count").drop_null().to_pylist() == [7]
    assert filled.read_table(RUNTIMES_PATH, RUNTIMES).column("kernel_ns_max").to_pylist() == [1000]


def test_a_lake_without_an_edition_has_empty_gold(tmp_path: Path) -> None:
    lake = Lake.open(str(tmp_path / "lake"))
    assert current_editions(lake).num_rows == 0
    assert gold_counts(lake).num_rows == 0
    assert lake.read_table(RUNTIMES_PATH, RUNTIMES).num_rows == 0


def test_counts_are_reported_whatever_the_ask(filled: Lake) -> None:
    first = Ask(kind="first")
    names = [row["puzzle_id"] for row in current_editions(filled).to_pylist()]
    job = job_id(names[1], ask=first)
    put_results(filled, "r1", result(names[0]))
    put_results(filled, "r2", result(names[1], ask="first", count=Decimal(1), job_id=job))
    counts = gold_counts(filled, [first])
    assert counts.column("count").to_pylist()[:2] == [7, None]
    runtimes = filled.read_table(RUNTIMES_PATH, RUNTIMES)
    assert runtimes.column("ask").to_pylist() == ["first"]
