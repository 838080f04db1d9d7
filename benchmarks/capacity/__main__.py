"""How far the house carries: what a million jobs cost, and a simulation of many more workers.

`python -m benchmarks.capacity --measure [--boards 120000]` measures runs of generated boards with
one and two processes and keeps what it found in benchmarks/capacity/capacity.json.
`python -m benchmarks.capacity [--write]` prints the figures of docs/explanation/capacity.md from
that file: costs of a million jobs, the model against the measured runs, and how many workers keep
busy.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.capacity.model import Costs, House, Outcome, drawn, lognormal, simulate
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.workers.broker.queues import MESSAGES_READ_MAX
from nightgrid.workers.driver.outbox import CHUNKS_PER_PROCESS
from nightgrid.workers.runs.plan.plan_pass import CHUNK_MAX_ROWS, CHUNK_MAX_S
from nightgrid.workers.tuning import Tuning

FOUND = Path(__file__).with_name("capacity.json")
BOARDS = 120_000
SEED = 1
MILLION = 1_000_000
CHUNK_S = (1.0, 4.0, 10.0)
WORKERS = (2, 10, 30, 100, 300, 1_000, 3_000, 10_000)
CHUNKS_EACH = 6
"""Chunks that each simulated worker gets on average: enough to see a steady state."""
HOPELESS = 0.1
"""More workers are not tried in a house where they are busy for less than this share."""
SPREAD = 0.35
"""Coefficient of variation of a chunk's time about what the planner expected of it."""
CALL_S = (0.015, 0.060)
"""One read of an object store: median and 99th percentile; assumed, not measured."""
PUT_S = (0.030, 0.150)
"""One write of it; likewise."""
SERVERS = (10, 100)


def main() -> int:
    """Measure, or print what the measurements say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--boards", type=int, default=BOARDS)
    add_write(parser)
    options = parser.parse_args()
    if options.measure:
        from benchmarks.capacity.measure import measure

        FOUND.write_text(json.dumps(measure(options.boards)) + "\n")
    found = json.loads(FOUND.read_text())
    section = Section(
        name="capacity",
        title="What runs cost, and how far they scale",
        command="python -m benchmarks.capacity",
    )
    if found["many"]["boards"] != found["usual"]["1"]["boards"]:
        raise SystemExit(f"{FOUND} compares runs of different boards; expected --measure")
    costs = _costs(found)
    _say_costs(section, found, costs)
    _say_validity(section, found, costs)
    curves = _curves(found, costs)
    _say_curves(section, curves)
    finish(section, to_results=options.write)
    if options.write:
        _draw(found, curves)
    return 0


def _costs(found: Mapping[str, Any], **changes: float) -> Costs:
    """Divide what was measured among the steps of a chunk.

    Two runs of the same rows, in few chunks and in many, tell what a chunk costs and what a run
    does with its rows.
    """
    few, many = found["usual"]["1"], found["many"]
    more = many["chunks"] - few["chunks"]
    driver_s = max(1e-4, (many["driver_cpu_s"] - few["driver_cpu_s"]) / more)
    once_s = max(0.0, few["driver_cpu_s"] - few["chunks"] * driver_s)
    inside = (sum(many["task_s"]) - many["kernel_s"]) / many["chunks"]
    put_s = float(np.median(found["put_s"]))
    values = {
        "send_s": driver_s / 3,
        "land_s": 2 * driver_s / 3,
        "look_s": found["look_s"],
        "look_again_s": found["look_s"] / 2,
        "every_s": Tuning().reconcile_seconds,
        "broker_s": many["server_cpu_s"] / many["chunks"],
        "worker_s": max(0.0, many["gap_s"]) + max(0.0, inside - put_s),
        "start_s": once_s,
    }
    return Costs(**{**values, **changes})


def _say_costs(section: Section, found: Mapping[str, Any], costs: Costs) -> None:
    one, two, many = found["usual"]["1"], found["usual"]["2"], found["many"]
    chunk_s, row_s = costs.send_s + costs.land_s, costs.start_s / one["boards"]
    section.say(
        f"Runs of the same {one['boards']:,} generated boards of the published mix, counted end to "
        "end:"
    )
    rows: list[tuple[str, Callable[[Mapping[str, Any]], str]]] = [
        ("worker processes", lambda r: f"{r['processes']}"),
        ("boards", lambda r: f"{r['boards']:,}"),
        ("chunks", lambda r: f"{r['chunks']:,}"),
        ("s, plan", lambda r: f"{r['plan_s']:.2f}"),
        ("s, work", lambda r: f"{r['drive_s']:.2f}"),
        ("s, finish", lambda r: f"{r['finish_s']:.2f}"),
        ("kernel s", lambda r: f"{r['kernel_s']:.2f}"),
        ("worker CPU s", lambda r: f"{r['worker_cpu_s']:.2f}"),
        ("driver CPU ms a chunk", lambda r: f"{1e3 * r['driver_cpu_s'] / r['chunks']:.2f}"),
        ("Redis CPU ms a chunk", lambda r: f"{1e3 * r['server_cpu_s'] / r['chunks']:.2f}"),
        ("Redis commands a chunk", lambda r: f"{r['commands'] / r['chunks']:.1f}"),
        ("bytes to Redis a chunk", lambda r: f"{r['redis_in_bytes'] / r['chunks']:,.0f}"),
        ("bytes from Redis a chunk", lambda r: f"{r['redis_out_bytes'] / r['chunks']:,.0f}"),
        ("Redis memory, peak MB", lambda r: f"{r['redis_peak_bytes'] / 1e6:.1f}"),
        ("driver's calls to the lake a chunk", lambda r: f"{_calls(r):.1f}"),
        ("lake bytes a board, manifest", lambda r: f"{_bytes(r, 'manifest'):.1f}"),
        ("lake bytes a board, parts", lambda r: f"{_bytes(r, 'parts'):.1f}"),
        ("lake bytes a board, results", lambda r: f"{_bytes(r, 'results'):.1f}"),
    ]
    section.table(
        ("", "1 process", "2 processes", "many small chunks"),
        [(name, tell(one), tell(two), tell(many)) for name, tell in rows],
    )
    calls = sum(found["worker_calls"].values())
    put = [1e3 * float(np.percentile(found["put_s"], q)) for q in (50, 99)]
    section.say(
        f"A worker calls the lake {calls:.0f} times a chunk, and writes a part in {put[0]:.1f} ms "
        f"(p99 {put[1]:.1f}), synced. A look of the driver at a chunk that waits takes "
        f"{1e6 * found['look_s']:.0f} us. Of these runs, of the same rows, the driver took "
        f"{1e3 * chunk_s:.1f} ms for each chunk and "
        f"{1e6 * row_s:.1f} us for each row, its start and end included."
    )
    a_chunk = sum(one["task_s"]) / one["chunks"]
    board_s = one["kernel_s"] / one["boards"]
    chunks = max(MILLION * board_s / CHUNK_MAX_S, MILLION / CHUNK_MAX_ROWS)
    driver_s = chunks * chunk_s + MILLION * row_s
    section.say(
        f"So a million of these boards are {MILLION * board_s:.0f} s of one core and, at "
        f"{CHUNK_MAX_S:g} s or {CHUNK_MAX_ROWS:,} boards a chunk, {chunks:,.0f} messages: "
        f"{chunks * (many['redis_in_bytes'] + many['redis_out_bytes']) / many['chunks'] / 1e6:.1f} "
        f"MB through Redis, {driver_s:.1f} s of the driver, "
        f"{MILLION * one['plan_s'] / one['boards']:.0f} s to plan, "
        f"{MILLION * one['finish_s'] / one['boards']:.0f} s to finish, "
        f"{MILLION * sum(one['lake_bytes'].values()) / one['boards'] / 1e6:.0f} MB in the lake, "
        f"{MILLION * one['lake_bytes']['results'] / one['boards'] / 1e6:.0f} MB of them results. "
        f"(Chunks of these short runs took {a_chunk:.2f} s on average.)"
    )


def _calls(run: Mapping[str, Any]) -> float:
    return float(sum(run["calls"].values())) / float(run["chunks"])


def _bytes(run: Mapping[str, Any], folder: str) -> float:
    return float(run["lake_bytes"][folder]) / float(run["boards"])


def _say_validity(section: Section, found: Mapping[str, Any], costs: Costs) -> None:
    """Hold the model to the runs that were measured."""
    one = found["usual"]["1"]
    rows = []
    for name, run in (*found["usual"].items(), ("1, many chunks", found["many"])):
        # Each run's own chunks; what a board takes to solve is that of one process alone.
        tasks = np.array(run["task_s"])
        tasks *= one["kernel_s"] / one["boards"] * run["boards"] / tasks.sum()
        made = simulate(
            tasks.tolist(),
            House(processes=run["processes"], window=_window(run["processes"]), cores=2),
            costs,
            drawn(found["put_s"], SEED),
        )
        rows.append(
            (
                name,
                f"{run['chunks']:,}",
                f"{run['drive_s']:.2f}",
                f"{made.wall_s:.2f}",
                f"{100 * (made.wall_s / run['drive_s'] - 1):+.0f} %",
            )
        )
    section.say("The model against these runs, on the same two cores:")
    section.table(("processes", "chunks", "measured s", "simulated s", "off by"), rows)


def _window(processes: int, drivers: int = 1) -> int:
    most = CHUNKS_PER_PROCESS * math.ceil(processes / drivers)
    return min(max(8, most), MESSAGES_READ_MAX)


Curve = list[tuple[int, Outcome]]


def _curves(found: Mapping[str, Any], costs: Costs) -> dict[tuple[str, float], Curve]:
    """Simulate more and more workers, in four houses, for three lengths of chunks."""
    local = drawn(found["put_s"], SEED)
    remote = lognormal(*PUT_S, SEED)
    calls = found["worker_calls"]
    reads = sum(calls.values()) - calls.get("commit", 0.0)
    driver_calls = _calls(found["many"])
    # Every call waits for the store, one after the other.
    far = {
        "land_s": costs.land_s + driver_calls * CALL_S[0],
        "worker_s": costs.worker_s + reads * CALL_S[0],
    }
    looked = {"look_s": 2 * CALL_S[0], "look_again_s": CALL_S[0]}
    # One list of parts and one of notes tell about all chunks in flight, 1,000 names a call.
    listed = {"look_s": 2 * CALL_S[0] / 1000, "look_again_s": CALL_S[0] / 1000}
    houses: dict[str, tuple[Costs, Callable[[], float], int]] = {
        "one driver, shared folder": (costs, local, 1),
        "one driver, object store": (_costs(found, **far, **looked), remote, 1),
        "one driver, object store, looks by listing": (_costs(found, **far, **listed), remote, 1),
        **{
            f"{servers} drivers and queues, object store, looks by listing": (
                _costs(found, **far, **listed),
                remote,
                servers,
            )
            for servers in SERVERS
        },
    }
    curves: dict[tuple[str, float], Curve] = {}
    for name, (paid, put_s, drivers) in houses.items():
        for chunk_s in CHUNK_S:
            curve = curves[name, chunk_s] = []
            for workers in WORKERS:
                if workers < 2 * drivers:
                    continue
                tasks = _tasks(chunk_s, CHUNKS_EACH * workers)
                house = House(processes=workers, window=_window(workers, drivers), drivers=drivers)
                made = simulate(tasks, house, paid, put_s)
                curve.append((workers, made))
                if made.busy < HOPELESS:
                    break
    return curves


def _tasks(chunk_s: float, count: int) -> list[float]:
    """Draw times of chunks that were meant to take so long."""
    sigma = math.sqrt(math.log1p(SPREAD**2))
    strays = np.random.default_rng(SEED).lognormal(-(sigma**2) / 2, sigma, count)
    return (chunk_s * strays).tolist()


def _say_curves(section: Section, curves: Mapping[tuple[str, float], Curve]) -> None:
    section.say(
        "Simulated: share of the workers' time in which they solve, as long as there are chunks to "
        "take (in brackets the load of the busiest driver, in %)."
    )
    section.table(
        ("house", "chunk s", *(f"{n:,}" for n in WORKERS)),
        [
            (name, f"{chunk_s:g}", *(_cell(curve, n) for n in WORKERS))
            for (name, chunk_s), curve in curves.items()
        ],
    )


def _cell(curve: Curve, workers: int) -> str:
    for number, made in curve:
        if number == workers:
            return f"{100 * made.busy:.0f} % ({100 * made.driver:.0f})"
    return "-"


def _draw(found: Mapping[str, Any], curves: Mapping[tuple[str, float], Curve]) -> None:
    from benchmarks.instruments.plots import picture, say_curves

    names = list(dict.fromkeys(name for name, _ in curves))
    with picture("capacity", 1, len(CHUNK_S), width=11.0) as axes:
        for axis, chunk_s in zip(axes[0], CHUNK_S, strict=True):
            for name in names:
                curve = curves[name, chunk_s]
                axis.plot([n for n, _ in curve], [100 * m.busy for _, m in curve], ".-", label=name)
            axis.set_xscale("log")
            axis.set_ylim(0, 105)
            axis.set_title(f"chunks of {chunk_s:g} s")
            axis.set_xlabel("worker processes")
        axes[0][0].set_ylabel("% of their time solving")
        say_curves(axes[0][0], 3)
    with picture("capacity-tasks", 1, 2) as axes:
        for name, run in found["usual"].items():
            values = np.sort(run["task_s"])
            axes[0][0].plot(values, np.linspace(0, 100, len(values)), label=f"{name} process(es)")
        axes[0][0].set_title("chunks, from note to part")
        axes[0][0].set_xlabel("s")
        axes[0][0].set_ylabel("% that took at most so long")
        say_curves(axes[0][0], 2)
        values = 1e3 * np.array(found["put_s"])
        axes[0][1].plot(values, np.linspace(0, 100, len(values)))
        axes[0][1].set_title("writing a part, synced")
        axes[0][1].set_xlabel("ms")


if __name__ == "__main__":
    sys.exit(main())
