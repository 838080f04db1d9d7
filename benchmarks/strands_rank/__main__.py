"""Rank the boards that no weight was fitted on: which place the official cover takes, and why.

python -m benchmarks.strands_rank [--boards N] [--write]

The last 150 boards by date. First, in five, in list: the place of the cover with the official set
of words; one that is not in the list counts as wrong. Every signal of whole covers is taken out in
turn and the others are fitted again on the early boards; signals of the search are taken out of the
score of the listed covers. Baselines, and what is said to be searched again, find covers of their
own. Intervals are bootstraps over boards.

What was ranked is kept on disk, by everything that it depends on. The first time the early boards
are listed, too, which takes about 20 minutes on one core.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.instruments.processes import peak_bytes
from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.strands_fit.data import dates, judged_weights, state_of
from benchmarks.strands_rank import tables
from benchmarks.strands_rank.early import Early, early_boards, without_minilm
from benchmarks.strands_rank.tried import FREQUENCY, Tried, published_in, try_boards
from nightgrid.archive.games.strands.ranking.ranker import (
    LISTED,
    Ranker,
    default_ranker,
    open_meanings,
    take_one_thread,
)
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import JUDGED, Weights
from nightgrid.workers.freed_memory import map_large

PEAK_BOARDS = 15
"""Boards that are ranked in one process to see what memory it takes."""
NO_GEOMETRY = "without path geometry, searched again"
NO_MINILM = "without MiniLM as a whole, searched again"
ALONE = "without the extra `rank` (`-alone`), searched again"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default=JUDGED)
    parser.add_argument("--boards", type=int, help="only the first boards of these")
    parser.add_argument("--peak", action="store_true", help="print the memory of a process alone")
    add_write(parser)
    options = parser.parse_args()
    files = dates()[1][: options.boards]
    if options.peak:
        print(_peak(files[:: max(1, len(files) // PEAK_BOARDS)]))
        return
    vocabulary = ranking_vocabulary()
    ranker = Ranker(judged_weights(options.name), vocabulary, open_meanings(vocabulary))
    assert ranker.meanings is not None
    take_one_thread()
    state = state_of(ranker)
    early = early_boards(ranker.weights, ranker.meanings, state)
    tried = try_boards(ranker, _others(ranker, early), files, state)
    finish(_section(tried, ranker, early), to_results=options.write)


def _ridge(weights: Weights) -> float:
    return float(weights.provenance["cross_validation"]["covers"]["ridge"])


def _others(ranker: Ranker, early: Early) -> dict[str, Ranker]:
    """Make the rankers that search for themselves."""
    weights, vocabulary, meanings = ranker.weights, ranker.vocabulary, ranker.meanings
    flat = replace(weights, search=weights.search.without(tables.terms_of("path geometry")))
    lean = without_minilm(weights, early, _ridge(weights))
    return {
        NO_GEOMETRY: Ranker(flat, vocabulary, meanings),
        NO_MINILM: Ranker(lean, vocabulary, meanings),
        ALONE: Ranker(weights, vocabulary, None),
    }


def _peak(files: list[Path]) -> int:
    """Rank boards in this process and tell the most memory that it has taken, in MB.

    It gives memory back as a worker that ranks does.
    """
    map_large()
    ranker = default_ranker()
    for path in files:
        published = published_in(path)
        ranker.rank(published.puzzle, published.clue)
    return peak_bytes(os.getpid()) // 1_000_000


def _section(tried: list[Tried], ranker: Ranker, early: Early) -> Section:
    section = Section(
        name="strands-rank",
        title=f"Which cover was meant: the last {len(tried)} Strands boards by date",
        command=command_line("strands_rank"),
    )
    weights = ranker.weights
    scores = tables.scores_of(tried, weights)
    rows = tables.places(tried, weights, early, _ridge(weights))
    section.table(tables.PLACES_HEAD, rows)
    section.say(_about(weights))
    section.say("How sure, and how often right:")
    _calibrate(section, *tables.confidences(tried, scores))
    section.say(f"The same {ALONE}:")
    _calibrate(section, *tables.confidences_anew(tried, ALONE))
    section.say("The boards whose first cover is another one:")
    section.table(["class", "boards"], tables.misses(tried, scores, ranking_vocabulary))
    section.say(
        "Played: words are proposed, and the game says what each is. A board whose cover is not "
        "in the list counts as unsolved:"
    )
    section.table(
        ["guesses", "wrong a board", "without a wrong one", "solved"],
        tables.played(tried, scores),
    )
    seconds = np.array([one.seconds for one in tried])
    section.say(
        f"Processor time a board, everything with vectors on disk: median "
        f"{np.median(seconds):.2f} s, nine in ten within {np.quantile(seconds, 0.9):.2f} s, "
        f"worst {seconds.max():.2f} s. A process that ranks {PEAK_BOARDS} of them and gives memory "
        f"back as a worker does takes at most {_measured_peak()} MB."
    )
    return section


def _calibrate(section: Section, said: list[float], right: list[bool]) -> None:
    section.table(tables.SURE_HEAD, tables.how_sure(said, right))
    section.say(tables.losses_sentence(said, right))


def _about(weights: Weights) -> str:
    provenance = weights.provenance
    return (
        f"Weights {weights.name}, fitted on {provenance['boards']} boards from "
        f"{provenance['from']} to {provenance['to']}. Rows without a signal rescore the covers "
        f"that everything lists, so their share in the list stays; those that are searched again "
        f"list {LISTED} covers of their own. {NO_GEOMETRY[0].upper()}{NO_GEOMETRY[1:]}: these "
        "weights of the search are 0 and all others stay. Without MiniLM, the language model "
        "still reads; the search has the weights that were fitted without it, and the weights of "
        "covers are fitted again. "
        f"{FREQUENCY[0].upper()}{FREQUENCY[1:]} has words, "
        "compounds and phrases of step 2. Nothing was fitted on these boards. That a board with "
        "few covers takes more compounds was seen on them, though, and before it 97.3% were in the "
        "list, 96.7% in five and 91.3% first (docs/adr/0040)."
    )


def _measured_peak() -> int:
    command = [sys.executable, "-m", "benchmarks.strands_rank", "--peak"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
