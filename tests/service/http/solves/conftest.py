"""A service over a lake, without a server: the tests do the work of workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.settings import Settings
from tests.workers.ondemand.keeping import keep

SAMPLE = Path(__file__).parents[4] / "service" / "sample"
NO_SERVER = "redis://127.0.0.1:9/0"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(lake=str(tmp_path / "lake"), redis_url=NO_SERVER, games="pips")  # type: ignore[arg-type]


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake.open(settings.lake)


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    app = create_app(ServiceSettings(workers=settings))
    with TestClient(app, base_url="http://localhost") as found:
        yield found


@pytest.fixture
def work(lake: Lake, settings: Settings) -> Callable[[], int]:
    """Solve every wanted job, as keeper and workers would; return their number."""

    def work_all() -> int:
        jobs = len(open_jobs(lake).wanted)
        keep(lake, settings)
        return jobs

    return work_all


@pytest.fixture(scope="session")
def board() -> dict[str, Any]:
    """A question about a published board of Pips."""
    payload = json.loads((SAMPLE / "pips" / "2026-01-05.json").read_text())
    return {"puzzle": payload, "level": "easy", "ask": "all"}
