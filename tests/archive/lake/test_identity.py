"""A lake has an id of its own, made once, and two lakes never have the same one by chance."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nightgrid.archive.lake.identity import LAKE_FILE, make_lake_id, read_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.stored_files import StoredFiles
from nightgrid.solvers.errors import PermanentError
from tests.archive.lake.test_lake import object_store


@pytest.fixture(params=["folder", "file://", "object store"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "object store":
        lake = object_store(monkeypatch)
        monkeypatch.setattr(StoredFiles, "open", lambda _: lake)
        return "s3://bucket/lake"
    path = tmp_path / "lake"
    return str(path) if request.param == "folder" else path.as_uri()


def test_a_lake_gets_its_id_once_and_reading_it_makes_none(url: str) -> None:
    assert read_lake_id(url) is None
    assert not Lake.open(url).exists(LAKE_FILE)
    made = make_lake_id(url)
    assert (make_lake_id(url), read_lake_id(url)) == (made, made)
    value = json.loads(Lake.open(url).read_bytes(LAKE_FILE))
    assert set(value) == {"created_at", "lake_id"}


def test_of_many_that_make_an_id_at_once_all_have_the_same(tmp_path: Path) -> None:
    url = str(tmp_path / "lake")
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(make_lake_id, [url] * 16))) == 1


def test_two_lakes_have_two_ids_and_a_moved_one_keeps_its_own(tmp_path: Path) -> None:
    one, other = (make_lake_id(str(tmp_path / name)) for name in ("one", "other"))
    assert one != other
    (tmp_path / "one").rename(tmp_path / "moved")
    assert read_lake_id(str(tmp_path / "moved")) == one
    (tmp_path / "moved" / LAKE_FILE).unlink()
    assert make_lake_id(str(tmp_path / "moved")) != one


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"lake_id": 7}', '{"lake_id": "../x"}', "[" * 100_000]
)
def test_a_file_without_an_id_is_reported_with_the_remedy(text: str, tmp_path: Path) -> None:
    (tmp_path / LAKE_FILE).write_text(text)
    for read in (read_lake_id, make_lake_id):
        with pytest.raises(PermanentError, match=r"holds no id; expected .* or delete it"):
            read(str(tmp_path))
