"""Prefect's environment: offline, silent, JSON only. Call `enter` before Prefect is imported."""

from __future__ import annotations

import logging
import os
import threading
from importlib.util import find_spec

from nightgrid.solvers.errors import NightgridError, PermanentError

SERVER_START_S = 120
"""A temporary server answered after 5-17 s on a quiet machine; Prefect's default gives up at 20."""

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    # The second page asks outside hosts for its fonts and scripts.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    # The default is pickle.
    "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
    # Of a temporary server: its feed of events is not seen, and is nine tenths of what a flow run
    # leaves in Prefect's database.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(SERVER_START_S),
}


LEVEL_VARIABLE = "PREFECT_LOGGING_LEVEL"
CONSOLE_VARIABLE = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"
"""Variables of Prefect's own that say what it writes, anywhere and on standard error."""
_RUN_LOGGERS = ("prefect.flow_runs", "prefect.task_runs")
_stopped = threading.Event()


def available() -> bool:
    """Tell whether Prefect is installed, without importing it."""
    return find_spec("prefect") is not None


def names_server() -> bool:
    """Tell whether the environment names a server that keeps flow runs."""
    return bool(os.environ.get("PREFECT_API_URL"))


def enter(prefect: bool | None) -> bool:
    """Decide whether to run under Prefect, and prepare its environment if so.

    None means under Prefect if it is installed. On standard error Prefect writes warnings alone
    then, unless its own variables say otherwise: a night and a count print their own progress.
    Raises PermanentError when it is wanted and is not
    installed.
    """
    wanted = available() if prefect is None else prefect
    if wanted:
        if not available():
            raise PermanentError(
                "Prefect is not installed; expected the extra flows: "
                "pip install '.[flows]' --constraint constraints.txt in the folder of the clone"
            )
        prepare()
        if LEVEL_VARIABLE not in os.environ:
            # Read by the handler that writes on standard error; the server still gets all lines.
            os.environ.setdefault(CONSOLE_VARIABLE, "WARNING")
    return wanted


def prepare() -> None:
    """Set what the user has not set.

    Prefect reads its environment once, when it is imported: a process that imported it earlier
    keeps its own settings and hands these on to the processes it starts.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    for logger in _RUN_LOGGERS:
        logging.getLogger(logger).addFilter(_without_trace)


def say_errors_once() -> None:
    """Keep from standard error what Prefect says of the error that a flow run ends with.

    A night and a count say that error themselves; Prefect's server has the line all the same. Does
    nothing where Prefect's level is set by the user. Call it in a flow run, the beginning of which
    makes Prefect's handlers.
    """
    _stopped.clear()
    if LEVEL_VARIABLE not in os.environ:
        from prefect.logging.handlers import PrefectConsoleHandler

        for handler in logging.getLogger().handlers:
            if isinstance(handler, PrefectConsoleHandler):
                handler.addFilter(_is_not_said)


def say_no_more() -> None:
    """Keep from standard error, too, what Prefect says of the end of a flow run that is stopped."""
    _stopped.set()


def _without_trace(record: logging.LogRecord) -> bool:
    """Take the traceback from an error that has been put into one sentence."""
    if record.exc_info and isinstance(record.exc_info[1], NightgridError):
        record.exc_info = None
        # A task run that fails is tried again, of which Prefect alone tells.
        record.is_said = record.name == _RUN_LOGGERS[0]
    return True


def _is_not_said(record: logging.LogRecord) -> bool:
    of_runs = record.name.startswith(_RUN_LOGGERS)
    return not (getattr(record, "is_said", False) or (of_runs and _stopped.is_set()))
