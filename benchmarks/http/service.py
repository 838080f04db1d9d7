"""A service in a process of its own, for benchmarks: started as a person starts it, and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 300.0


class Serving:
    """`nightgrid serve` over a lake."""

    def __init__(self, folder: Path, *words: str, port: int = 0, **env: str) -> None:
        self._folder = folder
        self._words = words
        self._env = {**os.environ, "NIGHTGRID_GAMES": "pips", **env}
        self.port = port
        self.process: subprocess.Popen[str] | None = None

    @property
    def lake(self) -> Path:
        """Where the lake lies."""
        return self._folder / "lake"

    def start(self) -> None:
        """Start it, and wait until it says where it listens."""
        command = [sys.executable, "-m", "nightgrid", "serve", "--json", "--lake", str(self.lake)]
        with (self._folder / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *self._words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._env,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        with self.process.stdout as out:
            told = out.readline()
        if not told:
            sys.exit((self._folder / "serve.log").read_text())
        self.port = int(json.loads(told)["url"].rstrip("/").rpartition(":")[2])

    def wait_ready(self) -> None:
        """Wait until workers are there."""
        ends_at = time.monotonic() + START_S
        while time.monotonic() < ends_at:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz"):
                    return
            except OSError:
                time.sleep(0.2)
        sys.exit("the service did not become ready")

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it by a signal, and wait for its end."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)


@contextmanager
def serving(folder: Path, *words: str, **env: str) -> Iterator[Serving]:
    """Serve for the length of a block."""
    service = Serving(folder, *words, **env)
    service.start()
    try:
        service.wait_ready()
        yield service
    finally:
        service.stop()
