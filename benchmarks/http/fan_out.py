"""Large boards one at a time on demand, with one worker and with two: wall time, and that nothing
of the answers differs.

    python -m benchmarks.http.fan_out [--boards 20] [--small 20] [--dominoes 14] [--write]

The slowest of the published Strands boards and the slowest of generated loose Pips boards, each
asked for `best(3)` or `count` by a client that waits; then boards of both that take less than a
second. Loose boards are the hard ones that are generated: boards of the mix "hard" are as those
published, of which none takes 0.02 s, so that there is nothing to divide.

Two tables. The first compares one task in one process and in two: `submit` on the lake, and so many
seconds and bytes for a task that none becomes a run. The second is what people get: over HTTP from
`nightgrid serve` with its default settings, where what does not end in one task becomes a run. One
worker: `split=never`. Two: one process of the interactive worker and one of the batch worker, which
is idle, with `split=auto`. A run has both processes' queues in either case, so it gains nothing.
Which boards are slowest is found first, in this process: of every Strands board a tenth of the
first choices is worked, and those that promise to take longest are solved; so are the boards of
Pips. Those that it does not solve are left out: they may become runs. Exits with 1 if an answer
differs.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis.client import PubSub

from benchmarks.http.service import Serving, serving
from benchmarks.http.slow_boards import ASKS, LOOSE_SEEDS, TASK_S, Board, chosen
from benchmarks.instruments.boards import loose_board
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.parts import parts_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.canonical import canonical_json
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices.job_notifications import notification_channel
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.runs.plan.open_jobs import Split
from nightgrid.workers.settings import Settings

WAIT_S = 300.0
LOOK_S = 1.0
"""How long a client waits to be told of a job before it looks for itself."""
WARM_DOMINOES = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer on demand."""

    wall_s: float
    text: str
    """Status, count, value and solutions, as JSON."""
    parts: int


Asking = Callable[[Sequence[Board], Split, Path], list[Answer]]


def answers(boards: Sequence[Board], split: Split, folder: Path) -> list[Answer]:
    """Ask for boards one at a time, in a lake of their own."""
    settings = Settings(
        lake=str(folder / f"lake-{split}"),
        var_dir=folder / f"var-{split}",
        split=split,
        batch_processes=1,
        interactive_processes=1,
        ondemand_seconds=TASK_S,
        ondemand_table_bytes=2**31,
    )
    lake = Lake.open(settings.lake)
    found = []
    with local_cluster(settings), connect(settings) as client, client.pubsub() as news:
        news.subscribe(notification_channel(settings))
        for name in {board.game for board in boards}:
            # What each process loads when it meets a game first is no part of the comparison.
            _warm(lake, settings, name, boards)
        for board in boards:
            asked = ASKS[board.game]
            begun = time.perf_counter()
            job = submit(lake, board.puzzle, asked, game=board.game, settings=settings)
            row = _wait(lake, job, news)
            wall_s = time.perf_counter() - begun
            if row is None:
                sys.exit(f"{board.name} has no answer after {WAIT_S:g} s")
            told = {name: row[name] for name in ("status", "count", "value", "solutions")}
            text = canonical_json(told | {"count": str(row["count"])})
            found.append(Answer(wall_s=wall_s, text=text, parts=len(parts_of(lake, row))))
            print(f"\r{split} {board.name}: {wall_s:.2f} s    ", end="", file=sys.stderr)
    return found


def answers_over_http(boards: Sequence[Board], split: Split, folder: Path) -> list[Answer]:
    """Ask a service for boards one at a time, with the settings that it has of itself."""
    processes = {"NIGHTGRID_BATCH_PROCESSES": "1", "NIGHTGRID_INTERACTIVE_PROCESSES": "1"}
    place = folder / f"http-{split}"
    place.mkdir()
    found = []
    with serving(place, NIGHTGRID_GAMES=",".join(ASKS), **processes) as service:
        for name in {board.game for board in boards}:
            _asked(service, *_warming(name, boards), split)
        for board in boards:
            found.append(_asked(service, board.game, board.puzzle, ASKS[board.game], split))
            took = f"{found[-1].wall_s:.2f} s    "
            print(f"\rHTTP {split} {board.name}: {took}", end="", file=sys.stderr)
    return found


def _asked(service: Serving, name: str, puzzle: Any, ask: Ask, split: str) -> Answer:
    """Ask a service for a board, and wait for the answer."""
    puzzle_json = bind_game(name).puzzle_to_json(puzzle)
    question = {"puzzle": puzzle_json, "game": name, "ask": str(ask), "split": split}
    begun = time.perf_counter()
    solve = _send(service, "POST", "/v1/solves", question)
    while solve["state"] in ("queued", "running") and time.perf_counter() - begun < WAIT_S:
        # A wait is bounded by the service.
        solve = _send(service, "POST", "/v1/solves", question)
    wall_s = time.perf_counter() - begun
    if solve["state"] != "done":
        sys.exit(f"a board is {solve['state']} after {wall_s:.0f} s: {solve['reason']}")
    answer = solve["answer"]
    told = {name: answer[name] for name in ("status", "count", "value")}
    page = _send(service, "GET", solve["links"]["solutions"])
    text = canonical_json(told | {"solutions": page["solutions"]})
    return Answer(wall_s=wall_s, text=text, parts=len(answer["parts"]))


def _send(service: Serving, method: str, path: str, value: Any = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=WAIT_S)
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    try:
        connection.request(method, path, None if value is None else json.dumps(value), headers)
        reply = connection.getresponse()
        told = json.loads(reply.read())
        if reply.status not in (200, 202):
            sys.exit(f"{method} {path}: {reply.status} {told}")
        return told
    finally:
        connection.close()


def _wait(lake: Lake, job: str, news: PubSub) -> dict[str, Any] | None:
    """Look when the workers tell of a job: looks every 10 ms would take 6 % of a core from them."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        row = result(lake, job)
        if row is not None:
            return row
        news.get_message(timeout=LOOK_S)
    return None


def _warm(lake: Lake, settings: Settings, name: str, boards: Sequence[Board]) -> None:
    """Have both processes work a board together that is not compared, or is asked otherwise."""
    game, puzzle, ask = _warming(name, boards)
    job = submit(lake, puzzle, ask, game=game, settings=settings, split="ahead")
    result(lake, job, timeout_s=WAIT_S)


def _warming(name: str, boards: Sequence[Board]) -> tuple[str, Any, Ask]:
    """Choose a question that is not compared: its game, board and ask."""
    if name == "pips":
        return name, loose_board(WARM_DOMINOES, seed=0), ASKS[name]
    puzzle = next(board.puzzle for board in boards if board.game == name)
    return name, puzzle, Ask(kind="best", limit=1)


def main() -> int:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.http.fan_out",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--boards", type=int, default=20, help="how many of the slowest")
    parser.add_argument("--small", type=int, default=20, help="how many that are quick")
    parser.add_argument("--every", type=int, default=1, help="look at every n-th Strands board")
    parser.add_argument("--dominoes", type=int, default=14, help="of the generated Pips boards")
    parser.add_argument("--seeds", type=int, default=LOOSE_SEEDS, help="Pips boards generated")
    add_write(parser)
    options = parser.parse_args()
    for name in ASKS:
        bind_game(name).warm()
    groups = chosen(options)
    section = Section(
        name="fan-out",
        title="Large boards on demand, one at a time, with one worker and with two",
        command=command_line("http.fan_out", sys.argv[1:]),
    )
    differ = []
    with tempfile.TemporaryDirectory() as folder:
        for title, ask in (("One task:", answers), ("Over HTTP, by default:", answers_over_http)):
            section.say(title)
            differ += _compared(section, groups, ask, Path(folder))
    print(file=sys.stderr)
    section.say(
        "Wall time from the submission to the answer, medians. Ratio: of two workers' time to one "
        "worker's, median over boards, and its least and most. Shared: boards that were divided; "
        f"parts: the median of theirs. Answers that differ: {len(differ)}. Left out are "
        f"boards that one process does not solve in {TASK_S:g} s and the default memory."
    )
    finish(section, to_results=options.write)
    return 1 if differ else 0


def _compared(
    section: Section, groups: Mapping[str, Sequence[Board]], ask: Asking, folder: Path
) -> list[str]:
    """Ask for all boards with one worker and with two; name those whose answers differ."""
    boards = [board for group in groups.values() for board in group]
    one, two = ask(boards, "never", folder), ask(boards, "auto", folder)
    rows, at = [], 0
    for name, group in groups.items():
        here = slice(at, at + len(group))
        at += len(group)
        ratios = [b.wall_s / a.wall_s for a, b in zip(one[here], two[here], strict=True)]
        if ratios:
            rows.append(_row(name, one[here], two[here], ratios))
    section.table(
        ["boards", "number", "one s", "two s", "ratio", "least", "most", "shared", "parts"], rows
    )
    return [b.name for b, x, y in zip(boards, one, two, strict=True) if x.text != y.text]


def _row(
    name: str, one: Sequence[Answer], two: Sequence[Answer], ratios: Sequence[float]
) -> list[object]:
    shared = [answer.parts for answer in two if answer.parts]
    return [
        name,
        len(one),
        f"{statistics.median(a.wall_s for a in one):.3f}",
        f"{statistics.median(a.wall_s for a in two):.3f}",
        f"{statistics.median(ratios):.2f}",
        f"{min(ratios):.2f}",
        f"{max(ratios):.2f}",
        len(shared),
        f"{statistics.median(shared):g}" if shared else "-",
    ]


if __name__ == "__main__":
    sys.exit(main())
