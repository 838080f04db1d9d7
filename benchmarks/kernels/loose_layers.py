"""What it costs to count a loose board by stages, apart from files and messages.

`python -m benchmarks.kernels.loose_layers`: one process works all parts of all stages, cut as a
run cuts them, and keeps in memory what a run would write. For parts of several sizes it measures,
beside the unsplit count, what a state costs to be carried on, sorted by bucket and gathered again,
and how many states are written by more than one part.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.instruments.boards import LOOSE_ROWS, loose_board
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.staged.stages import Carried, StageSizes, next_stage

BOARDS = ((16, 3),)
"""Dominoes and seed."""
STAGE_ROWS = (30_000, 100_000, 300_000, 1_000_000)
TABLE_BYTES = 2 * 1024**3
UNSPLIT_BYTES = 4 * 1024**3
"""The board of 20 dominoes, seed 0, needs 2.83 GB in one piece: `--boards 20:0` counts it by stages
with 2 GB, and takes some minutes."""
SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class Cost:
    """Processor seconds by what was done, and the states that went through it."""

    seconds: dict[str, float] = field(default_factory=dict)
    parts: int = 0
    stages: int = 0
    written: int = 0
    met: int = 0
    """States that were different once those written were gathered."""
    bucket_max: float = 0.0
    """The largest bucket's share of a stage of more than one part."""
    states: int = 0
    nodes: int = 0
    count: int = 0

    def timed(self, what: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do something, and add its time."""
        begun = time.process_time()
        found = work(*arguments)
        self.seconds[what] = self.seconds.get(what, 0.0) + time.process_time() - begun
        return found


def by_stages(count: LayeredCount, budget: Budget, sizes: StageSizes) -> Cost:
    """Count a board by stages in this process."""
    cost = Cost()
    count.begin()
    layer, reason = count.advance(0, count.layers, sizes.carry_rows)
    left = [] if reason else [_leave(count, cost)]
    cost.count = count.total() if layer == count.layers else 0
    while layer < count.layers and left:
        before, left = left, []
        carried = [
            Carried(
                layer=layer,
                layers=count.layers,
                row_words=count.row_words,
                rows=tuple((begins[1:] - begins[:-1]).tolist()),
            )
            for _, begins in before
        ]
        stage = next_stage(carried, sizes, budget)
        cost.stages += 1
        if len(stage) > 1:
            rows = [sum(column) for column in zip(*(c.rows for c in carried), strict=True)]
            cost.bucket_max = max(cost.bucket_max, max(rows) / sum(rows))
        for part, _ in stage:
            first, last = part.buckets
            count.clear()
            for rows_of, begins in before:
                taken = rows_of[begins[first] : begins[last]]
                inside = begins[first : last + 1] - begins[first]
                assert cost.timed("gather", count.hold, taken, inside), "no room"
            assert cost.timed("gather", count.gather_held), "no room"
            cost.met += len(count.rows)
            until = count.layers if part.until is None else part.until
            arguments = (part.layer, until, part.carry_rows)
            reached, reason = cost.timed("advance", count.advance, *arguments)
            assert not reason, reason
            cost.parts += 1
            if reached == count.layers or not len(count.rows):
                cost.count += count.total()
            else:
                left.append(_leave(count, cost))
        layer = reached
    cost.states, cost.nodes = count.statistics.states, count.statistics.nodes
    return cost


def _leave(count: LayeredCount, cost: Cost) -> tuple[Any, Any]:
    rows, begins = cost.timed("sort", count.by_bucket)
    cost.written += len(rows)
    return cost.timed("copy", rows.copy), begins


def measure(puzzle: Puzzle, sizes: StageSizes, budget: Budget) -> Cost:
    """Count a board by stages, with tables of its own."""
    count = game("pips").layered(puzzle, budget)
    assert count is not None
    return by_stages(count, budget, sizes)


def unsplit(puzzle: Puzzle, budget: Budget) -> Cost:
    """Count a board in one piece."""
    cost = Cost()
    outcome = cost.timed("advance", game("pips").solve, puzzle, Ask(kind="count"), None, budget)
    assert outcome.count is not None, outcome.reason
    cost.count = outcome.count
    cost.states, cost.nodes = outcome.statistics.states, outcome.statistics.nodes
    return cost


def main() -> None:
    """Count every board by stages of every size and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels.loose_layers", description=__doc__
    )
    parser.add_argument(
        "--boards", type=_board, nargs="+", default=list(BOARDS), metavar="DOMINOES:SEED"
    )
    parser.add_argument("--stage-rows", type=int, nargs="+", default=STAGE_ROWS)
    parser.add_argument("--table-gb", type=float, default=TABLE_BYTES / 1024**3)
    parser.add_argument("--unsplit-gb", type=float, default=UNSPLIT_BYTES / 1024**3)
    add_write(parser)
    options = parser.parse_args()
    game("pips").warm()
    section = Section(
        name="loose_layers",
        title="Loose boards by stages, in one process",
        command=command_line("kernels.loose_layers"),
    )
    budget, roomy = (
        Budget(nodes=10**15, table_bytes=int(gb * 1024**3), seconds=SECONDS)
        for gb in (options.table_gb, options.unsplit_gb)
    )
    rows: list[tuple[object, ...]] = []
    for dominoes, seed in options.boards:
        puzzle = loose_board(dominoes, seed)
        whole = unsplit(puzzle, roomy)
        rows.append(_row(f"{dominoes}, seed {seed}", "unsplit", whole, whole))
        print(*rows[-1], sep="  ", flush=True)
        for size in options.stage_rows:
            sizes = StageSizes(
                carry_rows=min(size, StageSizes().carry_rows),
                stage_rows=size,
                parts_min=1,
            )
            cost = measure(puzzle, sizes, budget)
            assert cost.count == whole.count
            rows.append(_row(f"{dominoes}, seed {seed}", f"{size:,}", cost, whole))
            print(*rows[-1], sep="  ", flush=True)
    section.table(
        (
            "dominoes",
            "rows a part",
            "stages",
            "parts",
            "largest bucket",
            "states",
            "expanded",
            "written",
            "CPU s",
            "ratio",
            "advance us/state",
            "sort us/row",
            "copy us/row",
            "gather us/row",
        ),
        rows,
    )
    section.say(
        f"Boards of the mix `LOOSE`, {LOOSE_ROWS} rows. States are those of the unsplit count; "
        "expanded are those carried on, written those left for the next stage, both next to them. "
        "Copying stands for writing and reading."
    )
    finish(section, to_results=options.write)


def _row(board: str, what: str, cost: Cost, whole: Cost) -> tuple[object, ...]:
    total, before = sum(cost.seconds.values()), sum(whole.seconds.values())

    def each(what: str, over: int) -> str:
        return f"{cost.seconds.get(what, 0.0) / over * 1e6:.3f}" if over else ""

    return (
        board,
        what,
        cost.stages or "",
        cost.parts or "",
        f"{cost.bucket_max:.1%}" if cost.parts else "",
        f"{whole.states:,}",
        f"{cost.states / whole.states:.3f}",
        f"{cost.written / max(cost.met, 1):.2f}" if cost.parts else "",
        f"{total:.2f}",
        f"{total / before:.2f}",
        each("advance", cost.states),
        each("sort", cost.written),
        each("copy", cost.written),
        each("gather", cost.written),
    )


def _board(text: str) -> tuple[int, int]:
    dominoes, _, seed = text.partition(":")
    return int(dominoes), int(seed or 0)


if __name__ == "__main__":
    main()
