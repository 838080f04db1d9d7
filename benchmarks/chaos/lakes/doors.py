"""What comes in at the doors of a lake: redirects, bombs, and words that change."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.chaos.lakes.nights import FIRST, ROOT, Field, Found, night_of
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.web import HttpSource, Politeness
from nightgrid.flows.count import planner
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.settings import CountSettings
from nightgrid.solvers.errors import PermanentError
from tests.service.cli import bombs


@contextmanager
def _server(location: str | None) -> Iterator[tuple[str, list[str]]]:
    """Serve a payload, or a redirect to a place; yield the address and what was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = b'{"secret": 1}'
            self.send_response(200 if location is None else 302)
            if location is not None:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def redirected(_field: Field, folder: Path) -> Found:
    """Let a source redirect to another host: nothing is asked there, and nothing is stored."""
    lake = Lake.open(str(folder / "lake"))
    polite = Politeness(interval_s=0.0, attempts=1)
    with _server(None) as (other, asked), _server(f"{other}/x.json") as (url, _):
        source = HttpSource(url, polite, sleep=lambda _: None)
        report = fetch(lake, source, first=FIRST, last=FIRST + dt.timedelta(days=1))
    stored = RawArchive(lake, "pips").dates()
    bad = f"{len(asked)} were asked there, {len(stored)} stored" if asked or stored else ""
    rules = {failure.rule for failure in report.failed}
    return Found(
        struck=len(report.asked),
        said=f"{len(report.failed)} dates failed: {', '.join(sorted(rules))}",
        bad=bad,
    )


def bombs_tried(_field: Field, folder: Path) -> Found:
    """Send every bomb to its door, in a process of bounded memory."""
    bombs.write(folder)
    real = os.path.realpath(folder)
    wrong = []
    command = [sys.executable, "-m", "benchmarks.instruments.limited_commands"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for row in bombs.ROWS:
            asked = {
                "words": [word.replace("FOLDER", real) for word in row.words],
                "env": {name: text.replace("FOLDER", real) for name, text in row.env.items()},
                "folder": real,
                "limit_mb": bombs.LIMIT_MB,
            }
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            said = answer["err"].replace(real, "FOLDER").splitlines()[-1:]
            if (answer["code"], said) != (row.code, [f"nightgrid: {row.says}"]):
                wrong.append(row.what)
        process.stdin.close()
    said_in_short = f"one sentence each, within {bombs.LIMIT_MB} MB"
    return Found(struck=len(bombs.ROWS), said=said_in_short, bad="; ".join(wrong))


def changing_words(_field: Field, folder: Path) -> Found:
    """Write over a word list once a count's plan is begun: it ends with the reason."""
    words = folder / "words.txt"
    words.write_text("ACED\nDECAF\nFACE\n")
    workers = night_of(folder / "lake", folder).workers.model_copy(
        update={"games": ("letterboxed",)}
    )
    settings = CountSettings(
        corpus="letterboxed:n=2,seed=1", executor="inline", workers=workers, lexicon=str(words)
    )
    begin = planner.begin_run

    def write_over(*given: Any, **named: Any) -> None:
        begin(*given, **named)
        words.write_text("ACED\nDECAF\nFACED\n")

    try:
        with mock.patch.object(planner, "begin_run", write_over):
            work_count(settings)
    except PermanentError as error:
        said = str(error)
    else:
        said = "it ended as if nothing had happened"
    bad = "" if re.search(r"words\.txt changed while run \w+ was planned", said) else said
    return Found(struck=1, said="ended with the reason: the list changed", bad=bad)
