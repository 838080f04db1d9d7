"""Large boards one at a time on demand, with one worker and with two: wall time, and that nothing
of the answers differs.

    python -m benchmarks.http.fan_out [--boards 20] [--small 20] [--dominoes 14] [--write]

The slowest of the published Strands boards and the slowest of generated loose Pips boards, each
asked for `best(3)` or `count` by a client that waits; then published Strands boards that take less
than a second. One worker: `split=never`. Two: one process of the interactive worker and one of the
batch worker, which is idle, with `split=auto`. Which boards are slowest is found first, in this
process: of every Strands board a tenth of the first choices is worked, and those that promise to
take longest are solved; so are the boards of Pips. Exits with 1 if an answer differs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.instruments.boards import loose_board, published_files
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.parts import parts_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.strands.puzzle import Puzzle as StrandsPuzzle
from nightgrid.workers.cluster.local import local_cluster
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.submitting import submit
from nightgrid.workers.settings import Settings

ASKS = {"strands": Ask(kind="best", limit=3), "pips": Ask(kind="count")}
WAIT_S = 300.0
TASK_S = 60.0
"""What one task may take here: the comparison is of one task in several processes, not of runs."""
LOOSE_SEEDS = 30
WARM_DOMINOES = 13
SMALL_S = 1.0
STRETCHES, SAMPLED = 8, 0.1
"""Stretches of a board's first choices that are worked to tell how long the whole may take, and
the share of all that they are together."""
CANDIDATES = 2
"""Boards that are solved for each of the slowest that is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board and what it took in this process."""

    game: str
    name: str
    puzzle: Any
    alone_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer on demand."""

    wall_s: float
    text: str
    """Status, count, value and solutions, as JSON."""
    parts: int


def slowest(options: argparse.Namespace) -> tuple[list[Board], list[Board], list[Board]]:
    """Find the slowest Strands boards, the slowest Pips boards, and quick Strands boards."""
    sampled = []
    for path in published_files("strands")[:: options.every]:
        payload = json.loads(path.read_text())
        words = len(payload["themeWords"])
        puzzle = StrandsPuzzle(board=tuple(payload["startingBoard"]), theme_words=words)
        sampled.append(_sampled("strands", path.stem, puzzle))
    sampled.sort(key=lambda board: -board.alone_s)
    wanted, few = CANDIDATES * options.boards, max(1, options.small)
    # Of the others some, at even distances.
    others = sampled[wanted:]
    spread = others[:: max(1, len(others) // few)][:few]
    strands, quick = (
        [_timed(board.game, board.name, board.puzzle) for board in boards]
        for boards in (sampled[:wanted], spread)
    )
    strands.sort(key=lambda board: -board.alone_s)
    pips = [
        _timed("pips", f"{options.dominoes} dominoes, seed {seed}", board)
        for seed in range(options.seeds)
        for board in [loose_board(options.dominoes, seed)]
    ]
    pips.sort(key=lambda board: -board.alone_s)
    quick = [board for board in quick if board.alone_s < SMALL_S]
    return strands[: options.boards], pips[: options.boards], quick[: options.small]


def _sampled(name: str, called: str, puzzle: Any) -> Board:
    """Work some first choices of a board; `alone_s` is what all of them would take so."""
    search = bind_game(name).ranged(puzzle, ASKS[name], Budget(seconds=TASK_S))
    if search is None or not search.size:
        return Board(game=name, name=called, puzzle=puzzle, alone_s=0.0)
    long = max(1, round(search.size * SAMPLED / STRETCHES))
    begun = time.thread_time()
    for first in range(0, search.size, max(long, -(-search.size // STRETCHES))):
        search.work(first, min(first + long, search.size))
    taken_s = (time.thread_time() - begun) / SAMPLED
    print(f"\r{name} {called}: about {taken_s:.2f} s    ", end="", file=sys.stderr)
    return Board(game=name, name=called, puzzle=puzzle, alone_s=taken_s)


def _timed(name: str, called: str, puzzle: Any) -> Board:
    game = bind_game(name)
    begun = time.thread_time()
    game.solve(puzzle, ASKS[name], None, Budget(seconds=TASK_S))
    taken_s = time.thread_time() - begun
    print(f"\r{name} {called}: {taken_s:.2f} s    ", end="", file=sys.stderr)
    return Board(game=name, name=called, puzzle=puzzle, alone_s=taken_s)


def answers(boards: Sequence[Board], split: str, folder: Path) -> list[Answer]:
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
    with local_cluster(settings):
        for name in {board.game for board in boards}:
            # What each process loads when it meets a game first is no part of the comparison.
            _warm(lake, settings, name, boards)
        for board in boards:
            asked = ASKS[board.game]
            begun = time.perf_counter()
            job = submit(lake, board.puzzle, asked, game=board.game, settings=settings)
            row = _wait(lake, job)
            wall_s = time.perf_counter() - begun
            if row is None:
                sys.exit(f"{board.name} has no answer after {WAIT_S:g} s")
            told = {name: row[name] for name in ("status", "count", "value", "solutions")}
            text = canonical_json(told | {"count": str(row["count"])})
            found.append(Answer(wall_s=wall_s, text=text, parts=len(parts_of(lake, row))))
            print(f"\r{split} {board.name}: {wall_s:.2f} s    ", end="", file=sys.stderr)
    return found


def _wait(lake: Lake, job: str) -> dict[str, Any] | None:
    """Look every 10 ms: how often a client looks is no part of the comparison."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        row = result(lake, job)
        if row is not None:
            return row
        time.sleep(0.01)
    return None


def _warm(lake: Lake, settings: Settings, name: str, boards: Sequence[Board]) -> None:
    """Have both processes work a board together that is not compared, or is asked otherwise."""
    if name == "pips":
        puzzle, ask = loose_board(WARM_DOMINOES, seed=0), ASKS[name]
    else:
        puzzle = next(board.puzzle for board in boards if board.game == name)
        ask = Ask(kind="best", limit=1)
    job = submit(lake, puzzle, ask, game=name, settings=settings, split="ahead")
    result(lake, job, timeout_s=WAIT_S)


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
    groups = dict(zip(("Strands", "Pips", "quick Strands"), slowest(options), strict=True))
    boards = [board for group in groups.values() for board in group]
    with tempfile.TemporaryDirectory() as folder:
        one, two = (answers(boards, split, Path(folder)) for split in ("never", "auto"))
    print(file=sys.stderr)
    section = Section(
        name="fan-out",
        title="Large boards on demand, one at a time, with one worker and with two",
        command=command_line("http.fan_out", sys.argv[1:]),
    )
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
    differ = [b.name for b, x, y in zip(boards, one, two, strict=True) if x.text != y.text]
    section.say(
        "Wall time from the submission to the answer, medians. Ratio: of two workers' time to one "
        "worker's, median over boards, and its least and most. Shared: boards that were divided; "
        f"parts: the median of theirs. Answers that differ: {len(differ)}."
    )
    finish(section, to_results=options.write)
    return 1 if differ else 0


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
