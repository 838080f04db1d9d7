"""Rank the boards that no weight was fitted on: which place the official cover takes, and why.

python -m benchmarks.strands_rank

The last 150 boards by date. First, in five, in list: the place of the cover with the official set
of words; one that is not in the list counts as wrong. Every signal of whole covers is taken out in
turn and the others are fitted again on the early boards; signals of the search are taken out of the
score of the listed covers. Intervals are bootstraps over boards.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from wordfreq import zipf_frequency

from benchmarks.instruments.processes import peak_bytes
from benchmarks.instruments.report import Section, add_write, command_line, finish
from benchmarks.strands_fit.data import Board, boards, dates, judged_weights, kept_choices, say
from benchmarks.strands_fit.learn import Choice, learn
from benchmarks.strands_fit.lists import NAMES, sums_of
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.playing.play import Answer, Possible, play_in_order, play_out
from nightgrid.archive.games.strands.ranking.features import (
    FEATURES,
    GROUPS,
    cover_features,
    texts_of,
)
from nightgrid.archive.games.strands.ranking.ranker import (
    LISTED,
    Ranker,
    default_ranker,
    open_meanings,
    take_one_thread,
)
from nightgrid.archive.games.strands.ranking.themes import SIGNAL, theme_features
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import JUDGED
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.kernel.cache_folder import cache_base
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.compounds import reading
from nightgrid.solvers.strands.ranking.covers import components_of
from nightgrid.solvers.strands.ranking.search import Scored
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary
from nightgrid.solvers.strands.score import COMMON_CENTIZIPF, COMMON_DIVISOR

TRIED_VERSION = "2"
"""Raised whenever boards would have other lists or features."""
DRAWS = 5000
"""Bootstrap draws."""
PEAK_BOARDS = 15
"""Boards that are ranked in one process to see what memory it takes."""
PLACES = (1, 5, 10, LISTED)
CONFIDENCES = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
SIGNALS: dict[str, tuple[str, ...]] = {
    "frequency": ("zipf", "below_1.5", "below_3", "above_4", "above_5"),
    "length": ("letters_4", "letters_5", "letters_6", "letters_7", "beyond_7"),
    "inflection": ("ing", "ed", "s"),
    "path geometry": (
        "crosses_itself", "crosses_again", "diagonal", "turns", "edges", "sides",
    ),
    "clue in the search": ("clue",),
    "wordness": ("wordness",),
    "compound language model": ("compound_text",),
}  # fmt: skip
ROLE = "spangram_"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tried:
    """One board with its list, in the order of the search."""

    date: str
    official: frozenset[str]
    spangram: str
    words: list[frozenset[str]]
    spangrams: list[str]
    cells: list[frozenset[frozenset[int]]]
    features: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    themes: npt.NDArray[np.float64]
    """float64[covers, THEME]: of the covers that are read."""
    formulas: npt.NDArray[np.float64]
    """float64[covers, 2]: the default score, and the formula of 004."""
    why: str
    """Why the official cover cannot be in the list, "" where it could."""
    seconds: float

    @property
    def meant(self) -> list[int]:
        """Which covers are the official one."""
        return [i for i, words in enumerate(self.words) if words == self.official]

    def place(self, scores: npt.NDArray[np.float64]) -> int | None:
        """Find the official cover's place, from 1 on, when covers stand by scores."""
        order = np.argsort(-scores, kind="stable")
        places = np.flatnonzero(np.isin(order, self.meant))
        return int(places[0]) + 1 if len(places) else None


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default=JUDGED)
    parser.add_argument("--peak", action="store_true", help="print the memory of a process alone")
    add_write(parser)
    options = parser.parse_args()
    if options.peak:
        print(_peak(dates()[1][:: len(dates()[1]) // PEAK_BOARDS]))
        return
    weights = judged_weights(options.name)
    vocabulary = ranking_vocabulary()
    ranker = Ranker(weights, vocabulary, open_meanings(vocabulary))
    take_one_thread()
    tried = _tried(ranker, dates()[1])
    finish(_section(tried, ranker, options.name), to_results=options.write)


def _peak(files: list[Path]) -> int:
    """Rank boards in this process and tell the most memory that it has taken, in MB."""
    ranker = default_ranker()
    for path in files:
        (published,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        if isinstance(published, Published):
            ranker.rank(published.puzzle, published.clue)
    return peak_bytes(os.getpid()) // 1_000_000


def _tried(ranker: Ranker, files: list[Path]) -> list[Tried]:
    folder = cache_base() / "strands-fit" / f"tried-{TRIED_VERSION}-{ranker.weights.name}"
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for count, board in enumerate(boards(files, ranker.vocabulary), 1):
        path = folder / f"{board.date}.pickle"
        if path.exists():
            results.append(pickle.loads(path.read_bytes()))
        else:
            results.append(_try(ranker, board))
            path.write_bytes(pickle.dumps(results[-1], 5))
        if count % 25 == 0:
            say(f"{count} of {len(files)} boards")
    return results


def _try(ranker: Ranker, board: Board) -> Tried:
    assert ranker.meanings is not None
    started = time.process_time()
    told = ranker.told(board.ranked, board.clue)
    try:
        told = ranker.widened(told, board.clue)
        covers = ranker.listed(told)
    except BudgetSpentError:
        covers = []
    features = (
        cover_features(told, covers, board.clue, ranker.meanings, ranker.weights.learned)
        if covers
        else np.zeros((0, len(FEATURES)))
    )
    vocabulary = ranker.vocabulary
    texts = texts_of(told, covers, vocabulary)
    themes = theme_features(
        features @ ranker.weights.cover, texts.words, texts.spangrams, board.clue, ranker.meanings
    )
    seconds = board.seconds + time.process_time() - started
    return Tried(
        date=board.date, official=board.official, spangram=board.spangram,
        words=[replace(board, ranked=told).words(cover, vocabulary) for cover in covers],
        spangrams=[_spangram(told, cover, vocabulary) for cover in covers],
        cells=[_cells(told, cover) for cover in covers],
        features=features.astype(np.float64), sums=sums_of(told, covers),
        themes=themes, formulas=_formulas(told, covers, board.clue, ranker),
        why=_why(board, vocabulary), seconds=seconds,
    )  # fmt: skip


def _spangram(board: RankedBoard, cover: Scored, vocabulary: Vocabulary) -> str:
    return spell(cover.spangram, board.found, vocabulary.lexicon)


def _cells(board: RankedBoard, cover: Scored) -> frozenset[frozenset[int]]:
    found = board.found
    return frozenset(
        (found.words if kind == "word" else found.compounds).cells_on(row)
        for kind, row in cover.pieces
    )


def _why(board: Board, vocabulary: Vocabulary) -> str:
    """Say why the official cover cannot be found at all."""
    for word in sorted(board.official - {board.spangram}):
        if vocabulary.lexicon.find(word) < 0:
            return "a theme word is not in the vocabulary"
    if vocabulary.lexicon.find(board.spangram) < 0 and len(
        reading(vocabulary, board.spangram)[1]
    ) == 1:  # fmt: skip
        return "the spangram is not run together from words"
    return ""


def _formulas(
    board: RankedBoard, covers: list[Scored], clue: str | None, ranker: Ranker
) -> npt.NDArray[np.float64]:
    """Score covers by frequency alone, and by the formula of 004 without its language model."""
    vocabulary, meanings = ranker.vocabulary, ranker.meanings
    assert meanings is not None
    about = meanings.embed([(clue or "").lower()])[0]
    rows = np.zeros((len(covers), 2))
    for i, cover in enumerate(covers):
        words = [int(board.found.words.word[row]) for row in cover.theme]
        components = components_of(board, cover.spangram, vocabulary)
        parts = [vocabulary.lexicon.find(part) for part in components]
        texts = [meanings.text_of(word) for word in words]
        texts.append(" ".join(meanings.text_of(part) for part in parts if part >= 0))
        likeness = meanings.embed(texts) @ about
        zipf = [*(float(vocabulary.zipf[word]) for word in words),
                min((float(vocabulary.zipf[part]) for part in parts), default=0.0)]  # fmt: skip
        rows[i, 0] = sum(_frequency(word, vocabulary) for word in (*words, *parts))
        rows[i, 0] -= len(parts) - 1
        rows[i, 1] = float(np.mean(0.5 * likeness + 0.2 * np.array(zipf) / 8))
    return rows


def _frequency(word: int, vocabulary: Vocabulary) -> float:
    """Score a word as the default score does, in decades."""
    centizipf = 100 * float(vocabulary.zipf[word]) if word >= 0 else 0.0
    common = max(0.0, centizipf - COMMON_CENTIZIPF)
    return (centizipf - common + common / COMMON_DIVISOR) / 100 - 9


def _section(tried: list[Tried], ranker: Ranker, name: str) -> Section:
    section = Section(
        name="strands-rank",
        title=f"Which cover was meant: the last {len(tried)} Strands boards by date",
        command=command_line("strands_rank"),
    )
    weights = ranker.weights
    choices = kept_choices(name)
    ridge = float(weights.provenance["cross_validation"]["covers"]["ridge"])
    so_far = [one.features @ weights.cover for one in tried]
    read = [one.themes @ weights.theme[1:] for one in tried]
    whole = [weights.theme[0] * own + more for own, more in zip(so_far, read, strict=True)]
    rows = [_row("everything", tried, whole), _row(f"without {SIGNAL}", tried, so_far)]
    for group, names in GROUPS.items():
        refitted = _refitted(tried, choices, names, ridge)
        scores = [weights.theme[0] * own + more for own, more in zip(refitted, read, strict=True)]
        rows.append(_row(f"without {group}", tried, scores))
    for signal, terms in SIGNALS.items():
        taken = [n for n in NAMES if n.removeprefix(ROLE) in terms]
        rows.append(_row(f"without {signal}", tried, _less(tried, ranker, taken)))
    rows += [
        _row("the search's score alone", tried, [one.features[:, 0] for one in tried]),
        _row("without the model", tried, [one.sums @ _alone(ranker) for one in tried]),
        _row("frequencies alone, same covers", tried, [one.formulas[:, 0] for one in tried]),
        _row("004's formula, same covers", tried, [one.formulas[:, 1] for one in tried]),
    ]
    section.table(["ranked by", "first", "in 5", "in 10", "in list", "first, 95 %"], rows)
    provenance = weights.provenance
    section.say(
        f"Weights {weights.name}, fitted on {provenance['boards']} boards from "
        f"{provenance['from']} to {provenance['to']}. 004's formula is without its masked language "
        "model (0.5 similarity to the clue, 0.2 frequency). Frequencies alone are those of the "
        "default score without its phrases. Nothing was fitted on these boards. That a board with "
        "few covers takes more compounds was seen on them, though, and before it 97.3% were in the "
        "list, 96.7% in five and 91.3% first (docs/adr/0040)."
    )
    section.say("How sure, and how often right:")
    section.table(["confidence of the first", "boards", "right"], _calibration(tried, whole))
    section.say("The boards whose first cover is another one:")
    section.table(["class", "boards"], _classes(tried, whole))
    section.say(
        "Played: words are proposed, and the game says what each is. A board whose cover is not "
        "in the list counts as unsolved:"
    )
    section.table(
        ["guesses", "wrong a board", "without a wrong one", "solved"], _played(tried, whole)
    )
    seconds = np.array([one.seconds for one in tried])
    section.say(
        f"Processor time a board, everything with vectors on disk: median "
        f"{np.median(seconds):.2f} s, nine in ten within {np.quantile(seconds, 0.9):.2f} s, "
        f"worst {seconds.max():.2f} s. A process that ranks {PEAK_BOARDS} of them takes at most "
        f"{_measured_peak()} MB."
    )
    return section


def _measured_peak() -> int:
    command = [sys.executable, "-m", "benchmarks.strands_rank", "--peak"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _row(what: str, tried: list[Tried], scores: list[Any]) -> list[object]:
    pairs = zip(tried, scores, strict=True)
    places = np.array([one.place(own) or LISTED + 1 for one, own in pairs])
    rng = np.random.default_rng(0)
    draws = (places == 1)[rng.integers(0, len(places), (DRAWS, len(places)))].mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    shares = [f"{(places <= k).mean():.1%}" for k in PLACES]
    return [what, *shares, f"{low:.1%} - {high:.1%}"]


def _refitted(
    tried: list[Tried], choices: list[Choice], names: tuple[str, ...], ridge: float
) -> list[npt.NDArray[np.float64]]:
    keep = [i for i, feature in enumerate(FEATURES) if feature not in names]
    origin = np.array([float(FEATURES[i] == "additive") for i in keep])
    fewer = [Choice(features=one.features[:, keep], meant=one.meant) for one in choices]
    weights = learn(fewer, ridge, origin)
    return [one.features[:, keep] @ weights for one in tried]


def _less(tried: list[Tried], ranker: Ranker, taken: list[str]) -> list[npt.NDArray[np.float64]]:
    """Take terms out of the search's score of the listed covers."""
    known = ranker.weights.search.weights()
    lost = np.array([known[name] * (name in taken) for name in NAMES])
    cover, theme = ranker.weights.cover, ranker.weights.theme
    return [
        theme[0] * (one.features @ cover - cover[0] * (one.sums @ lost)) + one.themes @ theme[1:]
        for one in tried
    ]


def _played(tried: list[Tried], scores: list[Any]) -> list[list[object]]:
    """Play every board in three ways."""
    results: dict[str, list[tuple[int, bool]]] = {
        "the posterior, after each answer": [],
        "cover after cover, without conditioning": [],
        "words by their frequency": [],
    }
    after_each, in_order, by_frequency = results.values()
    for one, own in zip(tried, scores, strict=True):
        answers: list[tuple[str, Answer]] = [(word, "theme word") for word in one.official]
        truth: dict[str, Answer] = dict(answers) | {one.spangram: "spangram"}
        mass = np.exp(own - own.max()) if len(own) else own
        covers = [
            Possible(spangram=name, theme_words=words - {name}, probability=float(share))
            for name, words, share in zip(one.spangrams, one.words, mass, strict=True)
        ]
        after_each.append(play_out(covers, truth))
        best = [
            word
            for i in np.argsort(-own, kind="stable")
            for word in (one.spangrams[i], *sorted(one.words[i] - {one.spangrams[i]}))
        ]
        in_order.append(play_in_order(list(dict.fromkeys(best)), truth))
        listed = {word for words in one.words for word in words}
        common = sorted(listed, key=lambda word: (-zipf_frequency(word.lower(), "en"), word))
        by_frequency.append(play_in_order(common, truth))
    return [
        [
            name,
            f"{np.mean([wrong for wrong, _ in played]):.2f}",
            f"{np.mean([not wrong and solved for wrong, solved in played]):.1%}",
            f"{np.mean([solved for _, solved in played]):.1%}",
        ]
        for name, played in results.items()
    ]


def _alone(ranker: Ranker) -> npt.NDArray[np.float64]:
    known = ranker.weights.search_alone.weights()
    return np.array([known[name] for name in NAMES])


def _calibration(tried: list[Tried], scores: list[Any]) -> list[list[object]]:
    sure, right = [], []
    for one, own in zip(tried, scores, strict=True):
        if len(own):
            mass = np.exp(own - own.max())
            sure.append(float(mass.max() / mass.sum()))
            right.append(one.place(own) == 1)
    rows: list[list[object]] = []
    for low, high in itertools.pairwise(CONFIDENCES):
        chosen = [hit for share, hit in zip(sure, right, strict=True)
                  if low <= share < high or (high == 1 and share == 1)]  # fmt: skip
        if chosen:
            rows.append([f"{low:.1f} to {high:.1f}", len(chosen), f"{np.mean(chosen):.0%}"])
    return rows


def _classes(tried: list[Tried], scores: list[Any]) -> list[list[object]]:
    counts = Counter(
        _class_of(one, own) for one, own in zip(tried, scores, strict=True)
        if one.place(own) != 1
    )  # fmt: skip
    return [[name, count] for name, count in counts.most_common()]


def _class_of(one: Tried, scores: npt.NDArray[np.float64]) -> str:
    if one.why:
        return one.why
    if not one.meant:
        return "not among the listed covers"
    first, meant = int(np.argmax(scores)), one.meant[0]
    missing = one.official - one.words[first]
    if one.cells[first] == one.cells[meant]:
        return "other words on the same cells"
    if one.spangrams[first] != one.spangram:
        if len(missing) == 1:
            return "another spangram, the same theme words"
        return "letters or words between spangram and theme words"
    return "one theme word" if len(missing) == 1 else "two or more theme words"


if __name__ == "__main__":
    main()
