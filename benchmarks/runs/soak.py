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
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.chaos.processes.cluster import ROOT
from benchmarks.instruments.processes import wait_for
from benchmarks.instruments.report import Section, add_write, finish
from benchmarks.runs.soak_load import (
    ANSWER_S,
    KEPT_S,
    SWEEP_S,
    TASK_S,
    Load,
    interact,
    nights,
    prefect,
    program,
)
from benchmarks.runs.soak_probe import DATABASE, FILES, KEYS, RSS, Probe, Sample, trends
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.prefect.server import set_environment
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.settings import Settings

SAMPLE_S = 3.0
DAY_S = 86_400.0
SETTLE_S = 30.0 + KEPT_S + SWEEP_S
"""Left out at the beginning: pools, caches and tables fill, and so does Prefect's history."""
BOARDS_A_MINUTE = 170_000
CORPUS = "pips:n={boards},mix=loose,dominoes=8,rows=4,seed=11"
"""One or two milliseconds each: much work for few rows, so that the count outlasts the time."""


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
        )
        set_environment()
        with prefect(folder) as (server, api), local_cluster(settings):
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
    with program(folder, "count", command, env) as batch:
        # The boards are generated first.
        parts = Path(settings.lake) / "runs"
        wait_for(lambda: any(parts.glob("*/parts/*")) or batch.poll() is not None, "work", 600)
        stop = threading.Event()
        load = Load()
        others = [
            threading.Thread(target=interact, args=(lake, settings, load, stop)),
            threading.Thread(target=nights, args=(folder, settings, env, load, stop)),
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
        f"started. Prefect keeps events for {KEPT_S:g} s here, by "
        "`PREFECT_SERVER_EVENTS_RETENTION_PERIOD`."
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
