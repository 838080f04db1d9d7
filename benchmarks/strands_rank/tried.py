"""Boards that no weight was fitted on with their ranked covers, kept on disk."""

from __future__ import annotations

import datetime as dt
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit.data import Board, boards, say
from benchmarks.strands_fit.lists import sums_of
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.ranking.features import FEATURES, cover_features, texts_of
from nightgrid.archive.games.strands.ranking.misses import Laid
from nightgrid.archive.games.strands.ranking.ranker import LISTED, Ranker
from nightgrid.archive.games.strands.ranking.themes import theme_features
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.kernel.cache_folder import cache_base
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.search import Scored
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

F64 = npt.NDArray[np.float64]
TRIED_VERSION = "4"
"""Raised whenever what is kept of a board changes, or what the benchmark itself does with it."""
FREQUENCY = "frequency alone, searched again: the default score of `best(k)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """The covers of a board in the order of one ranking."""

    words: list[frozenset[str]]
    confidence: float
    """What is said of the first; 0 where there is none or nothing is said."""

    def place(self, official: frozenset[str]) -> int | None:
        """Find the official cover's place, from 1 on."""
        return self.words.index(official) + 1 if official in self.words else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tried:
    """One board with its list, in the order of the search."""

    date: str
    official: frozenset[str]
    spangram: str
    laid: list[Laid]
    features: F64
    sums: F64
    themes: F64
    """float64[covers, THEME]: of the covers that are read."""
    again: Mapping[str, Ordered]
    """Other rankings by name, each with a search of its own."""
    seconds: float

    @property
    def meant(self) -> list[int]:
        """Which covers are the official one."""
        return [i for i, one in enumerate(self.laid) if one.words == self.official]

    def place(self, scores: F64) -> int | None:
        """Find the official cover's place, from 1 on, when covers stand by scores."""
        order = np.argsort(-scores, kind="stable")
        places = np.flatnonzero(np.isin(order, self.meant))
        return int(places[0]) + 1 if len(places) else None


def try_boards(
    ranker: Ranker, others: Mapping[str, Ranker], files: Sequence[Path], state: str
) -> list[Tried]:
    """Rank boards, of which those that were ranked before in the same state are on disk."""
    folder = cache_base() / "strands-fit" / f"tried-{TRIED_VERSION}-{state}"
    folder.mkdir(parents=True, exist_ok=True)
    file_of = {file.stem: file for file in files}
    results = []
    for count, board in enumerate(boards(files, ranker.vocabulary), 1):
        path = folder / f"{board.date}.pickle"
        if path.exists():
            results.append(pickle.loads(path.read_bytes()))
        else:
            results.append(_try(ranker, others, board, file_of[board.date]))
            path.write_bytes(pickle.dumps(results[-1], 5))
        if count % 25 == 0:
            say(f"{count} of {len(files)} boards")
    return results


def published_in(file: Path) -> Published:
    """Read the board of a payload with its official solution, which only judges."""
    (published,) = read_payload(file.read_bytes(), dt.date.fromisoformat(file.stem))
    assert isinstance(published, Published)
    return published


def _try(ranker: Ranker, others: Mapping[str, Ranker], board: Board, file: Path) -> Tried:
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
    so_far = features @ ranker.weights.cover
    themes = theme_features(so_far, texts.words, texts.spangrams, board.clue, ranker.meanings)
    seconds = board.seconds + time.process_time() - started
    again = {name: _anew(other, board) for name, other in others.items()}
    again[FREQUENCY] = _by_frequency(file)
    return Tried(
        date=board.date, official=board.official, spangram=board.spangram,
        laid=[_laid(told, cover, vocabulary) for cover in covers],
        features=features.astype(np.float64), sums=sums_of(told, covers), themes=themes,
        again=again,
        seconds=seconds,
    )  # fmt: skip


def _anew(ranker: Ranker, board: Board) -> Ordered:
    """Rank a board from its pieces on, as it is done where this ranker is the one that is used."""
    try:
        told = ranker.widened(ranker.told(board.ranked, board.clue), board.clue)
        covers = ranker.rank_pieces(told, board.clue).covers
    except BudgetSpentError:
        covers = ()
    confidence = covers[0].confidence if covers else 0.0
    return Ordered(words=[one.words for one in covers], confidence=confidence)


def _by_frequency(file: Path) -> Ordered:
    """List the best covers of the search of step 2, under its words, compounds and phrases."""
    outcome = bind_game("strands").solve(published_in(file).puzzle, Ask(kind="best", limit=LISTED))
    words = [frozenset(entry.word for entry in cover.entries) for cover in outcome.solutions or ()]
    return Ordered(words=words, confidence=0.0)


def _laid(board: RankedBoard, cover: Scored, vocabulary: Vocabulary) -> Laid:
    found = board.found
    pieces = {"word": found.words, "compound": found.compounds}
    return Laid(
        spangram=spell(cover.spangram, found, vocabulary.lexicon),
        words={spell(piece, found, vocabulary.lexicon) for piece in cover.pieces},
        cells={pieces[kind].cells_on(row) for kind, row in cover.pieces},
    )
