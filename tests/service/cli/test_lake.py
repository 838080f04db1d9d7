"""`nightgrid lake`: the output and exit codes of its actions."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.chaos.lakes.nights import night_of, write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.night.night import work_night

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def lake_to_read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake after a night."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0])
    work_night(night_of(folder / "lake", folder / "source"))
    return folder / "lake"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    lake.write_bytes("state/pips-0.json", b"{")
    return lake


def test_a_damaged_file_is_named_and_repaired(invoke: Invoke, lake: Lake) -> None:
    code, out, _ = invoke("lake", "check", "--lake", lake.url)
    assert code == 5
    assert "state/pips-0.json" in out
    assert "1 fault" in out
    code, out, _ = invoke("lake", "check", "--lake", lake.url, "--json")
    (found,) = map(json.loads, out.splitlines())
    assert code == 5
    assert (found["path"], found["fault"], found["mend"]) == (
        "state/pips-0.json",
        "damaged",
        "aside",
    )
    code, out, _ = invoke("lake", "repair", "--lake", lake.url, "--json")
    (mended,) = map(json.loads, out.splitlines())
    assert (code, mended["path"], mended["mended"]) == (0, "state/pips-0.json", True)
    assert lake.read_bytes("damaged/state/pips-0.json") == b"{"
    for action in ("check", "repair"):
        code, out, _ = invoke("lake", action, "--lake", lake.url)
        assert (code, out) == (0, f"Nothing is wrong with {lake.url}.\n")


def test_a_command_that_meets_a_damaged_file_names_the_repair(
    invoke: Invoke, tmp_path: Path, lake_to_read: Path
) -> None:
    shutil.copytree(lake_to_read, tmp_path / "lake")
    next(tmp_path.glob("lake/raw/game=pips/*/*.body")).write_bytes(b"{")
    code, out, _ = invoke("lake", "check", "--lake", str(tmp_path / "lake"))
    assert (code, out.splitlines()[-1]) == (5, "1 fault; nightgrid lake repair can fix none.")
    (tmp_path / "lake" / "editions" / "pips.parquet").write_bytes(b"")
    code, _, err = invoke("query", "SELECT * FROM editions", "--lake", str(tmp_path / "lake"))
    assert code == 3
    assert err.endswith("; nightgrid lake repair fixes what it can\n")
    code, _, err = invoke("query", "nonsense", "--lake", str(tmp_path / "lake"))
    assert code == 3
    assert "repair" not in err


@pytest.mark.parametrize("action", ["check", "repair", "rebuild"])
def test_an_empty_place_is_not_a_lake(invoke: Invoke, tmp_path: Path, action: str) -> None:
    """Given an empty folder or a misspelt prefix, Then it is reported, and nothing is written
    there."""
    s3_url = str(tmp_path)
    code, out, err = invoke("lake", action, "--lake", s3_url)
    assert (code, out) == (3, "")
    assert f"there is no lake at {s3_url}; expected one to {action}" in err
    assert Lake.open(s3_url).list("") == []


@pytest.mark.parametrize(
    "words",
    [
        ["query", "SELECT count(*) FROM results"],
        ["list", "results"],
        ["status"],
        ["result", "0" * 32],
        ["lake", "check"],
        ["report", "-o", "report"],
    ],
    ids=lambda words: words[0],
)
def test_a_read_only_lake_is_readable(
    invoke: Invoke,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lake_to_read: Path,
    words: list[str],
) -> None:
    """Given a lake of another user, Then read-only commands work."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(lake_to_read, tmp_path / "lake")
    before = sorted(tmp_path.rglob("*"))
    access = os.access

    def without_writing(path: str, rights: int) -> bool:
        return not rights & os.W_OK and access(path, rights)

    monkeypatch.setattr(os, "access", without_writing)
    code, _, err = invoke(*words, "--lake", "lake")
    assert "permission denied" not in err
    assert code == (3 if words[0] == "result" else 0), err
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before] == (
        [tmp_path / "report", tmp_path / "report" / "index.html"] if words[0] == "report" else []
    )
    code, _, err = invoke("lake", "repair", "--lake", "lake")
    assert code == 3
    assert "cannot be read and written (permission denied)" in err


def test_a_prune_lists_what_goes_and_deletes_it(invoke: Invoke, lake: Lake) -> None:
    lake.write_bytes("damaged/state/pips-1.json", b"{")
    os.utime(Path(lake.url) / "damaged/state/pips-1.json", (0, 0))
    prune = ["lake", "prune", "--lake", lake.url, "--keep", "damaged=30", "--keep", "runs=30"]
    code, out, _ = invoke(*prune, "--dry-run")
    assert code == 0
    assert out == (
        "damaged/state/pips-1.json\n"
        "damaged: 1 files that a repair moved away would be deleted, 1 bytes\n"
        "runs: nothing is that old\n"
    )
    code, out, _ = invoke(*prune, "--json")
    (told,) = map(json.loads, out.splitlines())
    assert (code, told["table"], told["count"]) == (0, "damaged", 1)
    assert lake.list("damaged") == []
