"""One port with the metrics of all processes of a host: prometheus-client's multiprocess mode.

Worker children, the keeper and drivers write their values to files in the side folder; the
supervisor serves their sum. Nothing is written unless `metrics_port` is set.
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
"""Environment variable that prometheus-client reads when it is first imported."""


def metrics_environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which a process shares its metrics; empty if no port is set."""
    return {FOLDER_VARIABLE: str(_folder(settings))} if settings.metrics_port else {}


def share_metrics(settings: Settings) -> None:
    """Share the metrics of this process; call it before importing nightgrid.workers.metrics.

    Importing Prefect imports prometheus-client, which then keeps values in memory, not in files.
    """
    if settings.metrics_port:
        from prometheus_client import values

        _folder(settings).mkdir(parents=True, exist_ok=True)
        os.environ |= metrics_environment(settings)
        values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]


@contextmanager
def exporting(settings: Settings) -> Iterator[None]:
    """Serve the metrics of this host in a `with` block; log a warning if the port is taken."""
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
    # Only once the port is ours: another supervisor may still serve these files.
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
