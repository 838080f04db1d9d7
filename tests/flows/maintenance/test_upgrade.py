"""Lakes of earlier schema versions are upgraded: every row is as it was, in the present schema.

fixtures/lake-v1 and lake-v2 were written by the code of commits 6d4ff23 and f3345f7, lake-v3 by
that of the commit before e786f1d: nights over generated boards of Pips, of which one is replaced by
the second night and one payload is none, with counts and lists of five; in version 2 a board of
Strands too, in version 3 Letter Boxed with dictionaries. lake-v4 is of test_lake_of_version_4.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
import pytest

from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.lake.faults import NewerSchemaError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, SCHEMA_VERSION
from nightgrid.archive.results.results import read_results
from nightgrid.flows.maintenance import upgrade
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.files import kind_of
from nightgrid.flows.maintenance.upgrade import upgrade_lake
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.lease import holding

FIXTURES = Path(__file__).parents[1] / "fixtures"
VERSIONS = (1, 2, 3, 4)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def lake(version: int, tmp_path: Path) -> Lake:
    shutil.copytree(FIXTURES / f"lake-v{version}", tmp_path / "lake")
    return Lake.open(str(tmp_path / "lake"))


def versions(lake: Lake) -> dict[str, int]:
    return {
        path: int((lake.schema(path).metadata or {})[b"nightgrid.schema_version"])
        for path in lake.list("")
        if path.endswith(".parquet") and not path.startswith(("runs/", "gold/"))
    }


def rows(lake: Lake) -> dict[str, list[dict[str, Any]]]:
    """Read every table as the present code reads it."""
    found = {}
    for path in versions(lake):
        known = kind_of(path)
        assert known is not None, path
        kind, match = known
        assert kind.schema is not None, path
        schema = kind.schema(lake, match)
        assert schema is not None
        found[path] = lake.read_table(path, schema).to_pylist()
    return found


def test_there_is_a_fixture_of_every_earlier_version() -> None:
    assert tuple(range(1, SCHEMA_VERSION)) == VERSIONS
    for version in VERSIONS:
        lake = Lake.open(str(FIXTURES / f"lake-v{version}"))
        assert set(versions(lake).values()) == {version}


def test_every_row_stays_as_it_was(lake: Lake, version: int) -> None:
    before, results = rows(lake), read_results(lake)
    told = list(upgrade_lake(lake))
    assert {one.version for one in told} == {version}
    assert sum(one.rows for one in told) == sum(map(len, before.values()))
    after = rows(lake)
    assert set(versions(lake).values()) == {SCHEMA_VERSION}
    assert {path: after.get(path) for path in before} == before
    assert read_results(lake).equals(results)
    assert len(current_editions(lake)) == len(results.filter(mask_of(results, lake)))
    assert list(check_lake_files(lake)) == []
    assert list(upgrade_lake(lake)) == []
    assert lake.exists("lake.json")


def mask_of(results: Any, lake: Lake) -> Any:
    """Choose the counts of boards that are current."""
    import pyarrow.compute as pc

    ids = current_editions(lake).column("puzzle_id")
    is_current = pc.is_in(results.column("puzzle_id"), value_set=ids)
    return pc.and_(is_current, pc.equal(results.column("ask"), "count"))


def test_a_dry_run_changes_nothing(lake: Lake) -> None:
    before = {path: lake.read_bytes(path) for path in lake.list("")}
    told = list(upgrade_lake(lake, dry_run=True))
    assert {one.path for one in told} == set(versions(lake))
    assert {path: lake.read_bytes(path) for path in lake.list("")} == before


@pytest.mark.parametrize("version", [4], indirect=True)
@pytest.mark.parametrize("write", [4, 8])
def test_one_that_is_killed_is_ended_by_the_next(lake: Lake, write: int) -> None:
    before = rows(lake)
    with pytest.raises(Killed), dying_at(write, raise_killed):
        list(upgrade_lake(lake))
    assert {path: found for path, found in rows(lake).items() if path in before} == before
    list(upgrade_lake(lake))
    assert set(versions(lake).values()) == {SCHEMA_VERSION}
    assert list(check_lake_files(lake)) == []


@pytest.mark.parametrize("version", [4], indirect=True)
def test_a_damaged_file_is_left_and_named(lake: Lake) -> None:
    (path, *_) = [name for name in lake.list("results") if name.endswith(".parquet")]
    data = bytearray(lake.read_bytes(path))
    data[40:80] = bytes(40)
    lake.write_bytes(path, bytes(data))
    (left,) = [one for one in upgrade_lake(lake) if one.what]
    assert left.path == path
    assert "lake repair" in left.what
    assert lake.read_bytes(path) == bytes(data)


@pytest.mark.parametrize("version", [4], indirect=True)
def test_a_later_lake_and_one_at_work_are_left_alone(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.1)
    with holding(lake, "night", "taken"), pytest.raises(TransientError, match="at work"):
        list(upgrade_lake(lake))
    with mock.patch.object(upgrade, "check_held"):
        assert set(versions(lake).values()) == {4}
    (path, *_) = lake.list("editions")
    table = lake.read_table(path, EDITIONS)
    later = {**(table.schema.metadata or {}), b"nightgrid.schema_version": b"99"}
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(later), sink)
    lake.write_bytes(path, sink.getvalue())
    with pytest.raises(NewerSchemaError):
        list(upgrade_lake(lake))
