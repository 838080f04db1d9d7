"""Lists of a lake: their rows, their order, and what is left out."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.corpus.corpora import ABOUT
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import CORPUS_ROWS, EDITIONS, RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup import listing
from nightgrid.archive.lookup.listing import LISTS
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.solvers.canonical import canonical_json
from tests.archive.lookup.conftest import DAYS


def rows(lake: Lake, what: str, **wanted: Any) -> list[dict[str, Any]]:
    schema, rows_of = LISTS[what]
    tables = list(rows_of(lake, RowFilter(**wanted)))
    assert all(table.schema.equals(schema) for table in tables)
    return pa.concat_tables([schema.empty_table(), *tables]).to_pylist()


def result(job: str, puzzle_id: str, status: str = "solved", run: str = "r", **more: Any) -> dict:
    return {
        "job_id": job, "puzzle_id": puzzle_id, "game": "pips", "ask": "count", "rules": "",
        "lexicon_id": "", "solver_version": "1", "status": status, "count": None, "value": None,
        "reason_code": None, "reason": "", "states": 1, "nodes": 1, "parts": 1,
        "kernel_ns": 2_500_000, "table_bytes": 0, "run_id": run, **more,
    }  # fmt: skip


def results_of(lake: Lake, name: str, *made: dict) -> None:
    ordered = sorted(made, key=lambda row: row["job_id"])
    lake.write_table(f"results/{name}.parquet", pa.Table.from_pylist(ordered, RESULTS))


def test_puzzles_have_a_row_for_each_date_and_level(filled):
    found = rows(filled, "puzzles")

    names = [row["puzzle"] for row in found if row["game"] != "pips"]
    assert names == [f"{g}/{d}/daily" for g in ("strands", "letterboxed") for d in DAYS]
    assert len([row for row in found if row["game"] == "pips"]) == 9
    assert {row["size"] for row in found if row["game"] == "strands"} == {48}
    assert rows(filled, "puzzles", games=("tiles",)) == []
    some = rows(filled, "puzzles", since=dt.date(2026, 1, 2), until=dt.date(2026, 1, 3))
    assert {row["date"] for row in some} == {dt.date(2026, 1, 2)}


def test_only_the_last_revision_counts_in_any_batches(monkeypatch, tmp_path):
    monkeypatch.setattr("nightgrid.archive.lake.storage.ROW_GROUP_ROWS", 2)
    lake = Lake.open(str(tmp_path / "lake"))
    seen = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = [
        {"game": "pips", "date": dt.date(2026, 1, day), "level": "easy", "revision": revision,
         "puzzle_id": f"{day}-{revision}", "seen_at": seen, "raw_sha256": "", "draft": None}
        for day in range(1, 6) for revision in range(1, day + 1)
    ]  # fmt: skip
    lake.write_table("editions/pips.parquet", pa.Table.from_pylist(made, EDITIONS))

    found = rows(lake, "puzzles")
    assert [row["puzzle_id"] for row in found] == [f"{day}-{day}" for day in range(1, 6)]
    assert {row["size"] for row in found} == {None}, "boards that are gone do not end a list"


def test_results_have_the_place_of_their_puzzle_until_replaced(filled, tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    editions = filled.read_table("editions/pips.parquet", EDITIONS)
    lake.write_table("editions/pips.parquet", editions)
    hard = next(r for r in editions.to_pylist() if r["level"] == "hard")["puzzle_id"]
    results_of(
        lake, "first", result("a", hard, count=7), result("b", hard, "over_budget"),
        result("c", "elsewhere", "poison", reason="its process died"),
    )  # fmt: skip
    results_of(lake, "second", result("b", hard, count=8, run="second"))

    found = rows(lake, "results")
    told = [(r["puzzle"], r["status"], r["count"], r["seconds"]) for r in found]
    assert told == [
        ("pips/2026-01-01/hard", "solved", 7, 0.0025),
        ("pips/2026-01-01/hard", "solved", 8, 0.0025),
        ("elsewhere", "poison", None, 0.0025),
    ]
    assert rows(lake, "results", statuses=frozenset({"over_budget"})) == []
    (poison,) = rows(lake, "results", statuses=frozenset({"poison"}))
    assert (poison["reason"], poison["date"]) == ("its process died", None)
    dated = rows(lake, "results", since=dt.date(2026, 1, 1))
    assert [row["job_id"] for row in dated] == ["a", "b"]


def test_over_budget_counts_before_invalid_and_poison_does_not(tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    results_of(lake, "1", *(result(job, "p", "invalid", "1") for job in "ab"))
    results_of(lake, "2", result("a", "p", "over_budget", "2"), result("b", "p", "poison", "2"))

    told = [(row["job_id"], row["status"]) for row in rows(lake, "results")]
    assert told == [("a", "over_budget"), ("b", "invalid")]
    assert rows(lake, "results", statuses=frozenset({"poison"})) == []
    (left,) = rows(lake, "results", statuses=frozenset({"over_budget"}))
    assert left["job_id"] == "a"


def test_long_lists_are_unsorted_and_complete(monkeypatch, tmp_path):
    monkeypatch.setattr(listing, "SORTED_ROWS", 10)
    monkeypatch.setattr(listing, "BATCH_ROWS", 4)
    lake = Lake.open(str(tmp_path / "lake"))
    results_of(lake, "many", *(result(f"{n:03d}", f"p{-n}") for n in range(50)))

    _, rows_of = LISTS["results"]
    tables = list(rows_of(lake, RowFilter()))
    assert max(map(len, tables)) <= 4
    found = pa.concat_tables(tables).to_pylist()
    assert [row["job_id"] for row in found] == [f"{n:03d}" for n in range(50)]


def test_a_job_of_several_runs_is_listed_once(monkeypatch, tmp_path):
    # A batch ends amid the rows of one job.
    monkeypatch.setattr(listing, "BATCH_ROWS", 2)
    lake = Lake.open(str(tmp_path / "lake"))
    for run, nodes in (("1", 10), ("2", 30), ("3", 20)):
        left = (
            result(job, f"p{job}", "over_budget", run, reason=f"{nodes}", budget_nodes=nodes)
            for job in "abc"
        )
        results_of(lake, run, *left, result(f"of-{run}", "p", run=run))

    found = rows(lake, "results", statuses=frozenset({"over_budget"}))
    assert [(row["job_id"], row["reason"]) for row in found] == [(job, "30") for job in "abc"]
    assert len(rows(lake, "results")) == 6
    of_first = rows(lake, "results", runs=frozenset({"1"}))
    assert [row["job_id"] for row in of_first if row["reason"] == "10"] == ["a", "b", "c"]


@pytest.mark.parametrize("data", [b"", b"no Parquet", b"PAR1 cut off PAR1"])
@pytest.mark.parametrize(
    ("what", "path"),
    [
        ("results", "editions/pips.parquet"),
        ("puzzles", "editions/pips.parquet"),
        ("puzzles", "puzzles/pips/seg-00000.parquet"),
        ("quarantine", "quarantine/pips.parquet"),
    ],
)
def test_a_damaged_file_is_reported_in_one_sentence(what, path, data, filled, tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    for name in filled.list():
        if not name.startswith("raw/"):
            # A segment is named after its boards, so its name varies.
            folder = path.rpartition("/")[0]
            named = path if folder.count("/") and name.startswith(f"{folder}/") else name
            lake.write_bytes(named, filled.read_bytes(name))
    results_of(lake, "many", result("a", "p"))
    assert lake.exists(path)
    lake.write_bytes(path, data)

    with pytest.raises(DamagedFileError) as error:
        rows(lake, what)
    said = str(error.value)
    assert path in said
    assert "is damaged" in said
    assert not re.search(r"Arrow|Could not open|\n|\. ", said)


@pytest.mark.parametrize("data", [b"", b"no Parquet", b"PAR1 cut off PAR1"])
def test_a_damaged_file_of_results_is_skipped_and_reported(data, tmp_path):
    lake = Lake.open(str(tmp_path / "lake"))
    results_of(lake, "many", result("a", "p"))
    lake.write_bytes("results/bad.parquet", data)

    assert len(rows(lake, "results")) == 1
    (said,) = skipped_files().values()
    assert "results/bad.parquet is damaged" in said
    forget(*skipped_files())


def test_quarantine_covers_nights_and_corpora(filled, tmp_path):
    (row,) = rows(filled, "quarantine")
    assert (row["game"], row["date"]) == ("pips", dt.date(2026, 1, 5))
    assert row["source"].endswith("/pips/2026-01-05.json")
    assert not row["source"].startswith("file:")
    assert (row["rule"], row["corpus"]) == ("not-json", "")

    lake = Lake.open(str(tmp_path / "lake"))
    about = canonical_json([1, {"game": "strands", "name": "folder", "base": "/"}])
    schema = CORPUS_ROWS.with_metadata({**CORPUS_ROWS.metadata, ABOUT: about})
    sound = {"source": "x.json", "source_row": 2, "puzzle_id": "0" * 32}
    broken = {"source": "x.json", "source_row": 3, "level": None, "rule": "r", "place": "p",
              "message": "m"}  # fmt: skip
    table = pa.Table.from_pylist([sound, broken], schema)
    lake.write_table("corpora/0/part-00000.parquet", table)
    (row,) = rows(lake, "quarantine")
    assert row == broken | {"game": "strands", "date": None, "corpus": "folder"}
    assert rows(lake, "quarantine", games=("pips",)) == []
