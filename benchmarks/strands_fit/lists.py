"""Lists of covers under starting weights, kept on disk: what everything is fitted on."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit.data import PIECES_VERSION, Board, boards, say
from nightgrid.archive.games.strands.ranking.features import FEATURES, Learned, cover_features
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS
from nightgrid.archive.games.strands.ranking.vectors import COMMON_WORDS
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, staged_path
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.compounds import NATS
from nightgrid.solvers.strands.ranking.search import Scored, best_covers
from nightgrid.solvers.strands.ranking.terms import SPANGRAM_TERMS, THEME_TERMS
from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms

F64 = npt.NDArray[np.float64]
NAMES = (*THEME_TERMS, *SPANGRAM_TERMS)
LISTED = 150
"""Covers of a board under starting weights: more than are ranked, since fitting moves them."""
LISTS_VERSION = "1"
MAIN_DIRECTIONS = 40
"""Main directions of the vocabulary in which likeness to board words is looked for."""

NO_WORDNESS = np.zeros(DIMENSIONS, np.float32)
"""The direction of a score that knows no likeness to board words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Listed:
    """One board with its list."""

    board: Board
    covers: list[Scored]
    sums: F64
    """float64[covers, NAMES]: terms summed over the pieces of a cover."""
    meant: list[int]


def lists(files: Sequence[Path], meanings: Meanings, start: WeighedTerms) -> list[Listed]:
    """List the covers of boards under starting weights."""
    lexicon_id = meanings.vocabulary.lexicon.lexicon_id
    named = digest(LISTS_VERSION, PIECES_VERSION, lexicon_id, start.name, *NAMES)
    folder = cache_base() / "strands-fit" / f"lists-{named}"
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for board in boards(files, meanings.vocabulary):
        listed.append(_listed(folder / f"{board.date}.pickle", board, meanings, start))
        if len(listed) % 50 == 0:
            say(f"{len(listed)} of {len(files)} lists")
    return listed


def _listed(path: Path, board: Board, meanings: Meanings, start: WeighedTerms) -> Listed:
    words = board.ranked.found.words.word
    told = board.ranked.with_meaning(meanings.word_terms(words, board.clue, NO_WORDNESS))
    if path.exists():
        covers = pickle.loads(path.read_bytes())
    else:
        covers = _search(told, start)
        staged = staged_path(path)
        staged.write_bytes(pickle.dumps(covers, 5))
        staged.rename(path)
    return Listed(
        board=replace(board, ranked=told),
        covers=covers,
        sums=sums_of(told, covers),
        meant=board.positives(covers, meanings.vocabulary),
    )


def _search(told: RankedBoard, start: WeighedTerms) -> list[Scored]:
    try:
        return best_covers(told, start, LISTED)
    except BudgetSpentError:
        return []


def sums_of(board: RankedBoard, covers: Sequence[Scored]) -> F64:
    """Sum the terms of covers."""
    sums = np.zeros((len(covers), len(NAMES)))
    for i, cover in enumerate(covers):
        kind, row = cover.spangram
        sums[i, : len(THEME_TERMS)] = board.theme[cover.theme].sum(axis=0)
        sums[i, len(THEME_TERMS) :] = (board.compound if kind == "compound" else board.spangram)[
            row
        ]
    return sums


def main_directions(meanings: Meanings) -> F64:
    """Take the main directions of the commonest words, scaled: float64[DIMENSIONS, directions]."""
    vectors = meanings.vectors
    common = vectors.centred(vectors.of_rows(np.arange(min(COMMON_WORDS, len(vectors.words)))))
    _, basis = np.linalg.eigh(np.cov(common.T.astype(np.float64)))
    main = basis[:, : -MAIN_DIRECTIONS - 1 : -1]
    directions: F64 = main / (common @ main).std(axis=0)
    return directions


def meaning_sums(listed: Listed, meanings: Meanings, directions: F64) -> F64:
    """Sum the theme words' vectors, seen in some directions: float64[covers, directions]."""
    word = listed.board.ranked.found.words.word
    sums = np.zeros((len(listed.covers), directions.shape[1]))
    if not listed.covers:
        return sums
    used = np.unique(np.concatenate([word[cover.theme] for cover in listed.covers]))
    seen = meanings.word_vectors(used) @ directions
    for i, cover in enumerate(listed.covers):
        sums[i] = seen[np.searchsorted(used, word[cover.theme])].sum(axis=0)
    return sums


def rescored(listed: Listed, scores: F64, k: int) -> tuple[list[Scored], npt.NDArray[np.int64]]:
    """Put a list in the order of other scores and keep the first k: covers, and which they are."""
    order = np.argsort(-scores, kind="stable")[:k]
    covers = [
        replace(listed.covers[i], score=round(NATS * float(scores[i]))) for i in order.tolist()
    ]
    return covers, order


def features_of(
    listed: Listed, scores: F64, k: int, meanings: Meanings, learned: Learned
) -> tuple[F64, npt.NDArray[np.int64]]:
    """Take the features of the k covers of the highest scores, and which of them were meant."""
    covers, order = rescored(listed, scores, k)
    if not covers:
        return np.zeros((0, len(FEATURES))), np.zeros(0, np.int64)
    rows = cover_features(listed.board.ranked, covers, listed.board.clue, meanings, learned)
    return rows.astype(np.float64), np.flatnonzero(np.isin(order, listed.meant))
