"""The board of article 003, exactly and by the article's greedy search, with two word lists.

    python -m benchmarks.letterboxed_article --write

The word lists (ENABLE, and wfindr's, which the article uses) lie beside the published payloads.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from archive.lexicons import lexicon_from_file
from benchmarks.report import Section, finish
from solvers.algebra import Ask, Budget
from solvers.letterboxed.disjoint import disjoint_chains
from solvers.letterboxed.game import LetterBoxedGame
from solvers.letterboxed.greedy import greedy_chains
from solvers.letterboxed.puzzle import Puzzle
from solvers.letterboxed.rules import Chains, Rules

WORDS = Path(os.environ.get("NIGHTGRID_ARCHIVE", "../shared/puzzles")).parent / "words"
LISTS = (("ENABLE", "enable1.txt", 3), ("wfindr", "wfindr_words.eng.txt", 1))
"""Name, file, fewest letters of a word: the article's program has no rule about it."""
SQUARE = Puzzle(sides=("TAP", "ERD", "NIL", "YCO"))
REPEATS = 3

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, str]:
    """Do something a few times; return what it gave and the least CPU milliseconds."""
    least = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        result = work()
        least = min(least, time.process_time() - began)
    return result, f"{least * 1e3:,.2f}"


def main() -> None:
    """Measure both lists and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/RESULTS.md")
    options = parser.parse_args()
    if not WORDS.is_dir():
        sys.exit(f"no word lists at {WORDS}; set NIGHTGRID_ARCHIVE")
    section = Section(
        name="letterboxed-article",
        title="The board of article 003: taperdnilyco",
        command="python -m benchmarks.letterboxed_article",
    )
    rows: list[list[str]] = []
    for name, file, min_letters in LISTS:
        rows += measure(section, name, file, min_letters)
    section.table(["what", "result", "ms"], rows)
    section.say(
        "CPU time, least of a few repeats, after the words are filtered. A chain ends when every "
        "letter is collected, so chains of three words are those that two do not complete. The "
        "greedy search is the article's: one chain from each word, at most six words, words that "
        "tiles can lay."
    )
    finish(section, to_results=options.write)


def measure(section: Section, name: str, file: str, min_letters: int) -> list[list[str]]:
    """Measure one word list; return its rows."""
    lexicon = lexicon_from_file(str(WORDS / file))

    def game_of(chains: Chains) -> LetterBoxedGame:
        game = LetterBoxedGame(Rules(chains=chains, min_letters=min_letters), lexicon)
        game.model(SQUARE)
        return game

    game_of(2).warm()
    model, ms = timed(
        lambda: LetterBoxedGame(Rules(min_letters=min_letters), lexicon).model(SQUARE)
    )
    rows = [[f"{name}: {len(lexicon):,} words filtered", f"{len(model):,} playable", ms]]
    before = 0
    for words in (2, 3, 4, 5):
        game = game_of(words)
        count, ms = timed(lambda game=game: game.solve(SQUARE, Ask(kind="count")).count or 0)
        rows.append([f"{name}: chains of {words} words counted", f"{count - before:,}", ms])
        before = count
    letters, ms = timed(lambda: game_of("fewest-letters").solve(SQUARE, Ask(kind="count")))
    rows.append([f"{name}: fewest letters", f"{letters.value} in {letters.count:,} chains", ms])
    exact = game_of(3).solve(SQUARE, Ask(kind="all")).solutions
    pairs = [chain for chain in exact if len(chain.words) == 2]
    disjoint, ms = timed(lambda: disjoint_chains(pairs))
    rows.append([f"{name}: two-word chains without a shared word", str(len(disjoint.chains)), ms])
    if name == LISTS[0][0]:
        triples = disjoint_chains(exact, Budget(seconds=2))
        result = f"{len(triples.chains)} to {triples.bound}"
        rows.append([f"{name}: chains of up to 3 words without a shared word", result, ""])
    greedy, ms = timed(lambda: greedy_chains(model))
    rows.append([f"{name}: greedy search", f"{len(greedy):,} chains", ms])
    spelled = {tuple(model.words[word] for word in chain) for chain in greedy}
    sizes = Counter(map(len, greedy))
    found = {chain.words for chain in pairs}
    by_length = ", ".join(f"{n} of {size} words" for size, n in sorted(sizes.items()))
    known = " `placitory yealdon` is among the two-word chains, and the greedy search finds it."
    section.say(
        f"{name}: of {len(found)} chains of two words the greedy search finds "
        f"{len(found & spelled)}; it finds {by_length}."
        + (known if ("PLACITORY", "YEALDON") in found & spelled else "")
    )
    return rows


if __name__ == "__main__":
    main()
