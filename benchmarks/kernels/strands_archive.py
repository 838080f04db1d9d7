"""Count and rank every published Strands board, one after the other on one core.

    python -m benchmarks.kernels.strands_archive --words enable1.txt --write
    python -m benchmarks.kernels.strands_archive --best 10 --write

With a word list: single words, any number of them, no spangram. Without: the default lexicon, a
spangram of up to three words, the official number of theme words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instruments.boards import published_files
from benchmarks.instruments.report import Section, add_write, command_line, finish
from nightgrid.archive.words.lexicons import default_lexicon, lexicon_from_file
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules

BUDGET_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Processor time of one board, in seconds."""

    date: str
    find_s: float
    search_s: float
    count: int | None
    words: int
    compounds: int
    states: int
    table_bytes: int

    @property
    def all_s(self) -> float:
        """Seconds of the processor from the letters to the last answer."""
        return self.find_s + self.search_s


def measure(path: Path, game: StrandsGame, best: int) -> Board:
    """Find the pieces of one board, then count its covers and rank the best in one search."""
    payload = json.loads(path.read_text())
    puzzle = Puzzle(board=tuple(payload["startingBoard"]), theme_words=len(payload["themeWords"]))
    budget = Budget(seconds=BUDGET_S)
    times = [time.thread_time()]
    found = game.steps(None)[0].find(puzzle)
    times.append(time.thread_time())
    ask = Ask(kind="best", limit=best) if best else Ask(kind="count")
    outcome = game.solve(puzzle, ask, None, budget)
    times.append(time.thread_time())
    return Board(
        date=path.stem,
        find_s=times[1] - times[0],
        search_s=times[2] - times[1],
        count=outcome.count,
        words=len(found.words),
        compounds=len(found.compounds),
        states=outcome.statistics.states,
        table_bytes=outcome.statistics.table_bytes,
    )


def main() -> None:
    """Measure the boards and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", help="word list; default: the default lexicon with compounds")
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument("--best", type=int, default=0, help="also ask for the best k")
    add_write(parser)
    options = parser.parse_args()
    lexicon = lexicon_from_file(options.words) if options.words else default_lexicon()
    rules = Rules(spangram="off", words="any") if options.words else Rules()
    game = StrandsGame(rules, lexicon)
    game.warm()
    files = published_files("strands")[:: options.every]
    # The first board pays for pages that all others find in place.
    measure(files[0], game, options.best)
    boards = []
    for path in files:
        boards.append(measure(path, game, options.best))
        print(f"\r{len(boards)} of {len(files)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    arguments = [Path(a).name if a == options.words else a for a in sys.argv[1:]]
    section = Section(
        name="strands-list" if options.words else "strands-vocabulary",
        title=f"{len(boards):,} published Strands boards, one core, "
        + (f"{len(lexicon):,} words of a list" if options.words else f"{len(lexicon):,} words"),
        command=command_line("kernels.strands_archive", arguments),
    )
    section.say(f"Rules: `{rules}`. Times are of the processor, in milliseconds.")
    rows = [
        _row("pieces found", [b.find_s for b in boards]),
        _row(
            f"counted, best {options.best} ranked" if options.best else "counted",
            [b.search_s for b in boards],
        ),
    ]
    rows.append(_row("together", [b.all_s for b in boards]))
    section.table(["step", "median", "90 %", "99 %", "worst", "total s"], rows)
    over = sum(b.count is None for b in boards)
    covers = [b.count or 0 for b in boards]
    section.say(
        f"Covers a board: median {statistics.median(covers):,.0f}, most {max(covers):,}; "
        f"none on {covers.count(0)} boards; over budget: {over}. Pieces a board: median "
        f"{statistics.median(b.words for b in boards):,.0f} words and "
        f"{statistics.median(b.compounds for b in boards):,.0f} compounds. States: at most "
        f"{max(b.states for b in boards):,} ({max(b.table_bytes for b in boards) / 2**20:,.0f} "
        "MiB of table)."
    )
    worst = sorted(boards, key=lambda b: -b.all_s)[:5]
    section.table(
        ["slowest", "covers", "words", "compounds", "states", "ms"],
        [
            [b.date, f"{b.count or 0:,}", b.words, b.compounds, f"{b.states:,}", _ms(b.all_s)]
            for b in worst
        ],
    )
    finish(section, to_results=options.write)


def _row(step: str, seconds: list[float]) -> list[str]:
    ordered = sorted(seconds)
    at = [ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in (0.5, 0.9, 0.99)]
    return [step, *map(_ms, at), _ms(ordered[-1]), f"{sum(ordered):,.1f}"]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f}"


if __name__ == "__main__":
    main()
