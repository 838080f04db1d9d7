"""How the general search of Letter Boxed grows, against the bound of article 000, Theorem 7.

    python -m benchmarks.letterboxed_growth --write

Boards are dealt at random from a small alphabet, so that letters stand several times and on several
sides, with random words as a dictionary. The theorem's graph has a vertex for every place in every
word, every side, and every way to leave some of each letter of each side.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter

from benchmarks.report import Section, finish
from solvers.algebra import Ask, Budget, Status
from solvers.letterboxed.game import LetterBoxedGame
from solvers.letterboxed.model import model_of
from solvers.letterboxed.puzzle import Puzzle
from solvers.letterboxed.rules import Rules
from solvers.letterboxed.search import Search
from solvers.reasons import BudgetSpentError

SIDES = (3, 4, 6, 8)
LETTERS = (8, 12, 16, 20)
ALPHABET = "ABCDEFGH"
DICTIONARY_WORDS = 60
WORD_LETTERS = (3, 6)
BOUNDLESS = 1_000_000
BUDGET = Budget(seconds=4, table_bytes=2**30)


def board_of(sides: int, letters: int, seed: int) -> Puzzle:
    """Deal letters and words."""
    rnd = random.Random(seed * 1_000_003 + sides * 101 + letters)
    text = "".join(rnd.choice(ALPHABET) for _ in range(letters))
    words = {
        "".join(rnd.choice(ALPHABET) for _ in range(rnd.randint(*WORD_LETTERS)))
        for _ in range(DICTIONARY_WORDS)
    }
    return Puzzle(sides=tuple(text[i::sides] for i in range(sides)), dictionary=tuple(words))


def vertices(puzzle: Puzzle) -> int:
    """Count the vertices of the theorem's graph."""
    places = sum(map(len, puzzle.dictionary or ()))
    left = math.prod(n + 1 for side in puzzle.sides for n in Counter(side).values())
    return places * len(puzzle.sides) * left


def main() -> None:
    """Measure boards of growing size and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    section = Section(
        name="letterboxed-growth",
        title="Growth of the general search of Letter Boxed against Theorem 7",
        command="python -m benchmarks.letterboxed_growth",
    )
    LetterBoxedGame(Rules(), None).warm()
    rows = [measure(sides, letters) for sides in SIDES for letters in LETTERS]
    section.table(
        [
            "sides, letters",
            "vertices of Theorem 7",
            "all states",
            "steps",
            "s",
            "fewest words",
            "states",
            "s",
            "fewest letters",
            "states",
            "s",
        ],
        rows,
    )
    section.say(
        f"Alphabet of {len(ALPHABET)} letters, {DICTIONARY_WORDS} words of {WORD_LETTERS[0]} to "
        f"{WORD_LETTERS[1]} letters, the first seed whose board can be solved. `All states`: every "
        "set of ways of playing that any chain leads to, as counting needs them; a step plays one "
        "letter in one way. The fewest words and letters are found with every way of playing a "
        "state of its own, as in the theorem, by looking at those only that can be part of such a "
        "chain. `>`: the budget of "
        f"{BUDGET.seconds:.0f} s or {BUDGET.table_bytes >> 30} GiB ended the search."
    )
    finish(section, to_results=options.write)


def measure(sides: int, letters: int) -> list[str]:
    """Measure the first board of its size that can be solved."""
    words = LetterBoxedGame(Rules(), None)
    fewest = LetterBoxedGame(Rules(chains="fewest-letters"), None)
    for seed in range(100):
        puzzle = board_of(sides, letters, seed)
        began = time.process_time()
        shortest = words.solve(puzzle, Ask(kind="first"), None, BUDGET)
        took = time.process_time() - began
        if shortest.status is not Status.UNSOLVABLE:
            break
    began = time.process_time()
    least = fewest.solve(puzzle, Ask(kind="first"), None, BUDGET)
    least_took = time.process_time() - began
    search = Search(model_of(puzzle, Rules(), None), BUDGET)
    began = time.process_time()
    more = ""
    try:
        search.explore(search.start, range(len(search.model)), BOUNDLESS)
    except BudgetSpentError:
        more = "> "
    all_took = time.process_time() - began
    said = search.statistics
    return [
        f"{sides}, {letters}",
        f"{vertices(puzzle):.2g}",
        f"{more}{said.states:,}",
        f"{said.nodes:,}",
        f"{all_took:.3f}",
        str(shortest.value or "over budget"),
        f"{shortest.statistics.states:,}",
        f"{took:.3f}",
        str(least.value or "over budget"),
        f"{least.statistics.states:,}",
        f"{least_took:.3f}",
    ]


if __name__ == "__main__":
    main()
