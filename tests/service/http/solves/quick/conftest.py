"""A service with a quick process of its own, over a lake without a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from nightgrid.service.http.app import create_app
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import found
from nightgrid.service.http.solves.quick import quick_process
from nightgrid.workers.settings import Settings

PATIENCE_S = 60.0


def until(done: Callable[[], object]) -> None:
    ends_at = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < ends_at
        time.sleep(0.02)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    lake = tmp_path_factory.mktemp("quick") / "lake"
    settings = Settings(lake=str(lake), redis_url="redis://127.0.0.1:9/0", games="pips")  # type: ignore[arg-type]
    app = create_app(ServiceSettings(workers=settings, quick_processes=1))
    # A process that stands still with its machine is waited for.
    with (
        pytest.MonkeyPatch.context() as patch,
        TestClient(app, base_url="http://localhost") as client,
    ):
        patch.setattr(quick_process, "ANSWER_S", PATIENCE_S)
        patch.setattr(found, "FILED_S", PATIENCE_S)
        until(lambda: app.state.service.quick.processes.is_ready)
        yield client
