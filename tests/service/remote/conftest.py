"""A service on loopback, over a lake of sample boards; the tests solve its jobs."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.app import create_app
from nightgrid.service.http.running import listen, make_server, url_of
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.logs import logged_to
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.settings import Settings
from tests.service.http.conftest import NO_SERVER, sample_lake
from tests.workers.ondemand.keeping import keep

__all__ = ["sample_lake"]


@dataclass(frozen=True, slots=True)
class Served:
    """A service, and the lake under it."""

    url: str
    lake: Lake
    settings: Settings

    def work(self) -> int:
        """Solve every wanted job, as a worker would; return their number."""
        jobs = len(open_jobs(self.lake).wanted)
        keep(self.lake, self.settings)
        return jobs


@pytest.fixture
def serve(
    sample_lake: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Served]]:
    """Start services on any free port; they end with the test."""
    monkeypatch.setattr("nightgrid.workers.ondemand.submitting.wake_keeper", lambda *_: None)
    servers: list[tuple[object, threading.Thread]] = []

    def start(**others: object) -> Served:
        shutil.copytree(sample_lake, tmp_path / "served")
        settings = Settings(
            lake=str(tmp_path / "served"),
            redis_url=NO_SERVER,  # type: ignore[arg-type]
            **others,  # type: ignore[arg-type]
        )
        here = ServiceSettings(workers=settings, port=0)
        bound, started = listen(here), threading.Event()
        server = make_server(create_app(here), started.set)
        thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
        thread.start()
        servers.append((server, thread))
        assert started.wait(30)
        return Served(url_of(bound).rstrip("/"), Lake.open(settings.lake), settings)

    # The service runs in this process, and shares standard error with commands.
    with logged_to(tmp_path / "service.log"):
        yield start
        for server, thread in servers:
            server.end()  # type: ignore[attr-defined]
            thread.join(30)


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    """A service without keys."""
    return serve()


@pytest.fixture
def worked(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A service whose jobs are solved when a client polls them the second time."""
    from nightgrid.service import remote

    monkeypatch.setattr(remote.time, "sleep", lambda _: served.work())
    return served
