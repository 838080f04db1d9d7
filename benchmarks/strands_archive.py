"""Count every board of the archive on one core: times, official solutions, ranks.

python -m benchmarks.strands_archive --words ../shared/words/enable1.txt
python -m benchmarks.strands_archive --every 20 --best 10
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

from archive.lexicons import default_lexicon, lexicon_from_file
from solvers.algebra import Ask, Budget
from solvers.strands.game import StrandsGame
from solvers.strands.puzzle import Puzzle
from solvers.strands.rules import Rules

ARCHIVE = os.environ.get("NIGHTGRID_ARCHIVE", "../shared/puzzles")


def main() -> None:
    """Print one line of figures for the boards taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", help="word list; default: the default lexicon with compounds")
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument("--best", type=int, default=0, help="also ask for the best k")
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of one ask")
    options = parser.parse_args()
    lexicon = lexicon_from_file(options.words) if options.words else default_lexicon()
    rules = Rules(spangram="off", words="any") if options.words else Rules()
    budget = Budget(seconds=options.seconds)
    StrandsGame(rules, lexicon).warm()
    times, first, among, over = [], 0, 0, 0
    files = sorted((Path(ARCHIVE) / "strands").glob("*.json"))[:: options.every]
    for path in files:
        payload = json.loads(path.read_text())
        puzzle = Puzzle(
            board=tuple(payload["startingBoard"]), theme_words=len(payload["themeWords"])
        )
        game = StrandsGame(rules, lexicon)
        start = time.perf_counter()
        outcome = game.solve(puzzle, Ask(kind="count"), None, budget)
        over += outcome.count is None
        if options.best:
            best = game.solve(puzzle, Ask(kind="best", limit=options.best), None, budget)
        times.append(time.perf_counter() - start)
        if options.best:
            official = {*payload["themeWords"], payload["spangram"]}
            ranks = [
                i for i, c in enumerate(best.solutions) if {e.word for e in c.entries} == official
            ]
            first += ranks[:1] == [0]
            among += bool(ranks)
    times.sort()
    print(
        f"{len(files)} boards: median {statistics.median(times) * 1e3:.1f} ms, "
        f"90 % {times[int(0.9 * len(times))] * 1e3:.0f} ms, worst {times[-1] * 1e3:.0f} ms, "
        f"total {sum(times):.1f} s, over budget {over}"
        + (f", official first {first}, among best {among}" if options.best else "")
    )


if __name__ == "__main__":
    main()
