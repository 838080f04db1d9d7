"""A lake with a night of sample boards, and clients of a service over it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nightgrid.service.cli.app import main
from nightgrid.service.cli.demo import SAMPLES
from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.cluster.server import is_up, server_command
from nightgrid.workers.settings import Settings

DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
NO_SERVER = "redis://127.0.0.1:9/0"
"""No program listens there."""


@pytest.fixture(scope="session")
def sample_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of three days of Pips, counted. No test writes into it."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "source").mkdir()
    for day in DAYS:
        shutil.copy(SAMPLES["pips"] / f"{day}.json", folder / "source")
    words = ("--source", f"pips={folder / 'source'}", "--lake", str(folder / "lake"))
    assert main(("nightly", *words, "--inline", "--no-prefect")) == 0
    return folder / "lake"


@pytest.fixture(scope="session")
def open_client() -> Iterator[Callable[..., TestClient]]:
    """Make a client of a service over a lake, with other settings."""
    with ExitStack() as stack:

        def client(lake: Path, **others: object) -> TestClient:
            settings = Settings(lake=str(lake), **{"redis_url": NO_SERVER, **others})  # type: ignore[arg-type]
            app = create_app(ServiceSettings(workers=settings))
            made = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
            return stack.enter_context(made)

        yield client


@pytest.fixture(scope="session")
def sample(sample_lake: Path, open_client: Callable[..., TestClient]) -> TestClient:
    """A client of a service over the lake of sample boards, without a server."""
    return open_client(sample_lake)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of the tests, which separates lakes by their ids."""
    folder = tmp_path_factory.mktemp("server")
    settings = Settings(lake=str(folder / "lake"))
    process = subprocess.Popen(server_command(settings), stdout=subprocess.DEVNULL)
    try:
        ends_at = time.monotonic() + 20
        while not is_up(settings):
            assert time.monotonic() < ends_at, "the server does not start"
            time.sleep(0.02)
        yield settings.server_url
    finally:
        process.terminate()
        process.wait(20)
