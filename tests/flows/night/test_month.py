"""A week of nights over HTTP whose answers go wrong, and which are killed, ends as one night would.

`python -m benchmarks.nights.month` does the same with thirty nights over the real archive, in
processes.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from benchmarks.chaos.lakes.nights import FIRST, write_days
from benchmarks.nights.month import report_of
from benchmarks.nights.month_compare import Compared, compare
from benchmarks.nights.month_night import Killed, night_settings, work_dated
from benchmarks.nights.month_source import DRAFT, Fault, Payloads, Source, draw_faults
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, QUARANTINE
from nightgrid.archive.skipped_files import forget, skipped_files

NIGHTS = 7
DAYS = [FIRST + dt.timedelta(days=day) for day in range(NIGHTS)]
FAULTS = {
    ("pips", DAYS[0]): Fault(kind="replaced", first=0, last=1),
    ("pips", DAYS[1]): Fault(kind="truncated", first=1, last=2),
    ("pips", DAYS[2]): Fault(kind="null", first=3, last=3),
    ("pips", DAYS[3]): Fault(kind="missing", first=3, last=4),
    ("pips", DAYS[4]): Fault(kind=DRAFT, first=3, last=3),
    ("pips", DAYS[5]): Fault(kind="swapped", first=5, last=5),
}
DEATHS = {2: 3, 4: 12}
"""Night -> the write to the lake that it does not survive."""


def payloads_of(folder: Path, seed: int) -> Payloads:
    write_days(folder, range(NIGHTS), seed)
    return {"pips": {date: (folder / f"{date}.json").read_bytes() for date in DAYS}}


@pytest.fixture(autouse=True)
def nothing_is_passed_over():
    yield
    forget(*skipped_files())


def test_a_week_ends_as_one_night_over_its_last_state(tmp_path: Path) -> None:
    """Given faults of every other day and two killed nights, Then no row is lost or differs."""
    payloads, others = (payloads_of(tmp_path / str(seed), seed) for seed in (0, 9_000))
    deaths = []
    with Source(payloads=payloads, others=others, faults=FAULTS) as source:
        for night in range(NIGHTS):
            source.night = night
            week = night_settings(tmp_path / "week", source.url, ["pips"], FIRST, source.today())
            try:
                work_dated(week, source.today(), DEATHS.get(night))
            except Killed:
                deaths.append(night)
        served = [one for one in source.served if one.night not in deaths]
        single = night_settings(tmp_path / "single", source.url, ["pips"], FIRST, source.today())
        work_dated(single, source.today())
    assert deaths == list(DEATHS)
    assert set(source.struck) == {fault.kind for fault in FAULTS.values()}
    lake = Lake.open(str(tmp_path / "week"))
    found = compare(lake, Lake.open(str(tmp_path / "single")), ["pips"], served)
    assert found.wrong == []
    assert found.rows["results"] == 3 * NIGHTS
    # Three boards that were replaced, and as many of a draft, with revisions and answers.
    assert found.more["puzzles.pips"] == found.more["results"] == 6
    assert len(lake.read_table(editions_path("pips"), EDITIONS)) == 3 * NIGHTS + 6
    assert len(current_editions(lake)) == 3 * NIGHTS
    rules = set(lake.read_table("quarantine/pips.parquet", QUARANTINE).column("rule").to_pylist())
    assert "print-date-mismatch" in rules


def test_a_lost_result_a_lost_payload_and_a_surplus_board_are_found(tmp_path: Path) -> None:
    """Given lakes that differ, Then the comparison of a month says in what."""
    payloads, others = (payloads_of(tmp_path / str(seed), seed) for seed in (0, 9_000))
    with Source(payloads=payloads, others=others, faults={}) as source:
        source.night = 1
        for name in ("one", "other"):
            night = night_settings(tmp_path / name, source.url, ["pips"], FIRST, source.today())
            work_dated(night, source.today())
    one, other = (Lake.open(str(tmp_path / name)) for name in ("one", "other"))
    assert compare(one, other, ["pips"], source.served).wrong == []
    for path in one.list("results"):
        one.delete(path)
    (body, *_) = [path for path in one.list("raw") if path.endswith(".body")]
    one.write_bytes(body, b"{}")
    told = " ".join(compare(one, other, ["pips"], source.served).wrong)
    assert "results: 9 rows are lost" in told
    assert f"{body} has changed" in told
    assert f"lake check: {body}" in told


def test_faults_are_the_same_again_and_over_before_the_end() -> None:
    bodies = {date: json.dumps({"printDate": str(date)}).encode() for date in DAYS}
    drawn = draw_faults({"pips": bodies, "strands": bodies}, NIGHTS, 3)
    assert drawn == draw_faults({"pips": bodies, "strands": bodies}, NIGHTS, 3)
    assert drawn
    assert max(fault.last for fault in drawn.values()) < NIGHTS - 1


def test_a_report_that_fails_is_wrong(tmp_path: Path) -> None:
    """Given a folder that is no lake, Then its report counts as wrong and says why."""
    compared = Compared(rows={}, more={}, wrong=[])
    told = report_of(tmp_path / "none", tmp_path, compared)
    assert told == ""
    (sentence,) = compared.wrong
    assert sentence.startswith("nightgrid report ended with 3: ")
    assert "is no lake with puzzles" in sentence
