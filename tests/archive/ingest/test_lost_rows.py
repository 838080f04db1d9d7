"""Rows that tables have lost are rebuilt from the raw payloads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.chaos.harm import HARMS, harm
from benchmarks.chaos.lakes.interleaving import in_turns
from nightgrid.archive.corpus.corpus import open_corpus
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import NormaliseReport, normalise
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_puzzle_table
from nightgrid.archive.lake.faults import NewerSchemaError
from nightgrid.archive.lake.schemas import EDITIONS, SCHEMA_VERSION
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNT, Answers, counts_by_date
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.registry import game

BATCH_DATES = "nightgrid.archive.ingest.normalise.BATCH_DATES"


@pytest.fixture
def filled(lake: Lake, write_archive: Callable[..., Path], now: Callable[[], dt.datetime]) -> Lake:
    folder = write_archive("source", {f"2026-01-{n:02}": n for n in range(1, 5)})
    fetch(lake, FolderSource(folder), now=now)
    normalise(lake)
    return lake


def tables(lake: Lake) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    editions = lake.read_table(editions_path("pips"), EDITIONS).to_pylist()
    return read_puzzle_table(lake, "pips").to_pylist(), editions


@pytest.mark.parametrize("kind", HARMS)
def test_boards_of_a_harmed_segment_are_rebuilt(filled: Lake, kind: str) -> None:
    """Given editions whose boards are gone, When the next night normalises, Then they are back."""
    before = tables(filled)
    (path,) = filled.list(puzzles_folder("pips"))
    harm(filled, path, kind)
    lost = normalise(filled).dates_lost
    # A flipped byte may be where no reader notices.
    assert lost == 4 or (kind, lost) == ("flip", 0)
    assert tables(filled) == before
    editions, pips = filled.read_table("editions", EDITIONS), game("pips")
    assert (
        len(counts_by_date(filled, pips, editions, [COUNT], Answers(filled, pips, [COUNT]))) == 12
    )
    assert normalise(filled).dates_lost == 0


@pytest.mark.parametrize("first", range(0, 40, 3))
def test_two_nights_that_normalise_in_any_order_lose_nothing_for_good(
    lake: Lake, write_archive: Callable[..., Path], now: Callable[[], dt.datetime], first: int
) -> None:
    """Given two hosts whose leases fail, When steps alternate, Then the next night repairs."""
    source = write_archive("source", {f"2026-01-{n:02}": n for n in range(1, 3)})
    fetch(lake, FolderSource(source), now=now)
    second_source = write_archive("second", {f"2026-01-{n:02}": n for n in range(3, 5)})

    def one(turn: Callable[[Lake], Lake]) -> NormaliseReport:
        return normalise(turn(lake))

    def other(turn: Callable[[Lake], Lake]) -> NormaliseReport:
        fetch(lake, FolderSource(second_source), now=now)
        return normalise(turn(lake))

    in_turns("a" * first + "b" * 60, {"a": one, "b": other})
    normalise(lake)
    puzzles, editions = tables(lake)
    assert len({row["puzzle_id"] for row in puzzles}) == len(puzzles) == 12
    assert len(editions) == 12
    assert {row["puzzle_id"] for row in editions} <= {row["puzzle_id"] for row in puzzles}
    assert normalise(lake).dates_lost == 0


def test_a_corpus_of_the_lake_is_named_by_its_boards(
    tmp_path: Path,
    write_archive: Callable[..., Path],
    now: Callable[[], dt.datetime],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given as many other boards in place of the counted ones, Then its name differs."""
    found = {}
    for name, first in (("one", 1), ("other", 3), ("again", 1)):
        lake = Lake.open(str(tmp_path / name))
        folder = write_archive(name, {f"2026-01-{first + n:02}": first + n for n in range(2)})
        fetch(lake, FolderSource(folder), now=now)
        # Two batches add boards in another order.
        monkeypatch.setattr(BATCH_DATES, 2 if name == "one" else 1)
        normalise(lake)
        corpus = open_corpus(lake, "lake", game="pips")
        assert sum(map(len, corpus.tables())) == corpus.row_count == 6
        found[name] = corpus.corpus_id
    assert found["one"] == found["again"] != found["other"]


@pytest.mark.parametrize("table", ["editions", "puzzles", "raw", "quarantine"])
def test_a_table_of_a_later_version_is_refused_and_stays(
    filled: Lake, write_archive: Callable[..., Path], now: Callable[[], dt.datetime], table: str
) -> None:
    """Given a lake that a later version has written, Then nothing is overwritten."""
    source = write_archive("source", {"2026-01-03": 9, "2026-01-09": 10})
    later = f"{SCHEMA_VERSION + 1}".encode()
    normalise_broken(filled, source, now)
    paths = [name for name in filled.list(table) if name.endswith(".parquet")]
    for path in paths:
        rows = filled.read_row_groups(path, [0])
        schema = rows.schema.with_metadata(
            {**rows.schema.metadata, b"nightgrid.schema_version": later}
        )
        filled.write_table(path, rows.replace_schema_metadata(schema.metadata))
    before = {path: filled.read_bytes(path) for path in filled.list("") if "raw/game" not in path}
    with pytest.raises(NewerSchemaError, match="expected the nightgrid that wrote it"):
        normalise(filled, rebuild=True)
    assert {path: filled.read_bytes(path) for path in before} == before


def normalise_broken(lake: Lake, folder: Path, now: Callable[[], dt.datetime]) -> None:
    (folder / "2026-01-10.json").write_bytes(b"{")
    fetch(lake, FolderSource(folder), now=now)
    normalise(lake)
