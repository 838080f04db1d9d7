"""One port for the metrics of all processes of a host: prometheus-client's multiprocess mode.

Children of workers, the keeper and drivers write their values into files of one folder in the side
folder; the supervisor serves the sum of them. Without `metrics_port` nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.exporter")

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus-client reads it when it is first imported."""


def metrics_environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which a process shares its metrics; empty without a port."""
    return {FOLDER_VARIABLE: str(_folder(settings))} if settings.metrics_port else {}


def share_metrics(settings: Settings) -> None:
    """Share the metrics of this process; to be called before nightgrid.workers.metrics is imported.

    Without it, as in a process that imports Prefect first, prometheus-client keeps them in memory.
    """
    if settings.metrics_port:
        from prometheus_client import values

        _folder(settings).mkdir(parents=True, exist_ok=True)
        os.environ |= metrics_environment(settings)
        values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]


@contextmanager
def exporting(settings: Settings) -> Iterator[None]:
    """Serve the metrics of this host in a `with` block; a port that is taken is only logged."""
    if not settings.metrics_port:
        yield
        return
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    folder = _folder(settings)
    folder.mkdir(parents=True, exist_ok=True)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
    host, port = settings.metrics_host, settings.metrics_port
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        log.warning("no metrics", address=f"{host}:{port}", error=str(error))
        yield
        return
    # Not before the port is ours: another supervisor may still serve these files.
    for path in folder.glob("*.db"):
        path.unlink(missing_ok=True)
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _folder(settings: Settings) -> Path:
    return settings.side_dir / "metrics"
