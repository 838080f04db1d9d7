"""Credentials for an object store: variables, AWS files, or none."""

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
    # A listing, and since it is empty a check that this is a store.
    signed = ["authorization" in request.headers for request in server.requests]
    assert signed == [False, False, True, True]


def identity_of(server: ObjectServer) -> str:
    Lake.open(server.lake()).exists("a")
    return server.requests[-1].headers["authorization"]


def test_keys_come_from_the_environment_then_from_the_files_by_boto3(
    s3: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = '{"Version": 1, "AccessKeyId": "MADE", "SecretAccessKey": "x"}'
    (tmp_path / "told.json").write_text(told)
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(
        "[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = x\n"
    )
    (tmp_path / ".aws/config").write_text(
        f"[profile other]\nregion = eu-north-1\ncredential_process = cat {tmp_path}/told.json\n"
    )
    assert "Credential=test/" in identity_of(s3)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "Credential=DEFAULT/" in identity_of(s3)
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert "Credential=MADE/" in identity_of(s3)
    assert "/eu-north-1/" in identity_of(s3)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert "/eu-west-1/" in identity_of(s3)
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PermanentError, match=r"AWS profile nobody: .*nobody"):
        identity_of(s3)
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(PermanentError, match="read by boto3, which is not installed"):
        identity_of(s3)
