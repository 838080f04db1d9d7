from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from nightgrid.archive.games.pips.payload import LEVELS, read_payload
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import NormaliseReport, normalise
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.schemas import EDITIONS, QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import state_path
from nightgrid.solvers.pips.solution import solution_from_json
from nightgrid.solvers.registry import game

DATE = dt.date(2026, 1, 2)
MakePayload = Callable[..., dict[str, Any]]
Ingest = Callable[..., NormaliseReport]


@pytest.fixture
def ingest(lake: Lake, tmp_path: Path) -> Ingest:
    """ingest(value): see a payload (a JSON value or bytes) for DATE, one hour after the last."""
    hours = iter(range(1000))

    def see(value: Any, date: dt.date = DATE) -> NormaliseReport:
        folder = tmp_path / "source"
        folder.mkdir(exist_ok=True)
        data = value if isinstance(value, bytes) else json.dumps(value).encode("utf-8")
        for old in folder.iterdir():
            old.unlink()
        (folder / f"{date}.json").write_bytes(data)
        at = dt.datetime(2026, 1, 15, tzinfo=dt.UTC) + dt.timedelta(hours=next(hours))
        fetch(lake, FolderSource(folder), now=lambda: at)
        return normalise(lake)

    return see


def editions(lake: Lake, level: str) -> list[dict[str, Any]]:
    rows = lake.read_table("editions", EDITIONS).to_pylist()
    return [row for row in rows if row["level"] == level]


def puzzle_id(payload: dict[str, Any], level: str) -> str:
    found = read_payload(json.dumps(payload).encode(), DATE)
    return next(p.puzzle.puzzle_id for p in found if isinstance(p, Published) and p.level == level)


def test_a_payload_becomes_editions_and_puzzles(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    payload = make_payload(DATE)
    report = ingest(payload)
    assert (report.payloads, report.editions_added) == (1, 3)
    assert (report.edition_count, report.quarantine_count) == (3, 0)
    (row,) = editions(lake, "hard")
    (sighting,) = RawArchive(lake, "pips").of(DATE)
    assert row["puzzle_id"] == puzzle_id(payload, "hard")
    assert (row["revision"], row["raw_sha256"]) == (1, sighting.sha256)
    assert row["seen_at"] == dt.datetime(2026, 1, 15, tzinfo=dt.UTC)
    assert row["source_id"] == str(payload["hard"]["id"])
    ids = read_puzzle_table(lake, "pips", ["puzzle_id"]).column("puzzle_id").to_pylist()
    assert ids == sorted(puzzle_id(payload, level) for level in LEVELS)


def test_the_official_solution_is_stored_in_the_games_own_form(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    payload = make_payload(DATE)
    ingest(payload)
    (row,) = editions(lake, "hard")
    value = json.loads(row["official_solution"])
    found = read_payload(json.dumps(payload).encode(), DATE)[2]
    assert isinstance(found, Published)
    assert found.solution is not None
    assert solution_from_json(value) == found.solution
    pips = game("pips")
    assert pips.solution_from_json(value) == found.solution
    assert pips.solution_to_json(found.solution) == value


def test_another_board_is_a_revision_and_an_older_one_is_a_revision_again(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    a, b = make_payload(DATE, 1), make_payload(DATE, 2)
    swapped = b | {"easy": a["easy"], "medium": a["medium"]}
    assert ingest(a).editions_added == 3
    report = ingest(swapped)
    assert (report.editions_added, report.revisions_added) == (0, 1)
    report = ingest(a)
    assert report.revisions_added == 1
    hard = editions(lake, "hard")
    assert [row["revision"] for row in hard] == [1, 2, 3]
    assert [row["puzzle_id"] for row in hard] == [
        puzzle_id(a, "hard"),
        puzzle_id(swapped, "hard"),
        puzzle_id(a, "hard"),
    ]
    assert hard[0]["seen_at"] < hard[1]["seen_at"] < hard[2]["seen_at"]
    assert [row["revision"] for row in editions(lake, "easy")] == [1]
    current = {row["level"]: row for row in current_editions(lake).to_pylist()}
    assert (len(current), current["hard"]["revision"]) == (3, 3)


def test_new_facts_about_a_board_are_stored_without_a_revision(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    payload = make_payload(DATE)
    bare = json.loads(json.dumps(payload))
    for level in LEVELS:
        bare[level] |= {"solution": None, "backendId": None, "id": 1}
    ingest(bare)
    first = editions(lake, "hard")[0]
    assert (first["official_solution"], first["backend_id"], first["source_id"]) == (
        None,
        None,
        "1",
    )
    report = ingest(payload)
    assert (report.payloads, report.revisions_added) == (1, 0)
    (row,) = editions(lake, "hard")
    assert row["official_solution"] is not None
    assert row["source_id"] == str(payload["hard"]["id"])
    assert (row["seen_at"], row["raw_sha256"]) == (first["seen_at"], first["raw_sha256"])
    # Facts that later payloads omit are kept.
    ingest(bare)
    (row,) = editions(lake, "hard")
    assert row["official_solution"] is not None
    assert row["source_id"] == "1"


def test_the_same_board_under_two_dates_is_one_puzzle(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    other = DATE + dt.timedelta(days=1)
    ingest(make_payload(DATE, 1))
    report = ingest(make_payload(other, 1), other)
    assert report.editions_added == 3
    assert read_puzzle_table(lake, "pips").num_rows == 3


def test_a_null_puzzle_is_quarantined_with_its_level_and_its_neighbours_are_kept(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    payload = make_payload(DATE)
    draft = payload | {"medium": {"id": 0, "dominoes": None, "regions": None, "solution": None}}
    report = ingest(draft)
    assert (report.editions_added, report.quarantined) == (2, {"null-puzzle": 1})
    (row,) = lake.read_table("quarantine", QUARANTINE).to_pylist()
    assert (row["date"], row["level"], row["rule"], row["place"]) == (
        DATE,
        "medium",
        "null-puzzle",
        "medium",
    )
    assert row["url"].endswith("2026-01-02.json")
    # Once published, the level is an edition, and the draft stays on record.
    report = ingest(payload)
    assert (report.editions_added, report.quarantine_count) == (1, 1)


def test_a_body_that_is_not_a_payload_affects_no_edition(
    lake: Lake, ingest: Ingest, make_payload: MakePayload
) -> None:
    ingest(make_payload(DATE))
    before = editions(lake, "hard")
    assert ingest(b"<html>").quarantined == {"not-json": 1}
    assert editions(lake, "hard") == before


@pytest.mark.parametrize("harm", [lambda lake, path: lake.write_bytes(path, b"{}"), Lake.delete])
def test_a_harmed_raw_body_is_quarantined_until_it_is_fetched_again(
    lake: Lake, ingest: Ingest, make_payload: MakePayload, harm: Callable[[Lake, str], None]
) -> None:
    ingest(make_payload(DATE, 1))
    before = editions(lake, "hard")
    (sighting,) = RawArchive(lake, "pips").of(DATE)
    harm(lake, sighting.body_path)
    assert normalise(lake, rebuild=True).quarantined == {"raw-damaged": 1}
    assert [normalise(lake).edition_count for _ in range(2)] == [0, 0]
    report = ingest(make_payload(DATE, 1))
    assert (report.edition_count, report.quarantine_count) == (3, 0)
    assert editions(lake, "hard") == before
    assert RawArchive(lake, "pips").of(DATE) == (sighting,)


def test_a_second_run_changes_no_byte_and_says_so(
    lake: Lake,
    write_archive: Callable[..., Path],
    now: Callable[[], dt.datetime],
    snapshot: Callable[[Path], dict[str, str]],
) -> None:
    folder = write_archive("source", {"2026-01-01": 1, "2026-01-02": 2})
    (folder / "2026-01-03.json").write_bytes(b"{")
    fetch(lake, FolderSource(folder), now=now)
    assert normalise(lake).payloads > 0
    before = snapshot(Path(lake.url))
    state = Path(lake.url) / state_path("pips")
    files = {path for path in Path(lake.url).rglob("*") if path.is_file()} - {state}
    written = {path: path.stat().st_mtime_ns for path in files}

    def again() -> None:
        fetch(lake, FolderSource(folder), now=now)
        report = normalise(lake)
        assert (report.payloads, report.edition_count) == (0, 6)

    again()
    assert {path: path.stat().st_mtime_ns for path in files} == written
    after = snapshot(Path(lake.url))
    times = {path: path.stat().st_mtime_ns for path in Path(lake.url).rglob("*")}
    again()
    assert snapshot(Path(lake.url)) == after
    assert {path: path.stat().st_mtime_ns for path in Path(lake.url).rglob("*")} == times
    # The first run with nothing left to do recorded that, and nothing else.
    assert after.pop(state_path("pips")) != before.pop(state_path("pips"))
    assert after == before


class Archive:
    """An archive whose endpoint changes once: what is ingested on the first and on the second day.

    The dates overlap, some boards change, and each state has a body that ends in quarantine.
    """

    def __init__(self, write_archive: Callable[..., Path], now: Callable[[], dt.datetime]) -> None:
        self._now = now
        self.days = (
            write_archive("day-1", {f"2026-01-{n:02}": n for n in range(1, 5)}),
            write_archive("day-2", {f"2026-01-{n:02}": n + n % 2 for n in range(2, 6)}),
        )
        (self.days[0] / "2026-01-03.json").write_bytes(b'{"printDate": "2026-01-03", "easy": ')
        (self.days[1] / "2026-01-05.json").write_bytes(b"\xff")

    def ingest(self, lake: Lake, day: int) -> None:
        fetch(lake, FolderSource(self.days[day]), now=self._now)
        normalise(lake)


class Killed(BaseException):
    """Stands for kill -9 between two writes."""


@pytest.mark.slow
def test_killed_between_any_two_writes_and_run_again_gives_the_same_lake(
    tmp_path: Path,
    write_archive: Callable[..., Path],
    now: Callable[[], dt.datetime],
    snapshot: Callable[[Path], dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nightgrid.archive.ingest.normalise.BATCH_DATES", 3)
    archive = Archive(write_archive, now)
    write = Lake._commit
    left = [10**9]

    def failing(self: Lake, path: str, fill: Any, **how: bool) -> bool:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return write(self, path, fill, **how)

    monkeypatch.setattr(Lake, "_commit", failing)
    whole = Lake.open(str(tmp_path / "whole"))
    archive.ingest(whole, 0)
    archive.ingest(whole, 1)
    expected = snapshot(tmp_path / "whole")
    writes = 10**9 - left[0]
    assert writes >= 2 * 8 + 3, "every date has a body and metadata, and there are tables"
    for survived in range(writes):
        lake = Lake.open(str(tmp_path / f"killed-{survived}"))
        left[0] = survived
        day = 0
        try:
            archive.ingest(lake, 0)
            day = 1
            archive.ingest(lake, 1)
        except Killed:
            left[0] = 10**9
            archive.ingest(lake, day)
            if day == 0:
                archive.ingest(lake, 1)
        assert left[0] > 1000, "this one was not killed"
        found = snapshot(Path(lake.url))
        assert found == expected, f"killed after {survived} of {writes} writes"


def test_a_day_is_inserted_in_order(lake: Lake, ingest: Ingest, make_payload: MakePayload) -> None:
    days = [DATE + dt.timedelta(days) for days in (0, 1, 3, 4)]
    for date in days:
        ingest(make_payload(date), date)
    path = editions_path("pips")
    table = lake.read_file(path, EDITIONS)
    ingest(make_payload(DATE + dt.timedelta(2)), DATE + dt.timedelta(2))
    found = lake.read_file(path, EDITIONS)
    keys = [(row["date"], row["level"]) for row in found.to_pylist()]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) == len(LEVELS) * 5
    others = pc.not_equal(found.column("date"), DATE + dt.timedelta(2))
    assert found.filter(others).equals(table)
