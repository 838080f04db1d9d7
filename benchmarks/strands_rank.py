"""Rank the boards that no weight was fitted on: which place the official cover takes, how surely.

python -m benchmarks.strands_rank [--boards N] [--write]
python -m benchmarks.strands_rank --without

The last 150 boards by date. First, in five, in list: the place of the cover with the official set
of words; one that is not in the list counts as wrong. Intervals are bootstraps over boards. With
--without one signal is removed at a time; the weights of the others stay as they are.
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.strands_fit.data import dates, judged_weights
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.ranker import (
    LISTED,
    RankedCover,
    Ranker,
    open_meanings,
    take_one_thread,
)
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import JUDGED, Weights
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.results.gold.rank_accuracy import bins
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary
from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms

NEVER = -100.0
"""The weight of words that are not to be used."""
DRAWS = 5000
"""Bootstrap draws."""
PLACES = (1, 5, 10, LISTED)
LEAST = 1e-12
"""The least probability that a log loss takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A board ranked in one way."""

    place: int
    """Of the official cover, from 1 on; above LISTED if it is not listed."""
    confidence: float | None
    """What is said of the first cover; None if there is none, or nothing is said."""
    seconds: float
    """Of the processor."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default=JUDGED)
    parser.add_argument("--boards", type=int, help="only the first boards of these")
    parser.add_argument("--without", action="store_true", help="remove one signal at a time")
    add_write(parser)
    options = parser.parse_args()
    vocabulary, weights = ranking_vocabulary(), judged_weights(options.name)
    take_one_thread()
    meanings = open_meanings(vocabulary)
    rankers = {"everything": Ranker(weights, vocabulary, meanings)}
    if options.without:
        rankers |= rankers_without(weights, vocabulary, meanings)
    else:
        rankers["without the extra `rank` (`-alone`)"] = Ranker(weights, vocabulary, None)
    boards = [published_in(path) for path in dates()[1][: options.boards]]
    found = {name: [ranked(ranker, board) for board in boards] for name, ranker in rankers.items()}
    if not options.without:
        found["frequency alone: the default score of `best(k)`"] = list(map(by_frequency, boards))
    section = section_of(found, command_line("strands_rank"))
    at = weights.provenance
    section.say(
        f"Weights {weights.name}, fitted on {at['boards']} boards from {at['from']} to {at['to']}; "
        "nothing was fitted on these boards."
    )
    finish(section, to_results=options.write)


class Unwidened(Ranker):
    """A ranker that searches no strips where the first cover is doubtful."""

    def ranked(
        self, puzzle: Puzzle, clue: str | None = None, k: int = LISTED,
        budget: Budget | None = None,
    ) -> tuple[RankedBoard, tuple[RankedCover, ...]]:  # fmt: skip
        """Rank the covers of a board as it is first searched."""
        board = self.board(puzzle, clue, budget)
        return board, self.rank_pieces(board, clue, k, budget)


def rankers_without(
    weights: Weights, vocabulary: Vocabulary, meanings: Meanings
) -> dict[str, Ranker]:
    """Make rankers that lack one signal each."""
    terms = {**weights.search.weights(), "spelling": NEVER, "spangram_spelling": NEVER}
    listed = replace(weights, search=WeighedTerms("without", terms))
    unread = replace(weights, theme=np.array([1.0, *np.zeros(len(weights.theme) - 1)]))
    return {
        "without words of lists for spelling": Ranker(listed, vocabulary, meanings),
        "without strips on doubtful boards": Unwidened(weights, vocabulary, meanings),
        "without the language model": Ranker(unread, vocabulary, meanings),
    }


def published_in(file: Path) -> Published:
    """Read the board of a payload with its official solution, which only judges."""
    (published,) = read_payload(file.read_bytes(), dt.date.fromisoformat(file.stem))
    assert isinstance(published, Published)
    return published


def ranked(ranker: Ranker, board: Published) -> Ranked:
    """Rank a board by its clue; one that takes more than its budget has no covers."""
    started = time.process_time()
    try:
        covers = ranker.rank(board.puzzle, board.clue)
    except BudgetSpentError:
        covers = ()
    return Ranked(
        place=_place(board, [cover.words for cover in covers]),
        confidence=covers[0].confidence if covers else None,
        seconds=time.process_time() - started,
    )


def by_frequency(board: Published) -> Ranked:
    """Take the best covers of the search that knows no clue, under its words and compounds."""
    started = time.process_time()
    outcome = bind_game("strands").solve(board.puzzle, Ask(kind="best", limit=LISTED))
    words = [frozenset(entry.word for entry in cover.entries) for cover in outcome.solutions or ()]
    seconds = time.process_time() - started
    return Ranked(place=_place(board, words), confidence=None, seconds=seconds)


def _place(board: Published, covers: Sequence[frozenset[str]]) -> int:
    assert board.solution is not None
    official = frozenset(entry.word for entry in board.solution.entries)
    return covers.index(official) + 1 if official in covers else LISTED + 1


def section_of(found: dict[str, list[Ranked]], command: str) -> Section:
    """Write places, confidences and seconds of each way of ranking."""
    boards = len(next(iter(found.values())))
    title = f"Which cover was meant: the last {boards} Strands boards by date"
    section = Section(name="strands-rank", title=title, command=command)
    section.table(
        ("ranked by", "first", "in 5", "in 10", "in list", "first, 95 %", "median s", "worst s"),
        [_row(name, rows) for name, rows in found.items()],
    )
    for name, rows in found.items():
        sure = [row for row in rows if row.confidence is not None]
        if sure:
            section.say(f"How sure, and how often right, by {name}: {losses(sure)}")
            section.table(
                ("confidence of the first", "boards", "said, mean", "right"),
                [
                    (f"{one.low:.2f} to {one.high:.2f}", one.boards,
                     f"{one.said:.1%}", f"{one.right:.1%}")
                    for one in bins(*_forecasts(sure))
                ],
            )  # fmt: skip
    return section


def _row(name: str, rows: Sequence[Ranked]) -> list[object]:
    places = np.array([row.place for row in rows])
    seconds = [row.seconds for row in rows]
    rng = np.random.default_rng(0)
    draws = (places == 1)[rng.integers(0, len(places), (DRAWS, len(places)))].mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    shares = (f"{(places <= k).mean():.1%}" for k in PLACES)
    took = (f"{np.median(seconds):.2f}", f"{max(seconds):.2f}")
    return [name, *shares, f"{low:.1%} - {high:.1%}", *took]


def _forecasts(rows: Sequence[Ranked]) -> tuple[list[float], list[bool]]:
    return [row.confidence or 0.0 for row in rows], [row.place == 1 for row in rows]


def losses(rows: Sequence[Ranked]) -> str:
    """Describe how good confidences are as forecasts; the calibration error is of the bins."""
    said, right = _forecasts(rows)
    shares, hits = np.array(said), np.array(right)
    told = np.clip(np.where(hits, shares, 1 - shares), LEAST, 1.0)
    error = sum(one.boards * abs(one.said - one.right) for one in bins(said, right)) / len(rows)
    return (
        f"log loss {-np.log(told).mean():.3f} nats, Brier score "
        f"{((shares - hits) ** 2).mean():.3f}, expected calibration error {error:.1%}."
    )


if __name__ == "__main__":
    main()
