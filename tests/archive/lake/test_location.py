"""An impossible place for a lake is refused in one sentence, before anything is created."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nightgrid.archive.lake.location import (
    EXPECTED,
    check_location,
    check_path,
    folder_of,
    is_missing,
    make_folder,
    name_of_others,
)
from nightgrid.solvers.errors import PermanentError


@pytest.mark.parametrize(
    "url", ["{}", "{}/new/lake", "file://{}", "s3://bucket/prefix", "gs://b", "az://c/p"]
)
def test_a_lake_may_be_wherever_it_can_be_created(tmp_path: Path, url: str) -> None:
    check_location(url.format(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "trouble"),
    [
        ("{}/file", "is a file"),
        ("{}/file/lake", "lies below {}/file, which is a file"),
        ("{}/dead", "is a link to nothing"),
        ("ftp://host/lake", "has the unknown scheme 'ftp'"),
        ("s3://", "names no bucket"),
        ("file://host/lake", "names a host"),
        ("s3:/bucket/lake", "lacks // after s3:"),
        ("gs:bucket", "lacks // after gs:"),
        (" ", "is not a path"),
        ("s3://[bucket", "is not a URL"),
        ("file://localhost{}/file", "is a file"),
    ],
)
def test_a_lake_elsewhere_is_refused(tmp_path: Path, url: str, trouble: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dead").symlink_to(tmp_path / "nothing")
    url, trouble = url.replace("{}", str(tmp_path)), trouble.replace("{}", str(tmp_path))
    with pytest.raises(PermanentError) as error:
        check_location(url)
    assert str(error.value) == f"lake {url!r} {trouble}; {EXPECTED}"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), None),
        ((".git", "lost+found"), None),
        (("notes.txt", "archive"), "archive"),
        (("notes.txt", "lake.json"), None),
        (("notes.txt", "runs"), None),
    ],
)
def test_a_folder_with_files_of_others_is_distinguished_from_a_lake(
    tmp_path: Path, names: tuple[str, ...], told: str | None
) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert name_of_others(str(tmp_path)) == told
    assert name_of_others(str(tmp_path / "missing")) is None


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermanentError, match=r"cannot be read and written \(permission denied\)"):
        check_location(str(tmp_path))
    with pytest.raises(PermanentError, match=f"written in {tmp_path} "):
        check_location(str(tmp_path / "lake"))


def test_a_folder_that_can_be_read_is_enough_to_read(tmp_path: Path) -> None:
    check_location(str(tmp_path), writes=False)


def test_a_folder_that_cannot_be_accessed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PermanentError, match=r"cannot be accessed \(File name too long\)"):
        check_location(str(tmp_path / ("x" * 300)))


@pytest.mark.parametrize("who", ["me:secret", ":secret", "secret"])
def test_credentials_are_refused_and_not_shown(who: str) -> None:
    with pytest.raises(PermanentError, match=r"^the lake's URL carries credentials; ") as error:
        check_location(f"s3://{who}@bucket/lake")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["{}/new", "{}/new/lake", "file://{}/new"])
def test_a_lake_is_missing_until_its_folder_is_made(tmp_path: Path, url: str) -> None:
    place = url.format(tmp_path)
    assert is_missing(place)
    make_folder(place)
    assert not is_missing(place)
    make_folder(place)  # Another process may have created it meanwhile.
    assert not is_missing("s3://bucket/prefix"), "of a bucket nothing is asked"


def test_a_folder_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PermanentError) as error:
        make_folder(f"{tmp_path}/file/lake")
    assert str(error.value) == (
        f"lake '{tmp_path}/file/lake' cannot be made (File exists); {EXPECTED}"
    )


def test_the_path_of_a_url_is_decoded_and_a_plain_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/srv/me")
    assert folder_of("file:///srv/a%20b") == Path("/srv/a b")
    assert folder_of("/srv/a%20b?#") == Path("/srv/a%20b?#")
    assert folder_of("~/lake") == Path("/srv/me/lake")
    with pytest.raises(PermanentError, match="a user that does not exist; expected a path"):
        folder_of("~nobody-here/lake")
    assert folder_of("lake") == tmp_path / "lake"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "is not a path inside the lake"),
        ("/a", "is not a path inside the lake"),
        ("a//b", "is not a path inside the lake"),
        ("a/../b", "is not a path inside the lake"),
        ("a/.", "is not a path inside the lake"),
        ("a\\b", "is not a path inside the lake"),
        ("a\0b", "is not a path inside the lake"),
        (".staging", "lies in the lake's staging folder"),
        (".staging/a", "lies in the lake's staging folder"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, says: str) -> None:
    with pytest.raises(PermanentError) as error:
        check_path(path)
    assert says in str(error.value)
