"""Play the boards that no weight was fitted on: wrong guesses and hints, under several strategies.

nice -n 5 python -m benchmarks.strands_play

The last 150 boards by date. Every strategy proposes words and hears what each is; it ends with the
last word of the board. A board that a strategy cannot end counts as unsolved, with the wrong
guesses that it made until then. A hint shows the cells of the first theme word that is not found;
three wrong guesses earn one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.strands_fit.data import Board, boards, dates, judged_weights, say, state_of
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.playing.conditioned import NOTHING_HEARD, ranked_under
from nightgrid.archive.games.strands.playing.play import (
    Answer,
    Known,
    Play,
    Played,
    Possible,
    play_board,
    play_in_order,
)
from nightgrid.archive.games.strands.ranking.ranker import Ranker, open_meanings
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import JUDGED
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.kernel.cache_folder import cache_base
from nightgrid.solvers.reasons import BudgetSpentError

HINTS = "the posterior, searched again, with hints"
SEARCHED = "the posterior, searched again"
LISTED = "the posterior over the first list"
IN_ORDER = "cover after cover, without conditioning"
FREQUENT = "listed words by their frequency"
ALL_FREQUENT = "all words on the board by their frequency"
Cells = dict[str, frozenset[int]]
PLAYED_VERSION = "2"
"""Raised whenever the strategies here change; what they play by names itself (`state_of`)."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default=JUDGED, help="fitted weights")
    parser.add_argument("--boards", type=int, help="only the first boards of these")
    add_write(parser)
    options = parser.parse_args()
    vocabulary = ranking_vocabulary()
    ranker = Ranker(judged_weights(options.name), vocabulary, open_meanings(vocabulary))
    files = dates()[1][: options.boards]
    played = _all_played(ranker, files)
    finish(_section(played, ranker), to_results=options.write)


def _all_played(ranker: Ranker, files: Sequence[Path]) -> list[dict[str, Played]]:
    """Play boards, of which those that were played before in the same state are on disk."""
    folder = cache_base() / "strands-fit" / f"played-{PLAYED_VERSION}-{state_of(ranker)}"
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for count, board in enumerate(boards(files, ranker.vocabulary), 1):
        path = folder / f"{board.date}.pickle"
        if path.exists():
            results.append(pickle.loads(path.read_bytes()))
        else:
            (file,) = (file for file in files if file.stem == board.date)
            results.append(_played(ranker, board, _cells(file)))
            path.write_bytes(pickle.dumps(results[-1], 5))
        if count % 25 == 0:
            say(f"{count} of {len(files)} boards")
    return results


def _cells(file: Path) -> Cells:
    """Tell where the official words lie; empty where a payload does not say of all."""
    (published,) = read_payload(file.read_bytes(), dt.date.fromisoformat(file.stem))
    assert isinstance(published, Published)
    width = published.puzzle.column_count
    return {
        entry.word: frozenset(r * width + c for r, c in entry.path)
        for entry in published.solution.entries
        if entry.path
    }


def _played(ranker: Ranker, board: Board, cells: Cells) -> dict[str, Played]:
    told = ranker.widened(ranker.told(board.ranked, board.clue), board.clue)
    vocabulary = ranker.vocabulary

    def search(known: Known) -> list[Possible]:
        try:
            return ranked_under(ranker, told, board.clue, known)
        except BudgetSpentError:
            return []

    covers = search(NOTHING_HEARD)
    themes = sorted(board.official - {board.spangram})
    truth: dict[str, Answer] = dict.fromkeys(themes, "theme word")
    truth[board.spangram] = "spangram"
    zipf = vocabulary.zipf
    found = vocabulary.lexicon.find

    def by_frequency(words: set[str]) -> list[str]:
        return sorted(words, key=lambda w: (-float(zipf[found(w)]) if found(w) >= 0 else 0.0, w))

    listed = [word for cover in covers for word in (cover.spangram, *sorted(cover.theme_words))]
    on_board = {vocabulary.lexicon.word(int(i)) for i in np.unique(told.found.words.word)}
    return {
        HINTS: play_board(Play(covers, search), truth, cells),
        SEARCHED: play_board(Play(covers, search), truth, cells, with_hints=False),
        LISTED: play_board(Play(covers), truth, cells, with_hints=False),
        IN_ORDER: _fixed(list(dict.fromkeys(listed)), truth),
        FREQUENT: _fixed(by_frequency(set(listed)), truth),
        ALL_FREQUENT: _fixed(by_frequency(on_board | set(listed)), truth),
    }


def _fixed(words: Sequence[str], truth: dict[str, Answer]) -> Played:
    wrong, solved = play_in_order(words, truth)
    return Played(wrong=wrong, hints=0, solved=solved)


def _section(played: list[dict[str, Played]], ranker: Ranker) -> Section:
    section = Section(
        name="strands-play",
        title=f"Strands played: the last {len(played)} boards by date",
        command=command_line("strands_play"),
    )
    rows: list[list[object]] = []
    for name in (HINTS, SEARCHED, LISTED, IN_ORDER, FREQUENT, ALL_FREQUENT):
        own = [board[name] for board in played]
        rows.append(
            [
                name,
                f"{np.mean([one.wrong for one in own]):.2f}",
                f"{np.median([one.wrong for one in own]):.0f}",
                f"{np.mean([one.hints for one in own]):.2f}",
                f"{np.mean([one.solved and not one.wrong for one in own]):.1%}",
                f"{np.mean([one.solved for one in own]):.1%}",
            ]
        )
    section.table(
        ["guesses", "wrong a board", "median", "hints a board", "without a wrong one", "solved"],
        rows,
    )
    section.say(
        f"Weights {ranker.weights.name}; none of these boards was fitted on. A board that is not "
        "solved counts with the wrong guesses until its strategy had nothing left to propose."
    )
    return section


if __name__ == "__main__":
    main()
