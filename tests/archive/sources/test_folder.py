"""A folder of payloads: its dates, its unused files, and reading one."""

from __future__ import annotations

import datetime as dt
import errno
import os
from pathlib import Path

import pytest

from nightgrid.archive.sources import AnswerKind, Validators, folder, open_source
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.errors import PermanentError
from tests.archive.sources.test_sources import BODY, DATE


def test_a_folder_has_the_dates_of_its_files(tmp_path: Path) -> None:
    named = ("2026-01-02.json", "2025-12-31.json", "2026-02-30.json", "README.md", "x.json")
    for name in (*named, "notes.", ".hidden"):
        (tmp_path / name).write_bytes(BODY)
    source = open_source(str(tmp_path))
    assert source.local, "its files may be read each night"
    assert source.dates(None, None) == [dt.date(2025, 12, 31), DATE]
    assert source.dates(DATE, None) == [DATE]
    assert source.dates(None, dt.date(2026, 1, 1)) == [dt.date(2025, 12, 31)]
    assert source.dates(DATE, DATE) == [DATE]
    answer = source.fetch(DATE, None)
    assert (answer.kind, answer.body, answer.http_status) == (AnswerKind.BODY, BODY, None)
    assert answer.url == source.url(DATE) == (tmp_path / "2026-01-02.json").as_uri()
    assert source.fetch(dt.date(2026, 1, 9), None).kind is AnswerKind.ABSENT
    assert source.skipped() == ["2026-02-30.json", "README.md", "notes.", "x.json"]
    source.close()


def test_a_file_that_the_system_does_not_give_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "2026-01-02.json").write_bytes(BODY)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    answer = FolderSource(tmp_path).fetch(DATE, None)
    assert (answer.kind, answer.rule) == (AnswerKind.FAILED, "unreadable")
    assert answer.message == "2026-01-02.json cannot be read: Permission denied"


def test_a_file_beyond_the_bound_is_cut_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MAX_BODY_BYTES", 1000)
    (tmp_path / "2026-01-02.json").write_bytes(b"x" * 2000)
    answer = FolderSource(tmp_path).fetch(DATE, None)
    assert (answer.kind, answer.rule, answer.body) == (
        AnswerKind.FAILED,
        "body-too-large",
        b"x" * 1000,
    )


def test_a_file_as_long_as_the_bound_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MAX_BODY_BYTES", 1000)
    for size, kind in ((1000, AnswerKind.BODY), (1001, AnswerKind.FAILED)):
        (tmp_path / "2026-01-02.json").write_bytes(b"x" * size)
        assert FolderSource(tmp_path).fetch(DATE, None).kind is kind


def test_a_name_that_is_not_a_plain_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "2026-01-02.json")
    (tmp_path / "2026-01-03.json").mkdir()
    source = FolderSource(tmp_path)
    for date in source.dates(None, None):
        assert source.fetch(date, None).message == f"{date}.json is not a file"


def test_a_link_to_nothing_is_a_failure_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "2026-01-02.json").symlink_to(tmp_path / "gone")
    answer = FolderSource(tmp_path).fetch(DATE, None)
    assert answer.kind is AnswerKind.FAILED
    assert "2026-01-02.json is a link to a missing file" in answer.message


def test_a_source_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PermanentError, match="is not a folder"):
        open_source(str(tmp_path / "nowhere"))


def test_a_file_is_settled_when_its_size_is_known_and_it_is_old(
    tmp_path: Path,
) -> None:
    (tmp_path / "2026-01-02.json").write_bytes(BODY)
    source = FolderSource(tmp_path)
    now = dt.datetime.now(dt.UTC)

    def kind(fetched_at: dt.datetime | None, body_bytes: int) -> AnswerKind:
        return source.fetch(DATE, Validators(fetched_at=fetched_at, body_bytes=body_bytes)).kind

    later = now + dt.timedelta(hours=1)
    assert kind(later, len(BODY)) is AnswerKind.UNCHANGED
    assert kind(later, len(BODY) + 1) is AnswerKind.BODY, "of another size"
    assert kind(now, len(BODY)) is AnswerKind.BODY, "it may have changed within the clock's tick"
    assert kind(None, len(BODY)) is AnswerKind.BODY
