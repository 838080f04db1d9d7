"""Commands and requests in forks of one process that has a lake and all programs loaded."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.lakes.full_lake import FullLake, environment

TROUBLED = 70
"""The exit code of a fork in which a command raised."""
TIMEOUT_S = 60
"""How long a command may take: it ends by SIGALRM then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.out + self.err


def forked(full: FullLake, words: Sequence[str]) -> Said:
    """Run a command in a fork of this process, or requests of the HTTP service."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("out", "err")]
        process = os.fork()
        if process == 0:
            for number, path in enumerate(streams, 1):
                os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), number)
            code = TROUBLED
            try:
                with environment(full.folder):
                    code = _requests(words[1:]) if words[0] == "http" else _command(words)
            except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
                traceback.print_exc()
            finally:
                with contextlib.suppress(BaseException):
                    sys.stdout.flush()
                    sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(process, 0)
        out, err = (path.read_text(errors="replace") for path in streams)
        return Said(code=os.waitstatus_to_exitcode(status), out=out, err=err)


def _command(words: Sequence[str]) -> int:
    from nightgrid.service.cli.app import main

    signal.alarm(TIMEOUT_S)
    return main(words)


def _requests(paths: Iterable[str]) -> int:
    """Ask the HTTP service; 0 unless it answers one request with a 500."""
    from starlette.testclient import TestClient

    from nightgrid.service.http.app import create_app
    from nightgrid.service.http.settings import ServiceSettings
    from nightgrid.workers.settings import load_settings

    app = create_app(ServiceSettings(workers=load_settings()))
    worst = 0
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        for path in paths:
            answer = client.get(path)
            print(path, answer.status_code, "" if path == "/report" else answer.text)
            worst = max(worst, answer.status_code)
    return 1 if worst >= 500 else 0
