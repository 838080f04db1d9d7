"""What a process is known by to an object store: variables, files of AWS, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from tests.archive.lake.objects.object_server import ObjectServer


def test_anonymous_requests_bear_no_signature(
    server: ObjectServer, identity: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for name in identity:
            patch.delenv(name)
        Lake.open(server.lake("&anonymous=true")).list()
    Lake.open(server.lake()).list()
    # A listing, and since it is empty a look whether this is a store.
    signed = ["authorization" in request.headers for request in server.requests]
    assert signed == [False, False, True, True]


def identity_of(server: ObjectServer) -> str:
    Lake.open(server.lake()).exists("a")
    return server.requests[-1].headers["authorization"]


def test_keys_come_from_the_environment_then_from_the_files(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(
        "[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = x\n"
        "[other]\naws_access_key_id = OTHER\naws_secret_access_key = x\naws_session_token = T\n"
    )
    (tmp_path / ".aws/config").write_text("[profile other]\nregion = eu-north-1\n")
    assert "Credential=test/" in identity_of(s3)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "Credential=DEFAULT/" in identity_of(s3)
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert "Credential=OTHER/" in identity_of(s3)
    assert "/eu-north-1/" in identity_of(s3)
    assert s3.requests[-1].headers["x-amz-security-token"] == "T"
    moved = (tmp_path / ".aws/credentials").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(moved))
    assert "Credential=OTHER/" in identity_of(s3)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert "/eu-west-1/" in identity_of(s3)
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PermanentError, match="AWS_PROFILE is 'nobody'"):
        identity_of(s3)


def test_a_profile_that_signs_in_elsewhere_goes_through_boto3_or_says_that_it_needs_it(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    told = '{"Version": 1, "AccessKeyId": "MADE", "SecretAccessKey": "x"}'
    (tmp_path / "told.json").write_text(told)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/config").write_text(
        f"[default]\ncredential_process = cat {tmp_path}/told.json\n"
    )
    assert "Credential=MADE/" in identity_of(s3)
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(PermanentError, match="which boto3 does and is not installed"):
        identity_of(s3)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("credential_process = false", "profile default gives no credentials: "),
        ("credential_process = echo none", "profile default gives no credentials: "),
        ("role_arn = a\nsource_profile = gone", "gives no credentials: .* does not exist"),
        ("aws_access_key_id = HALF", "lacks aws_access_key_id or aws_secret_access_key"),
    ],
)
def test_a_profile_without_credentials_is_told_in_a_sentence(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, message: str
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/config").write_text(f"[default]\n{config}\n")
    with pytest.raises(PermanentError, match=message) as refusal:
        identity_of(s3)
    assert "\n" not in str(refusal.value)


def test_a_broken_file_of_credentials_is_named(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text("key without section\n")
    with pytest.raises(PermanentError, match=r"credentials, line 1, cannot be read as an AWS file"):
        identity_of(s3)
