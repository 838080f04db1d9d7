"""Links in a lake: followed, unless they lead to nothing or back into the lake."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.lake.faults import LakeRefusesError
from nightgrid.archive.lake.identity import make_lake_id, read_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.solvers.errors import PermanentError

ROWS = pa.table({"puzzle_id": ["a"], "game": ["pips"], "puzzle": ["{}"]}, ASKED)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    lake.write_table("results/a.parquet", ROWS)
    lake.write_bytes("runs/run=1/plan.json", b"{}")
    return lake


def root(lake: Lake) -> Path:
    return Path(lake.url)


def test_files_and_folders_that_were_moved_are_read_where_links_lead(
    lake: Lake, tmp_path: Path
) -> None:
    for name in ("results/a.parquet", "runs"):
        there = tmp_path / name.replace("/", "-")
        (root(lake) / name).rename(there)
        (root(lake) / name).symlink_to(there)
    assert lake.list() == ["results/a.parquet", "runs/run=1/plan.json"]
    assert lake.read_table("results", ROWS.schema) == ROWS
    assert lake.exists("runs/run=1/plan.json")
    lake.write_bytes("runs/run=1/plan.json", b"[]")
    assert (tmp_path / "runs" / "run=1" / "plan.json").read_bytes() == b"[]"


def test_a_link_to_nothing_is_named_and_never_taken_for_a_missing_file(
    lake: Lake, tmp_path: Path
) -> None:
    """Given a disk that is not mounted, Then no file that lay there counts as lost."""
    path = "results/b.parquet"
    (root(lake) / path).symlink_to(tmp_path / "away")
    assert lake.list("results") == ["results/a.parquet", path]
    told = f"^{path} is a link to nothing; expected a file: mount what it leads to, or delete"
    for look in (
        lambda: lake.read_bytes(path),
        lambda: lake.schema(path),
        lambda: lake.read_table("results", ROWS.schema),
        lambda: lake.exists(path),
    ):
        with pytest.raises(LakeRefusesError, match=told):
            look()
    for create in (
        lambda: lake.create_bytes(path, b"new"),
        lambda: lake.create_table(path, ROWS),
    ):
        with pytest.raises(LakeRefusesError, match=f"^{path}: the lake refuses: .*link to nothing"):
            create()
    assert (root(lake) / path).is_symlink()
    (tmp_path / "away").write_bytes(b"back")
    assert lake.read_bytes(path) == b"back"
    lake.delete(path)
    assert lake.list("results") == ["results/a.parquet"]


@pytest.mark.parametrize("leads_to", [".", "..", "../..", "../runs", "../../lake/results"])
def test_a_link_back_into_the_lake_is_not_followed(lake: Lake, leads_to: str) -> None:
    """Given two such links in one folder, Then a listing ends, and has each file once."""
    for name in ("one", "other"):
        (root(lake) / "results" / name).symlink_to(leads_to)
    assert lake.list() == ["results/a.parquet", "runs/run=1/plan.json"]
    assert lake.read_table("results", ROWS.schema) == ROWS
    assert {"results", "results/one", "results/other"} <= set(lake.folders("", deep=True))


def test_a_link_to_itself_is_a_link_to_nothing(lake: Lake) -> None:
    (root(lake) / "results" / "b.parquet").symlink_to("b.parquet")
    assert lake.list("results")[-1] == "results/b.parquet"
    with pytest.raises(PermanentError, match=r"b\.parquet"):
        lake.read_bytes("results/b.parquet")


def test_an_id_behind_a_link_to_nothing_is_not_made_anew(lake: Lake, tmp_path: Path) -> None:
    known = make_lake_id(lake.url)
    (root(lake) / "lake.json").rename(tmp_path / "lake.json")
    (root(lake) / "lake.json").symlink_to(tmp_path / "lake.json")
    assert read_lake_id(lake.url) == known
    (tmp_path / "lake.json").unlink()
    for look in (read_lake_id, make_lake_id):
        with pytest.raises(PermanentError, match=r"lake\.json of the lake .* is a link to nothing"):
            look(lake.url)


def test_a_folder_in_the_place_of_a_table_is_named_by_its_readers(lake: Lake) -> None:
    """Given a folder that is named like a table, Then no rows are taken for none."""
    path = "results/b.parquet"
    (root(lake) / path).mkdir()
    lake.write_bytes(f"{path}/notes.txt", b"mine")
    assert path in lake.list("results")
    assert path in lake.folders("results")
    for read in ("results", path):
        with pytest.raises(LakeRefusesError, match=f"^{path}: the lake refuses: .*irectory"):
            lake.read_table(read, ROWS.schema)
