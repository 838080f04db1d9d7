"""Measure how cost grows with the size of a question, and draw it.

    python -m benchmarks.kernels.curves --write

Each curve asks one question of boards that differ in one size. Seconds are those of the kernels on
one core. Curves of workers are a schedule: chunks that were measured here are given out, one after
the other, by a driver that takes as long for each as it was measured to take.
"""

from __future__ import annotations

import argparse
import heapq
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.archive.words.lexicons import english_words
from nightgrid.service.games.plug import SAMPLES
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle as Sides
from nightgrid.solvers.letterboxed.rules import Rules as LetterRules
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import HARD, LOOSE
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle as Letters
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.tiles.generate import Form
from nightgrid.solvers.tiles.generate import generate as generate_tiles

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
BUDGET_S = 10.0
BUDGET = Budget(seconds=BUDGET_S)
COUNT = Ask(kind="count")
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WIDE, HIGH, EDGE, RIGHT = 480, 260, 54, 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Boards of one size: how many states and seconds they took."""

    size: int
    states: list[int]
    seconds: list[float]
    over: int
    """Boards beyond the budget, whose seconds are at least these."""


Curve = Iterator[Point]


def solved(size: int, asked: Iterable[tuple[Any, Any, Ask]]) -> Point:
    """Solve boards of one size."""
    outcomes = [bound.solve(puzzle, ask, None, BUDGET) for bound, puzzle, ask in asked]
    return Point(
        size=size,
        states=[outcome.statistics.states for outcome in outcomes],
        seconds=[outcome.statistics.kernel_ns / 1e9 for outcome in outcomes],
        over=sum(outcome.status is Status.OVER_BUDGET for outcome in outcomes),
    )


def hard_pips() -> Curve:
    """Count boards of the mix `hard` with more and more dominoes."""
    for dominoes in (4, 6, 8, 10, 12, 14, 16, 18, 20):
        yield solved(dominoes, _pips(HARD, dominoes, 30))


def loose_pips() -> Curve:
    """Count boards with four rows and few constraints."""
    for dominoes in (4, 6, 8, 10, 12, 14):
        yield solved(dominoes, _pips(LOOSE, dominoes, 5))


def _pips(mix: Any, dominoes: int, boards: int) -> Iterator[tuple[Any, Any, Ask]]:
    sized = replace(mix, dominoes=((dominoes, 1.0),))
    return ((game("pips"), generate(sized, seed)[0], COUNT) for seed in range(boards))


def strands_cells() -> Curve:
    """Count the covers by single words of boards with more and more rows."""
    playing = _strands(30_000)
    boards = _letters()
    for rows in (3, 4, 5, 6, 7, 8, 9, 10):
        # Further rows are those of the next board.
        cut = [(board + boards[(i + 1) % len(boards)])[:rows] for i, board in enumerate(boards)]
        yield solved(6 * rows, [(playing, Letters(board=board), COUNT) for board in cut])


def strands_words() -> Curve:
    """Count the covers of published-sized boards by more and more words."""
    for words in (1_000, 3_000, 10_000, 30_000, 100_000):
        playing = _strands(words)
        yield solved(words, [(playing, Letters(board=board), COUNT) for board in _letters()])


def letterboxed_words() -> Curve:
    """Find the best ten chains of days whose dictionaries have more and more words."""
    sides = ("ACE", "LRT", "INO", "SDG"), ("TAP", "ERD", "NIL", "YCO"), ("MUE", "HSB", "LIN", "RGT")
    for words in (1_000, 3_000, 10_000, 30_000, 100_000, 250_000):
        playing = LetterBoxedGame(LetterRules(), compile_lexicon(_commonest(words)))
        ask = Ask(kind="best", limit=10)
        yield solved(words, [(playing, Sides(sides=board), ask) for board in sides])


def tiles() -> Curve:
    """Clear boards of more and more tiles."""
    for count in (30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000):
        form = Form(tiles=count)
        asked = [
            (game("tiles"), generate_tiles(form, seed), Ask(kind="first")) for seed in range(3)
        ]
        yield solved(count, asked)


def _strands(words: int) -> StrandsGame:
    playing = StrandsGame(Rules(spangram="off", words="any"), compile_lexicon(_commonest(words)))
    playing.warm()
    return playing


def _commonest(words: int) -> list[tuple[str, int]]:
    return sorted(english_words(), key=lambda entry: (-entry[1], entry[0]))[:words]


def _letters() -> list[tuple[str, ...]]:
    from nightgrid import read

    files = sorted((SAMPLES / "strands").glob("*.json"))
    return [board.puzzle.board for file in files for board in read(file)]


CURVES: dict[str, tuple[str, str, Callable[[], Curve]]] = {
    "pips-hard": ("Pips, constrained: all solutions", "dominoes", hard_pips),
    "pips-loose": ("Pips, hardly constrained: all solutions", "dominoes", loose_pips),
    "strands-cells": ("Strands, 30,000 words: all covers", "cells", strands_cells),
    "strands-words": ("Strands, 48 cells: all covers", "words", strands_words),
    "letterboxed": ("Letter Boxed: the best 10 chains", "words", letterboxed_words),
    "tiles": ("Tiles: one combo", "tiles", tiles),
}


def workers(boards: int) -> Iterator[tuple[int, float, float, str]]:
    """Count generated boards with 1 and 2 workers, then schedule a hundred times as many on more.

    Yields workers, seconds, boards a second, and how that is known.
    """
    runs = {processes: _counted(boards, processes) for processes in (1, 2)}
    for processes, (wall_s, *_) in runs.items():
        yield processes, wall_s, boards / wall_s, "measured"
    wall_s, driver_s, chunks = runs[1]
    for number in WORKERS:
        ended_s = schedule_s([wall_s / chunks] * (100 * chunks), driver_s / chunks, number)
        yield number, ended_s / 100, 100 * boards / ended_s, "scheduled"


def _counted(boards: int, processes: int) -> tuple[float, float, int]:
    """Count generated boards with the driver in this process.

    Returns seconds, seconds of processor time of the driver, and the number of chunks.
    """
    from nightgrid.flows.count.count import bring_corpus, work_count
    from nightgrid.flows.count.settings import CountSettings
    from nightgrid.service.options.shared_options import run_options

    with tempfile.TemporaryDirectory(prefix="nightgrid-curves-") as folder:
        settings = CountSettings(
            corpus=f"pips:n={boards},mix=published,seed=7",
            game="pips",
            ask=COUNT,
            rules="",
            lexicon=None,
            **run_options(str(Path(folder) / "lake"), processes, inline=False),
        )
        bring_corpus(settings)
        cpu_s = time.process_time()
        report = work_count(settings)
        driver_s = time.process_time() - cpu_s
    return report.solve_seconds, driver_s, report.chunks_worked


def schedule_s(chunk_s: Sequence[float], driver_s: float, workers: int) -> float:
    """Return when the last chunk ends that one driver gives out, one after the other.

    The driver needs `driver_s` for each, and a worker takes the next one when it is free.
    """
    free, driver = [0.0] * workers, 0.0
    for seconds in chunk_s:
        driver = max(heapq.heappop(free), driver) + driver_s
        heapq.heappush(free, driver + seconds)
    return max(free)


# -- output ---------------------------------------------------------------------------------------


def drawing(title: str, axis: str, curve: Sequence[tuple[float, Sequence[float]]]) -> str:
    """Draw seconds over sizes on two logarithmic scales: a dot a board, a line through medians."""
    xs = [size for size, _ in curve]
    ys = [max(second, 1e-7) for _, seconds in curve for second in seconds]
    left, right = math.log10(min(xs)), math.log10(max(xs))
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def at(size: float, second: float) -> str:
        x = EDGE + (WIDE - EDGE - RIGHT) * (math.log10(size) - left) / (right - left)
        y = HIGH - EDGE - (HIGH - EDGE - 34) * (math.log10(max(second, 1e-7)) - low) / (high - low)
        return f"{x:.1f},{y:.1f}"

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" '
            'font-family="system-ui, sans-serif" font-size="11" fill="#565570">'
        ),
        f'<rect width="{WIDE}" height="{HIGH}" rx="12" fill="#fffefb"/>',
        f'<text x="{EDGE}" y="20" font-size="13" font-weight="600" fill="#17162b">{title}</text>',
        f'<text x="{WIDE - 16}" y="{HIGH - 8}" text-anchor="end">{axis}</text>',
    ]
    for decade in range(low, high + 1):
        x, y = at(min(xs), 10.0**decade).split(",")
        parts.append(f'<path d="M{x} {y}H{WIDE - RIGHT}" stroke="#dbd8e2"/>')
        parts.append(
            f'<text x="{EDGE - 6}" y="{float(y) + 4}" text-anchor="end">{_s(decade)}</text>'
        )
    for i, (size, seconds) in enumerate(curve):
        x, _ = at(size, 1).split(",")
        if i % 2 == 0 or len(curve) < 8:
            parts.append(
                f'<text x="{x}" y="{HIGH - EDGE + 18}" text-anchor="middle">{size:,}</text>'
            )
        for second in seconds:
            cx, cy = at(size, second).split(",")
            parts.append(f'<circle cx="{cx}" cy="{cy}" r="2.2" fill="#5632c4" opacity="0.3"/>')
    line = " ".join(at(size, statistics.median(seconds)) for size, seconds in curve)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#5632c4" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>", ""])


def _s(decade: int) -> str:
    unit, power = next(
        (u, p) for u, p in (("s", 0), ("ms", -3), ("us", -6), ("ns", -9)) if decade >= p
    )
    return f"{10 ** (decade - power)} {unit}"


def main() -> None:
    """Measure every curve, print its table, and draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--boards", type=int, default=100_000, help="boards that workers count")
    add_write(parser)
    options = parser.parse_args()
    section = Section(
        name="curves",
        title="Cost as questions grow",
        command="python -m benchmarks.kernels.curves",
    )
    for name, (title, axis, curve) in CURVES.items():
        points = list(curve())
        section.say(f"**{title}**, by {axis}; seconds of kernels on one core:")
        section.table(
            (
                axis,
                "boards",
                "states, median",
                "seconds, median",
                "seconds, worst",
                f"over {BUDGET_S:g} s",
            ),
            [
                (
                    f"{p.size:,}",
                    len(p.seconds),
                    f"{statistics.median(p.states):,.0f}",
                    f"{statistics.median(p.seconds):.6f}",
                    f"{max(p.seconds):.6f}",
                    p.over,
                )
                for p in points
            ],
        )
        if options.write:
            svg = drawing(title, axis, [(p.size, p.seconds) for p in points])
            (PICTURES / f"cost-{name}.svg").write_text(svg)
    section.say(f"**Workers**: {options.boards:,} generated boards of Pips are counted.")
    section.table(
        ("workers", "seconds", "boards a second", "how"),
        [(n, f"{s:.2f}", f"{rate:,.0f}", how) for n, s, rate, how in workers(options.boards)],
    )
    finish(section, to_results=options.write)


if __name__ == "__main__":
    main()
