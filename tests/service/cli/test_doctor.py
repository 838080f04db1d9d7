"""`nightgrid doctor` finds problems and says what to do about them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.lake.faults import LakeRefusesError
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.cli.doctor import (
    check_lake,
    check_persistence,
    check_server,
    check_settings,
)
from nightgrid.service.options.shared_options import read_settings
from nightgrid.workers.cluster import server
from nightgrid.workers.settings import load_settings

Invoke = Callable[..., tuple[int, str, str]]


def test_all_is_well_here(invoke: Invoke, tmp_path: Path) -> None:
    code, out, _ = invoke("doctor", "--json", "--lake", str(tmp_path / "lake"))
    findings = [json.loads(line) for line in out.splitlines()]
    assert (code, [f for f in findings if f["verdict"] == "failure"]) == (0, [])
    assert {"kernels", "server", "persistence", "lake"} <= {f["check"] for f in findings}
    (warned,) = [f for f in findings if f["check"] == "lake" and f["verdict"] == "warning"]
    assert warned["found"] == f"there is no lake at {tmp_path / 'lake'} yet"
    assert list(tmp_path.iterdir()) == [], "a look leaves nothing behind"


def test_server_that_does_not_answer_is_a_failure_with_advice(tmp_path: Path) -> None:
    settings = read_settings(lake=str(tmp_path), redis_url="redis://:secret@127.0.0.1:1/0")
    (finding,) = check_server(settings)
    assert finding.verdict == "failure"
    assert "NIGHTGRID_REDIS_URL" in finding.advice
    assert "secret" not in finding.found + finding.advice


def test_a_server_that_refuses_the_login_need_not_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "refusal", lambda _: "the Redis server at here refuses the login")
    (finding,) = check_server(read_settings(redis_url="redis://:secret@127.0.0.1:1/0"))
    assert (finding.verdict, finding.found[-17:]) == ("failure", "refuses the login")
    assert "PASSWORD" in finding.advice


@pytest.mark.parametrize(
    ("about", "verdicts"),
    [
        ({"aof_enabled": 1, "maxmemory_policy": "noeviction"}, ["ok", "ok"]),
        ({"aof_enabled": 0, "maxmemory_policy": "noeviction"}, ["failure", "ok"]),
        ({"aof_enabled": 1, "maxmemory_policy": "allkeys-lru"}, ["ok", "failure"]),
        ({}, ["failure", "failure"]),
    ],
)
def test_server_that_forgets_is_a_failure(about: dict[str, object], verdicts: list[str]) -> None:
    findings = list(check_persistence(about))
    assert verdicts == [f.verdict for f in findings]
    assert all(f.advice for f in findings if f.verdict == "failure")


def test_lake_that_cannot_be_written_is_a_failure_with_advice(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    (finding,) = check_lake(load_settings(lake=str(blocked / "lake")))
    assert finding.verdict == "failure"
    assert "--lake" in finding.advice
    assert stat.S_ISREG(blocked.stat().st_mode)


def test_a_read_only_lake_is_a_warning_that_names_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(lake=str(tmp_path / "lake"))
    Lake.open(settings.lake).write_bytes("results/some.parquet", b"")
    access = os.access
    # Tests may run as root, which may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, how: not how & os.W_OK and access(path, how))
    warned, _ = check_lake(settings)
    assert warned.verdict == "warning"
    assert warned.found.startswith(f"{settings.lake} is readable, but not writable: ")
    assert "query, result, status and lake check work" in warned.advice
    (missing,) = check_lake(load_settings(lake=str(tmp_path / "none")))
    assert missing.verdict == "failure"


def test_a_bucket_that_refuses_to_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_lake: Lake, path: str, *_more: object) -> None:
        raise LakeRefusesError(f"{path}: the lake refuses: AccessDenied")

    monkeypatch.setattr(Lake, "write_bytes", refuse)
    found = next(iter(check_lake(load_settings(lake=str(tmp_path)))))
    assert (found.verdict, "AccessDenied" in found.found) == ("warning", True)


def test_a_lake_that_cannot_be_read_is_not_a_lake_to_read(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_lake: Lake, path: str) -> None:
        raise LakeRefusesError(f"{path}: the lake refuses: AccessDenied")

    monkeypatch.setattr(Lake, "folders", refuse)
    code, out, _ = invoke("doctor", "--lake", str(tmp_path))
    assert (code, "AccessDenied" in out, "can be read" in out) == (1, True, False)


def test_a_store_that_replaces_created_files_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = read_settings(lake=str(tmp_path))
    assert all(finding.verdict == "ok" for finding in check_lake(settings))

    write = Lake.write_bytes

    def heedless(lake: Lake, path: str, data: bytes, *, new: bool = False) -> bool:
        # Like an S3 store that ignores If-None-Match.
        del new
        return write(lake, path, data)

    monkeypatch.setattr(Lake, "write_bytes", heedless)
    (finding,) = [f for f in check_lake(settings) if f.verdict == "failure"]
    assert finding.check == "lake: new files"
    assert "If-None-Match" in finding.advice


def test_failure_exits_with_1_and_prints_the_remedy_below(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTGRID_REDIS_URL", "redis://127.0.0.1:1/0")
    code, out, _ = invoke("doctor")
    assert code == 1
    assert "127.0.0.1:1 does not answer" in out
    assert "NIGHTGRID_REDIS_URL" in out
    lines = out.splitlines()
    (place,) = (i for i, line in enumerate(lines) if line.startswith("failure"))
    assert any("to do: " in line for line in lines[place + 1 : place + 4])


def test_settings_are_listed_with_their_place_and_without_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "nightgrid.toml"
    file.write_text('redis_url = "redis://me:secret@host:6379/0"\nbudget_seconds = 5\n')
    monkeypatch.setenv("NIGHTGRID_BUDGET_SECONDS", "4")
    first, *told = check_settings(load_settings(lake="x"), ["lake"])
    assert [finding.found for finding in (first, *told)] == [
        str(file),
        f"lake = {tmp_path / 'x'} (option)",
        f"redis_url = redis://***@host:6379/0 ({file})",
        "budget_seconds = 4.0 (environment)",
    ]
