"""`nightgrid lake`: what its actions say, and how they end."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pytest

from benchmarks.chaos.lakes.nights import write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.without import drop_rows
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.results.results import read_results
from tests.flows.maintenance.retention import questions
from tests.flows.maintenance.retention.lakes import age_files, listing_night

Invoke = Callable[..., tuple[int, str, str]]
LAKE_TO_READ = Path(__file__).parents[2] / "flows" / "fixtures" / "lake-v4"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    lake.write_bytes("costs/pips-0.json", b"{")
    return lake


def test_a_damaged_file_is_named_and_mended(invoke: Invoke, lake: Lake) -> None:
    code, out, _ = invoke("lake", "check", "--lake", lake.url)
    assert code == 5
    assert "costs/pips-0.json" in out
    assert "1 fault" in out
    code, out, _ = invoke("lake", "check", "--lake", lake.url, "--json")
    (found,) = map(json.loads, out.splitlines())
    assert code == 5
    assert (found["path"], found["fault"], found["mend"]) == (
        "costs/pips-0.json",
        "damaged",
        "forget",
    )
    code, out, _ = invoke("lake", "repair", "--lake", lake.url, "--json")
    (mended,) = map(json.loads, out.splitlines())
    assert (code, mended["path"], mended["mended"]) == (0, "costs/pips-0.json", True)
    assert lake.read_bytes("damaged/costs/pips-0.json") == b"{"
    for action in ("check", "repair"):
        code, out, _ = invoke("lake", action, "--lake", lake.url)
        assert (code, out) == (0, f"Nothing is wrong with {lake.url}.\n")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("costs/pips-1.json", "2 faults; nightgrid lake repair mends what can be mended.\n"),
        ("editions/pips.parquet/x", "refuses as long as a file is newer or unreadable.\n"),
    ],
)
def test_a_check_says_what_a_repair_would_do(
    invoke: Invoke, lake: Lake, path: str, sentence: str
) -> None:
    lake.write_bytes(path, b"{")
    assert invoke("lake", "check", "--lake", lake.url)[1].endswith(sentence)


def test_a_check_of_files_that_are_not_mended_says_so(invoke: Invoke, lake: Lake) -> None:
    lake.write_bytes("notes.txt", b"mine")
    lake.delete("costs/pips-0.json")
    _, out, _ = invoke("lake", "check", "--lake", lake.url)
    assert out.endswith("1 fault; nightgrid lake repair changes none of these files.\n")


def test_a_command_that_meets_a_damaged_file_names_what_mends_it(
    invoke: Invoke, tmp_path: Path
) -> None:
    shutil.copytree(LAKE_TO_READ, tmp_path / "lake")
    (tmp_path / "lake" / "editions" / "pips.parquet").write_bytes(b"")
    code, _, err = invoke("query", "SELECT * FROM editions", "--lake", str(tmp_path / "lake"))
    assert code == 3
    assert err.endswith("; nightgrid lake repair mends what can be mended\n")
    code, _, err = invoke("query", "nonsense", "--lake", str(tmp_path / "lake"))
    assert code == 3
    assert "repair" not in err


def test_a_foreign_file_is_left_to_a_person(invoke: Invoke, lake: Lake) -> None:
    lake.write_bytes("notes.md", b"mine")
    code, out, _ = invoke("lake", "repair", "--lake", lake.url)
    assert code == 5
    assert "notes.md" in out
    assert lake.read_bytes("notes.md") == b"mine"


def test_a_lake_that_is_not_there_is_bad_input(invoke: Invoke, tmp_path: Path) -> None:
    code, _, err = invoke("lake", "check", "--lake", str(tmp_path / "none"))
    assert code == 3
    assert "there is no lake at" in err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("action", ["check", "repair", "upgrade", "rebuild"])
def test_a_place_without_anything_is_no_lake(invoke: Invoke, tmp_path: Path, action: str) -> None:
    """Given an empty folder or a misspelt prefix, Then it is told, and nothing is written there."""
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
def test_a_lake_that_may_only_be_read_is_read(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Given a lake of another user, Then what only looks at it works."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(LAKE_TO_READ, tmp_path / "lake")
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


def test_an_upgrade_a_rebuild_and_a_prune_say_what_they_did(invoke: Invoke, tmp_path: Path) -> None:
    fixture = Path(__file__).parents[2] / "flows" / "fixtures" / "lake-v1"
    shutil.copytree(fixture, tmp_path / "old")
    old = ["--lake", str(tmp_path / "old")]
    code, out, _ = invoke("lake", "upgrade", *old, "--dry-run")
    assert (code, "of schema version 1" in out, "would be written in" in out) == (0, True, True)
    code, out, _ = invoke("lake", "upgrade", *old)
    assert (code, "are written in version" in out) == (0, True)
    code, out, _ = invoke("lake", "upgrade", *old)
    assert (code, out.startswith("Every table of")) == (0, True)
    code, out, _ = invoke("lake", "rebuild", *old, "--into", str(tmp_path / "new"), "--json")
    assert code == 0
    assert json.loads(out)["game"] == "pips"
    code, out, _ = invoke("lake", "prune", *old, "--keep", "revisions=30", "--json")
    assert code == 0
    assert json.loads(out)["what"] == "revisions"


def test_a_prune_of_solutions_says_what_goes_and_what_stays(invoke: Invoke, tmp_path: Path) -> None:
    write_days(tmp_path / "source", [0])
    listing_night(tmp_path)
    lake = Lake.open(str(tmp_path / "lake"))
    age_files(lake, "results")
    rows = read_results(lake)
    jobs, counts = (
        rows.filter(pc.equal(rows.column("ask"), ask)).column("job_id") for ask in ("all", "count")
    )
    drop_rows(lake, RESULT_FILES, ("job_id",), counts.slice(0, 1))
    shutil.rmtree(tmp_path / "lake" / "runs")
    prune = ["lake", "prune", "--lake", lake.url, "--keep", "solutions=30"]
    stays = "; 1 old one stays, whose count no other answer has\n"
    code, out, _ = invoke(*prune, "--dry-run")
    assert (code, out.endswith(stays)) == (0, True)
    assert out.startswith("solutions of pips: 2 answers would be dropped, ")
    code, told, _ = invoke(*prune)
    assert (code, told) == (0, out.replace("would be dropped", "dropped"))
    ended = sorted(invoke("result", job, "--lake", lake.url) for job in jobs.to_pylist())
    assert [code for code, _, _ in ended] == [0, 3, 3]
    for _, _, err in ended[1:]:
        assert "were dropped on" in err
        assert err.endswith("; ask again to have them\n")


def test_a_prune_of_results_says_what_goes_with_them(invoke: Invoke, tmp_path: Path) -> None:
    lake = Lake.open(str(tmp_path / "lake"))
    questions.ask(lake, 0, 1)
    questions.ask(lake, 2)
    questions.answer(lake, 0)
    age_files(lake, "asked", "results", "divisions")
    prune = ["lake", "prune", "--lake", lake.url, "--keep", "results=30"]
    code, out, _ = invoke(*prune, "--dry-run")
    assert (code, out.startswith("results of pips: 1 row would be dropped, ")) == (0, True)
    of_pips, divided = out.splitlines()
    assert of_pips.endswith(" bytes; with them 3 puzzles of questions")
    assert divided.startswith("results: 0 rows would be dropped, ")
    assert divided.endswith(" bytes; with them 1 file of divisions")
    code, told, _ = invoke(*prune, "--json")
    names = ("game", "count", "corpora", "puzzles", "divisions")
    rows = [tuple(json.loads(line)[name] for name in names) for line in told.splitlines()]
    assert rows == [("pips", 1, 0, 3, 0), (None, 0, 0, 0, 1)]
    assert (code, invoke(*prune)) == (0, (0, "results: nothing to drop\n", ""))


def test_a_prune_names_each_kind_of_which_nothing_goes(invoke: Invoke, tmp_path: Path) -> None:
    shutil.copytree(LAKE_TO_READ, tmp_path / "lake")
    kinds = ("results", "solutions", "rankings", "contradicted", "revisions")
    keep = [word for kind in kinds for word in ("--keep", f"{kind}=99999")]
    prune = ("lake", "prune", "--lake", str(tmp_path / "lake"), *keep, "--dry-run")
    told = [json.loads(line) for line in invoke(*prune, "--json")[1].splitlines()]
    assert sorted(row["what"] for row in told) == sorted(kinds)
    assert {row["count"] for row in told} == {row["freed_bytes"] for row in told} == {0}
    by_kind = {row["what"]: row for row in told}
    assert by_kind["solutions"]["stays"] == 0
    assert by_kind["results"].items() >= {"game": None, "corpora": 0, "divisions": 0}.items()
    code, out, _ = invoke(*prune)
    assert code == 0
    assert sorted(line.replace(":", " ").split()[0] for line in out.splitlines()) == sorted(kinds)
    assert "results: nothing to drop\nsolutions: nothing to drop\n" in out


def test_what_a_repair_did_is_named_and_no_path_is_broken(invoke: Invoke, lake: Lake) -> None:
    path = f"results/{'a' * 120}.parquet"
    lake.write_bytes(path, b"x")
    code, out, err = invoke("lake", "repair", "--lake", lake.url)
    lines = out.splitlines()
    assert code == 0
    assert "outcome        mended" in lines
    assert f"file           {path}" in lines
    assert all(line == line.rstrip() for line in lines)
    assert "of 0 files" not in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["prune"], "told nothing to drop; expected --keep WHAT=DAYS"),
        (["prune", "--keep", "counts=3"], "rankings, runs or damaged"),
        (["prune", "--keep", "damaged=3", "--game", "pips"], "damaged files are of no game"),
        (["prune", "--keep", "runs=-1"], "whole days"),
        (["check", "--dry-run"], "--dry-run is not for lake check; expected upgrade, prune"),
        (["upgrade", "--keep", "runs=1"], "--keep is not for lake upgrade; expected prune"),
        (["rebuild", "--game", "chess"], "unknown game 'chess'"),
    ],
)
def test_options_that_say_nothing_to_an_action_are_bad_input(
    invoke: Invoke, lake: Lake, words: list[str], sentence: str
) -> None:
    code, out, err = invoke("lake", *words, "--lake", lake.url)
    assert (code, out) == (3, "")
    assert sentence in " ".join(err.split())
    assert lake.list("leases") == []
