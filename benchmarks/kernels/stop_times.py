"""Measure how long searches of Letter Boxed and Tiles go on after they were told to stop.

python -m benchmarks.kernels.stop_times [--times N]
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Callable

from nightgrid.solvers.algebra import Ask, Budget, Outcome
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle as LetterBoxed
from nightgrid.solvers.letterboxed.rules import Rules as LetterBoxedRules
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form, generate
from nightgrid.solvers.tiles.rules import Rules as TilesRules

SECONDS_MAX = 60.0
"""A search that is not told in time ends by itself."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Search = Callable[[Budget], Outcome[object]]


def letterboxed(letters: int, words: int, size: int, ask: str, chains: str) -> Search:
    """Make a search of a board of distinct letters with words at random."""
    draw = random.Random(7)
    sides = tuple(LETTERS[at:letters:4] for at in range(4))
    side_of = {letter: side for side, text in enumerate(sides) for letter in text}
    made: set[str] = set()
    while len(made) < words:
        word = draw.choice(LETTERS[:letters])
        while len(word) < size:
            follows = draw.choice(LETTERS[:letters])
            word += follows if side_of[follows] != side_of[word[-1]] else ""
        made.add(word)
    board = LetterBoxed(sides=sides, dictionary=tuple(sorted(made)))
    game = LetterBoxedGame(LetterBoxedRules.parse(f"min_letters=1 chains={chains}"), None)
    return lambda budget: game.solve(board, Ask.parse(ask), None, budget)


def tiles(count: int, layers: int, shapes: int, ask: str, teleports: str) -> Search:
    """Make a search of a board at random."""
    form = Form(tiles=count, layers=layers, shapes_min=shapes, shapes_max=shapes)
    board = generate(form, 1)
    game = TilesGame(TilesRules(teleports=teleports))  # type: ignore[arg-type]
    return lambda budget: game.solve(board, Ask.parse(ask), None, budget)


BOARDS: dict[str, Callable[[], Search]] = {
    "letterboxed, 14 letters, 200,000 words, count 9": lambda: letterboxed(
        14, 200_000, 6, "count", "9"
    ),
    "letterboxed, 14 letters, 1,000,000 words, count 9": lambda: letterboxed(
        14, 1_000_000, 6, "count", "9"
    ),
    "letterboxed, 14 letters, 200,000 words, all 9": lambda: letterboxed(
        14, 200_000, 6, "all", "9"
    ),
    "letterboxed, 40 letters, 200,000 words, count 12": lambda: letterboxed(
        40, 200_000, 6, "count", "12"
    ),
    "tiles, 512 tiles, 3 layers of 12, best(1)": lambda: tiles(512, 3, 12, "best(1)", "yes"),
    "tiles, 512 tiles, 8 layers of 128, best(1)": lambda: tiles(512, 8, 128, "best(1)", "yes"),
    "tiles, 512 tiles, 26 layers of 157, best(1)": lambda: tiles(512, 26, 157, "best(1)", "yes"),
    "tiles, 512 tiles, 8 layers of 128, first": lambda: tiles(512, 8, 128, "first", "no"),
}


def measured(search: Search, after_s: float) -> tuple[float, bool]:
    """Give the seconds from the flag to the end, and whether the search ended by the flag."""
    stop, set_at = Stop(), [0.0]

    def tell() -> None:
        set_at[0] = time.monotonic()
        stop.set(ReasonCode.CANCELLED)

    timer = threading.Timer(after_s, tell)
    timer.start()
    outcome = search(Budget(seconds=SECONDS_MAX, stop=stop))
    ended_at = time.monotonic()
    timer.cancel()
    timer.join()
    return ended_at - set_at[0], outcome.reason_code is ReasonCode.CANCELLED


def main() -> None:
    """Print a table: the longest time of each board, over flags set at different times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=4, help="Flags for each board.")
    times = parser.parse_args().times
    print("| search | flags | stopped | longest, s |\n|---|---|---|---|")
    for name, make in BOARDS.items():
        search, warm = make(), Stop()
        # Kernels are compiled or loaded before anything is measured.
        warm.set(ReasonCode.CANCELLED)
        search(Budget(stop=warm))
        found = [measured(search, 0.3 * (i + 1)) for i in range(times)]
        stopped = [seconds for seconds, is_stopped in found if is_stopped]
        longest = f"{max(stopped):.3f}" if stopped else "ended before"
        print(f"| {name} | {times} | {len(stopped)} | {longest} |", flush=True)


if __name__ == "__main__":
    main()
