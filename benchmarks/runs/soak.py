"""Keep batch, on-demand solves and nights going together, and see that nothing grows.

`python -m benchmarks.runs.soak [--minutes 10] [--write]`: a count of generated boards, served by a
Prefect server, keeps all cores busy for so long; meanwhile a thread submits a board every second
and waits for its answer, now and then one so loose that it becomes a run of its own, and every
minute a night of a growing archive runs under the same Prefect server. Every few seconds memory
and open files of every process, Redis' keys and bytes, Prefect's database and half-written files
are looked at. Exits with 1 if anything grew from the first third of the time to the last, or if a
solve or a night failed.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks.chaos.processes.cluster import ROOT
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.runs.soak_probe import DATABASE, FILES, KEYS, RSS, Probe, Sample, Trend, trends
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.flows.prefect import environment
from nightgrid.service.terminal.console import Exit
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.generate.generator import generate, to_payload
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.processes import end_group, spawn
from nightgrid.workers.settings import Settings

SAMPLE_S = 3.0
SUBMIT_S = 1.0
NIGHT_S = 60.0
ANSWER_S = 60.0
LOOSE_EVERY = 30
"""One in so many submitted boards is loose: its task gives up on it, and it becomes a run."""
TASK_S = 0.1
DAY_S = 86_400.0
KEPT_S = 60.0
"""What Prefect keeps of ended flow runs and of events. It is days elsewhere, and then its database
grows for so many days before it stays as it is."""
SWEEP_S = 15.0
"""How often Prefect's server deletes events that are older."""
SETTLE_S = 30.0 + KEPT_S + SWEEP_S
"""Left out at the beginning: pools, caches and tables fill, and so does Prefect's history."""
BOARDS_A_MINUTE = 80_000
CORPUS = "pips:n={boards},mix=loose,dominoes=8,rows=4,seed=11"
"""One or two milliseconds each: much work for few rows, so that the count outlasts the time."""


@dataclass(slots=True, kw_only=True)
class Load:
    """What went on besides the batch."""

    latencies_s: list[float] = field(default_factory=list)
    loose_latencies_s: list[float] = field(default_factory=list)
    runs: int = 0
    """Loose boards that became runs."""
    late: int = 0
    """Submitted boards without an answer within ANSWER_S."""
    loose_late: int = 0
    nights: int = 0
    nights_failed: int = 0


def main() -> int:
    """Load everything for a while and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.soak")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    add_write(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightgrid-soak-") as name:
        folder = Path(name)
        settings = Settings(
            lake=str(folder / "lake"),
            games="pips",
            batch_processes=options.processes,
            ondemand_seconds=TASK_S,
            flow_history_days=KEPT_S / DAY_S,
        )
        environment.prepare()
        with _prefect(folder) as (server, api), local_cluster(settings):
            env = {
                **os.environ,
                **settings.environment(),
                "PREFECT_HOME": str(folder / "prefect"),
                "PREFECT_API_URL": api,
                "PYTHONPATH": str(ROOT),
            }
            load, times, samples, jobs = _soak(folder, settings, env, server.pid, options.minutes)
    return _report(load, times, samples, jobs, options)


def _soak(
    folder: Path, settings: Settings, env: dict[str, str], server: int, minutes: float
) -> tuple[Load, list[float], list[Sample], int]:
    boards = int(BOARDS_A_MINUTE * minutes)
    lake = Lake.open(settings.lake)
    command = ["count", CORPUS.format(boards=boards), "--lake", settings.lake, "--json"]
    with _program(folder, "count", command, env) as batch:
        # The boards are generated first.
        parts = Path(settings.lake) / "runs"
        wait_for(lambda: any(parts.glob("*/parts/*")) or batch.poll() is not None, "work", 600)
        stop = threading.Event()
        load = Load()
        others = [
            threading.Thread(target=_interact, args=(lake, settings, load, stop)),
            threading.Thread(target=_nights, args=(folder, settings, env, load, stop)),
        ]
        for thread in others:
            thread.start()
        probe = Probe(
            settings,
            folder / "prefect" / "prefect.db",
            {"count (driver)": batch.pid, "Prefect server": server},
        )
        times: list[float] = []
        samples: list[Sample] = []
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < 60.0 * minutes:
                if batch.poll() is not None:
                    raise SystemExit(f"the count ended with {batch.returncode}, see {folder}")
                time.sleep(SAMPLE_S)
                if time.monotonic() - begun > SETTLE_S:
                    times.append(time.monotonic() - begun)
                    samples.append(probe.look())
        finally:
            stop.set()
            for thread in others:
                thread.join()
    return load, times, samples, _rows_done(lake)


def _rows_done(lake: Lake) -> int:
    return sum(
        rows for name in lake.list("runs") if "/parts/" in name for rows in lake.row_groups(name)
    )


def _interact(lake: Lake, settings: Settings, load: Load, stop: threading.Event) -> None:
    """Submit a new board every second, and wait for its answer."""
    loose = replace(PRESETS["loose"], dominoes=((12, 1.0),))
    for number in count():
        due = time.monotonic() + SUBMIT_S
        level = LEVELS[number % len(LEVELS)]
        is_loose = number % LOOSE_EVERY == 0
        puzzle, _ = generate(loose if is_loose else PRESETS[level], 1_000_000 + number)
        begun = time.monotonic()
        try:
            job = submit(lake, puzzle, Ask(kind="count"), settings=settings)
            row = result(lake, job, timeout_s=ANSWER_S)
        except TransientError:
            row = None
        load.runs += row is not None and not row["run_id"].startswith(ONDEMAND_PREFIX)
        if row is None:
            load.late += not is_loose
            load.loose_late += is_loose
        else:
            took = load.loose_latencies_s if is_loose else load.latencies_s
            took.append(time.monotonic() - begun)
        if stop.wait(max(0.0, due - time.monotonic())):
            return


def _nights(
    folder: Path, settings: Settings, env: dict[str, str], load: Load, stop: threading.Event
) -> None:
    """Run a night every minute, each with one new day."""
    payloads = folder / "payloads"
    payloads.mkdir()
    for number in count():
        due = time.monotonic() + NIGHT_S
        date = dt.date(2026, 1, 1) + dt.timedelta(days=number)
        boards = {level: generate(PRESETS[level], 7 * number + 1) for level in LEVELS}
        (payloads / f"{date}.json").write_text(json.dumps(to_payload(date, boards)))
        command = ["nightly", "--source", str(payloads), "--lake", settings.lake, "--json"]
        with _program(folder, "night", command, env) as night:
            while night.poll() is None and not stop.wait(0.2):
                pass
            if night.poll() is not None:
                load.nights += 1
                load.nights_failed += night.returncode not in (Exit.OK, Exit.LOOK)
        if stop.wait(max(0.0, due - time.monotonic())):
            return


@contextmanager
def _program(
    folder: Path, name: str, words: list[str], env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command line as a process, ended with the block."""
    command = [sys.executable, "-m", "nightgrid.service.cli.app", *words]
    process = spawn(command, log_path=folder / f"{name}.log", env=env)
    try:
        yield process
    finally:
        end_group(process, (signal.SIGINT, 30.0))


@contextmanager
def _prefect(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a Prefect server of its own, as one that stays: it keeps events, for a while."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env = {
        **os.environ,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_API_PORT": port,
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "true",
        "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": f"PT{KEPT_S:.0f}S",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_LOOP_SECONDS": f"{SWEEP_S:.0f}",
    }
    command = [sys.executable, "-m", "prefect", "server", "start"]
    address = ["--host", "127.0.0.1", "--port", port]
    server = spawn([*command, *address], log_path=folder / "prefect.log", env=env)
    api = f"http://127.0.0.1:{port}/api"

    def answers() -> bool:
        with contextlib.suppress(urllib.error.URLError, OSError):
            return bool(urllib.request.urlopen(f"{api}/health", timeout=5).status == 200)
        return False

    try:
        wait_for(answers, "the Prefect server", 120.0)
        yield server, api
    finally:
        end_group(server, (signal.SIGINT, 20.0))


def _report(
    load: Load,
    times: list[float],
    samples: list[Sample],
    rows: int,
    options: argparse.Namespace,
) -> int:
    found = trends(times, samples)
    section = Section(
        name="soak",
        title=f"Mixed load for {options.minutes:g} minutes",
        command=f"python -m benchmarks.runs.soak --minutes {options.minutes:g}",
    )
    section.table(
        ("what", "unit", "first third", "last third", "highest", "slope / min", "grew"),
        [
            (
                trend.what,
                trend.of.unit,
                f"{trend.first:,.1f}",
                f"{trend.last:,.1f}",
                f"{trend.highest:,.1f}",
                f"{trend.slope:+,.2f}",
                "yes" if trend.grew else "no",
            )
            for trend in found
        ],
    )
    corpus = CORPUS.format(boards=int(BOARDS_A_MINUTE * options.minutes))
    section.table(
        (
            "on-demand, one a second",
            "answered",
            "late",
            "p50 ms",
            "p99 ms",
            "p50 of 1st half",
            "of 2nd",
        ),
        [
            _solves("boards of the published mix", load.latencies_s, load.late),
            _solves("loose boards", load.loose_latencies_s, load.loose_late),
        ],
    )
    section.say(
        f"Meanwhile {options.processes} batch processes went through {rows:,} rows of "
        f"`{corpus}` (those that were put off count twice) as one Prefect flow, and "
        f"{load.nights} nights ran under the same Prefect server, {load.nights_failed} failed. "
        f"{load.runs} of the loose boards took more than {TASK_S:g} s and became runs of "
        "their own, whose chunks went before those of the count. Late: no answer within "
        f"{ANSWER_S:g} s. "
        f"Thirds: medians of {len(times)} samples, the first {SETTLE_S:g} s left out. Grew: by "
        "more than its kind may (memory 5 % and 8 MiB, files 3, keys 10 % and 10, Redis' data "
        "10 % and 1 MiB, Prefect's database 10 % and 0.5 MiB). Every process with those that it "
        f"started. Prefect keeps ended flow runs and events for {KEPT_S:g} s here, by "
        "`NIGHTGRID_FLOW_HISTORY_DAYS` and `PREFECT_SERVER_EVENTS_RETENTION_PERIOD`."
    )
    section.say("![Mixed load](../docs/pictures/soak.svg)")
    finish(section, to_results=options.write)
    if options.write:
        _draw(times, samples)
    grew = [trend for trend in found if trend.grew]
    late = load.late + load.loose_late
    return 1 if grew or late or load.nights_failed or not load.latencies_s else 0


def _solves(what: str, seconds: list[float], late: int) -> tuple[str | int, ...]:
    half = len(seconds) // 2
    halves = (_ms(part, 50) for part in (seconds[:half], seconds[half:]))
    return (what, len(seconds), late, _ms(seconds, 50), _ms(seconds, 99), *halves)


def _ms(seconds: list[float], percentile: float) -> str:
    return f"{1e3 * np.percentile(seconds, percentile):,.0f}" if seconds else "-"


def _draw(times: list[float], samples: list[Sample]) -> None:
    from benchmarks.instruments.plots import picture, say_curves

    shown = (
        (RSS, "memory, MiB"),
        (FILES, "open files"),
        (KEYS, "keys in Redis"),
        (DATABASE, "Prefect's database (grey: its file), MiB"),
    )
    minutes = np.array(times) / 60.0
    with picture("soak", 2, 2) as axes:
        for axis, (kind, title) in zip(axes.flat, shown, strict=True):
            names = sorted({name for sample in samples for name, of in sample if of is kind})
            if kind in (KEYS, DATABASE):
                # The colours of processes are those of the legend.
                axis.set_prop_cycle(color=["#222222", "#999999"])
            for name in names:
                axis.plot(minutes, [s.get((name, kind), np.nan) for s in samples], label=name)
            axis.set_title(title)
            axis.set_xlabel("minutes")
            axis.set_ylim(bottom=0)
        say_curves(axes[0][0], 5)


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["Trend", "main"]
