"""Solve and count every published day of Letter Boxed, one after the other on one core.

    python -m benchmarks.kernels.letterboxed_archive --write

Each day is played with its own dictionary. Reading is from the payload's text to a validated board,
filtering from the board to its playable words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, finish
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Chains, Rules

ASKS: tuple[tuple[str, Chains, Ask], ...] = (
    ("fewest words, counted, best 10 listed", "fewest-words", Ask(kind="best", limit=10)),
    ("fewest letters, counted, best 10 listed", "fewest-letters", Ask(kind="best", limit=10)),
    ("chains of up to 2 words counted", 2, Ask(kind="count")),
    ("chains of up to 3 words counted", 3, Ask(kind="count")),
    ("chains of up to 4 words counted", 4, Ask(kind="count")),
    ("chains of up to 5 words counted", 5, Ask(kind="count")),
)


def main() -> None:
    """Measure the days and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_write(parser)
    options = parser.parse_args()
    files = published_files("letterboxed")
    games = [LetterBoxedGame(Rules(chains=chains), None) for _, chains, _ in ASKS]
    games[0].warm()
    times: dict[str, list[float]] = {"read": [], "words filtered": []}
    kernels: dict[str, list[float]] = {}
    counts: dict[str, list[int]] = {}
    fewest: Counter[int | None] = Counter()
    official = 0
    for path in files:
        text = path.read_text(encoding="utf-8")
        began = time.process_time()
        payload = json.loads(text)
        puzzle = Puzzle.from_json(payload)
        times["read"].append(time.process_time() - began)
        began = time.process_time()
        model = games[0].model(puzzle)
        times["words filtered"].append(time.process_time() - began)
        counts.setdefault("playable words", []).append(len(model))
        for game, (name, _, ask) in zip(games, ASKS, strict=True):
            game.model(puzzle)
            began = time.process_time()
            outcome = game.solve(puzzle, ask)
            times.setdefault(name, []).append(time.process_time() - began)
            kernels.setdefault(name, []).append(outcome.statistics.kernel_ns / 1e9)
            assert outcome.count is not None
            counts.setdefault(name, []).append(outcome.count)
            if game is games[0]:
                fewest[outcome.value] += 1
                shortest = game.solve(puzzle, Ask(kind="all")).solutions
                official += tuple(payload["ourSolution"]) in {chain.words for chain in shortest}
    section = Section(
        name="letterboxed-archive",
        title=f"{len(files)} published days of Letter Boxed, one core",
        command="python -m benchmarks.kernels.letterboxed_archive",
    )
    section.table(
        ["step", "median ms", "99 % ms", "worst ms", "total s", "of it in kernels s"],
        [_row(name, seconds, kernels.get(name)) for name, seconds in times.items()],
    )
    together = sum(map(sum, (times["read"], times["words filtered"])))
    three = "chains of up to 3 words counted"
    section.say(
        f"CPU time of one process; kernels by the clock. To read, filter and count up to 3 words: "
        f"{together + sum(times[three]):.2f} s. Fewest words: "
        + ", ".join(f"{value} on {days} days" for value, days in sorted(fewest.items()))
        + f". The official answer is among the shortest chains on {official} days."
    )
    section.table(
        ["a day", "least", "median", "most", "all days"],
        [
            [name, *(f"{n:,.0f}" for n in (min(c), statistics.median(c), max(c), sum(c)))]
            for name, c in counts.items()
        ],
    )
    finish(section, to_results=options.write)


def _row(name: str, seconds: list[float], kernel: list[float] | None) -> list[str]:
    ordered = sorted(seconds)
    at = [ordered[int(q * (len(ordered) - 1))] * 1e3 for q in (0.5, 0.99, 1.0)]
    in_kernels = "" if kernel is None else f"{sum(kernel):.3f}"
    return [name, *(f"{ms:.2f}" for ms in at), f"{sum(ordered):.2f}", in_kernels]


if __name__ == "__main__":
    main()
