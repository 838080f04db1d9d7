"""Traces of requests: FastAPI's own, for the provider that traces in this process, if one does."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from fastapi.telemetry import TelemetryConfig

from nightgrid.service.http.monitoring.route_names import API
from nightgrid.workers.tracing import current_tracing


def telemetry() -> TelemetryConfig:
    """Write FastAPI's configuration: requests of the API alone, and nothing without traces.

    Logs and metrics are nightgrid's own (nightgrid.workers.logs, /metrics).
    """
    tracing = current_tracing()
    off: TelemetryConfig = {
        "tracing": False,
        "metrics": False,
        "logs": False,
        "operation_spans": False,
        "auto_configure": False,
    }
    if tracing is None:
        return off
    return {
        **off,
        "tracing": True,
        "tracer_provider": tracing.provider,
        "exclude": _is_beside,
    }


def _is_beside(scope: MutableMapping[str, Any]) -> bool:
    """Tell whether a request is for the page, or asks whether the service is well."""
    return not str(scope.get("path", "")).startswith(f"{API}/")
