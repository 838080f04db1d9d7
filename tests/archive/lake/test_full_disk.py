"""A full disk is reported with the file, the place, and the free space."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightgrid.archive.lake.faults import NoRoomError, room_on, storage_errors
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.cli.app import main
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.solvers.errors import TransientError


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB in memory, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a disk, and not everywhere")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_lake_on_a_full_disk_says_which(small_disk: Path) -> None:
    lake = Lake.open(str(small_disk / "lake"))
    lake.write_bytes("a/b", b"x")
    with pytest.raises(TransientError) as refusal:
        lake.write_bytes("a/c", bytes(2**21))
    says = rf"a/c cannot be written: the disk of {small_disk}/lake is full, or its quota is used up"
    assert re.fullmatch(rf"{says}; [0-9,]+ bytes are free there", str(refusal.value))
    assert lake.list("") == ["a/b"]


@pytest.mark.slow
def test_a_night_on_a_full_disk_says_which_and_continues(
    small_disk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(2**20 - 6 * 4096))
    words = ("nightly", "--source", str(SAMPLES["pips"]), "--lake", str(small_disk / "lake"))
    words = (*words, "--inline", "--no-prefect", "--to", "2026-01-01")
    assert main(words) == 1
    said = capsys.readouterr().err
    assert f"the disk of {small_disk}/lake is full, or its quota is used up" in said
    assert "unexpected" not in said
    # It could not release its lease.
    monkeypatch.setattr("nightgrid.workers.lease.EXPIRY_S", 2.0)
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.2)
    ballast.unlink()
    assert main(words) == 0


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_quota_counts_as_a_full_disk(tmp_path: Path, code: int) -> None:
    with (
        pytest.raises(NoRoomError, match=r"x cannot be written: the disk of .* bytes are free"),
        storage_errors("x", writing=True, place=str(tmp_path)),
    ):
        raise OSError(code, os.strerror(code))


@pytest.mark.parametrize(
    "text",
    [
        "Storage backend is at its minimum free drive threshold (XMinioStorageFull, HTTP 507)",
        "The quota is used up (QuotaExceeded, HTTP 403)",
        "no room (HTTP 507)",
    ],
)
def test_an_object_store_without_room_is_named(text: str) -> None:
    with (
        pytest.raises(NoRoomError) as refusal,
        storage_errors("x", writing=True, place="s3://bucket/lake?region=r"),
    ):
        raise OSError(text)
    assert str(refusal.value) == (
        "x cannot be written: the storage of s3://bucket/lake is full, or the quota is used up"
    )


def test_reading_and_other_errors_are_not_called_full(tmp_path: Path) -> None:
    with pytest.raises(TransientError) as refusal, storage_errors("x"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not isinstance(refusal.value, NoRoomError)
    with pytest.raises(OSError, match="broken") as error, room_on(tmp_path, "y"):
        raise OSError(errno.EIO, "broken")
    assert not isinstance(error.value, NoRoomError)


def test_another_disk_keeps_its_name_while_the_lake_is_written(tmp_path: Path) -> None:
    with (
        pytest.raises(NoRoomError, match=rf"^y cannot be written: the disk of {tmp_path} is full"),
        storage_errors("x", writing=True, place="lake"),
        room_on(tmp_path, "y"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
