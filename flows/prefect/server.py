"""Prefect's environment and server: quiet, without proxies, temporary if none is named."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec

from nightgrid.solvers.errors import PermanentError, TransientError

SERVER_START_S = 30.0
"""Startup timeout of a temporary server, which takes 5 to 17 s on two cores."""
SERVER_TIMEOUT_S = 5.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    # Prefect's second UI loads fonts and scripts from outside hosts.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    # The default is pickle.
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    # A temporary server shows no events, which are nine tenths of what a flow run stores.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
}


class NoServerError(TransientError):
    """Prefect's server does not answer, or did not start."""


def is_installed() -> bool:
    """Return whether Prefect is installed, without importing it."""
    return find_spec("prefect") is not None


def is_named() -> bool:
    """Return whether the environment names a server, which keeps flow runs."""
    return bool(os.environ.get("PREFECT_API_URL"))


def check_installed() -> None:
    """Raise PermanentError if Prefect is not installed."""
    if not is_installed():
        raise PermanentError(
            "Prefect is not installed; expected the extra flows: "
            "pip install '.[flows]' --constraint constraints.txt in the folder of the clone"
        )


def set_environment(**more: str) -> None:
    """Set the variables of Prefect that are not set yet; call it before importing Prefect.

    Prefect reads them once. From then on, loopback addresses bypass the proxy, which cannot reach a
    server of this machine.
    """
    for name, value in {**_QUIET, **more}.items():
        os.environ.setdefault(name, value)
    direct = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if direct.strip() != "*":
        known = [host.strip() for host in direct.split(",") if host.strip()]
        hosts = ",".join([*known, *(host for host in _LOOPBACK if host not in known)])
        os.environ["no_proxy"] = os.environ["NO_PROXY"] = hosts


def check_named_server() -> bool:
    """Return whether Prefect's settings name a server.

    Raises NoServerError if it does not answer.
    """
    import httpx
    from prefect.settings import get_current_settings

    url = get_current_settings().api.url
    if not url:
        return False
    try:
        httpx.get(f"{url.rstrip('/')}/health", timeout=SERVER_TIMEOUT_S).raise_for_status()
    except httpx.HTTPError as error:
        raise NoServerError(
            f"the Prefect server at {url} does not answer ({error}); `prefect server start` starts "
            "one on this machine"
        ) from error
    return True


def start_temporary_server() -> None:
    """Start the server that Prefect uses if none is named; it ends with this process.

    Raises NoServerError, and leaves no process, if it does not answer within SERVER_START_S.
    """
    from prefect.server.api.server import SubprocessASGIServer

    server = SubprocessASGIServer()
    # The server inherits this: Ctrl-C in a terminal would end it before the flow run.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        server.start(timeout=int(SERVER_START_S))
    except Exception as error:
        server.stop()
        raise NoServerError(
            f"Prefect's temporary server did not start within {SERVER_START_S:.0f} s"
        ) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
