"""Fixtures of lakes in object stores: the stores, and credentials for them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from nightgrid.archive.lake.objects import store, url
from tests.archive.lake.objects.object_server import ObjectServer

IDENTITY = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "GOOGLE_BEARER_TOKEN": "test",
    "AZURE_STORAGE_ACCOUNT_KEY": "dGVzdA==",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Mapping[str, str]:
    """Set credentials for every store, with an empty home; no request is retried."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(store, "PAUSE_S", 0.001)
    monkeypatch.setattr(url, "MAX_RETRIES", 0)
    return IDENTITY


@pytest.fixture(params=["s3", "gs", "az"])
def server(identity: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[ObjectServer]:
    with ObjectServer(request.param) as server:
        yield server


@pytest.fixture
def s3(identity: Mapping[str, str]) -> Iterator[ObjectServer]:
    with ObjectServer("s3") as server:
        yield server
