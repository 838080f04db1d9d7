"""A board under the answers so far: only pieces that agree are searched and ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.playing.play import WRONG, Known, Play, Possible
from nightgrid.archive.games.strands.ranking.ranker import RankedCover, Ranker
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.pieces.pieces import Found, Pieces
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.search import timed
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

Flags = npt.NDArray[np.bool_]


def open_play(
    ranker: Ranker, puzzle: Puzzle, clue: str | None, budget: Budget | None = None
) -> Play:
    """Start playing a board: rank its covers, and search again when answers leave few of them.

    The budget applies to each ranking. Raises what Ranker.rank raises, as hearing an answer does.
    """
    budget = budget or Budget()
    with timed(budget) as own:
        board, covers = ranker.ranked(puzzle, clue, budget=own)

    def search(known: Known) -> list[Possible]:
        told = conditioned(board, known, ranker.vocabulary)
        with timed(budget) as own:
            return possible(told, ranker.rank_pieces(told, clue, budget=own))

    def possible(told: RankedBoard, covers: Iterable[RankedCover]) -> list[Possible]:
        return [
            possible_of(told, one, ranker.vocabulary, role_chances(ranker, told, one))
            for one in covers
        ]

    return Play(possible(board, covers), search)


def possible_of(
    board: RankedBoard,
    cover: RankedCover,
    vocabulary: Vocabulary,
    roles: Mapping[str, float] | None = None,
) -> Possible:
    """Convert a ranked cover into a possible answer."""
    found, lexicon = board.found, vocabulary.lexicon
    cells, spans = {}, set()
    for kind, row in cover.scored.pieces:
        pieces = found.words if kind == "word" else found.compounds
        word = spell((kind, row), found, lexicon)
        cells[word] = pieces.cells_on(row)
        if kind == "compound" or pieces.spans[row]:
            spans.add(word)
    return Possible(
        spangram=cover.spangram,
        theme_words=frozenset(cover.theme_words),
        probability=cover.confidence,
        cells=cells,
        spans=frozenset(spans),
        roles=roles or {},
    )


def role_chances(ranker: Ranker, board: RankedBoard, cover: RankedCover) -> dict[str, float]:
    """Return the probability of each word of a cover to be its spangram.

    The score of the search adds up over words. So the odds of two choices of the spangram follow
    from each word's score as the spangram minus its score as a theme word. A compound is never a
    theme word.
    """
    if cover.scored.spangram[0] == "compound":
        return {cover.spangram: 1.0}
    words = board.found.words
    rows = [row for _, row in cover.scored.pieces if words.spans[row]]
    weights = ranker.weights
    alone = ranker.meanings is None
    score = weights.search_alone if alone else weights.search
    nats = board.spangram[rows] @ score.spangram - board.theme[rows] @ score.theme
    mass = np.exp((nats - nats.max()) / (weights.alone_temperature if alone else 1.0))
    names = [spell(("word", row), board.found, ranker.vocabulary.lexicon) for row in rows]
    return dict(zip(names, (mass / mass.sum()).tolist(), strict=True))


def conditioned(board: RankedBoard, known: Known, vocabulary: Vocabulary) -> RankedBoard:
    """Keep the pieces of a board that may be on it, given the answers so far.

    Words that are not in the list are dropped, and so is every piece that shares cells with a found
    word or a hint without having exactly these cells. The rest may still have covers that disagree,
    if a found word may be in several places: Play checks them.
    """
    words, compounds = board.found.words, board.found.compounds
    keeps_word, keeps_compound = _on_cells(words, known), _on_cells(compounds, known)
    lexicon = vocabulary.lexicon
    wrong = [word for word, answer in known.answers.items() if answer == WRONG]
    keeps_word &= ~np.isin(words.word, [lexicon.find(word) for word in wrong])
    for word, at in known.cells.items():
        keeps_word &= (words.word == lexicon.find(word)) | ~_lies_on(words, at)
    letters = _bit_counts(compounds)
    for row in np.flatnonzero(keeps_compound & np.isin(letters, [len(word) for word in wrong])):
        keeps_compound[row] = spell(("compound", int(row)), board.found, lexicon) not in wrong
    for word, at in known.cells.items():
        for row in np.flatnonzero(keeps_compound & _lies_on(compounds, at)):
            keeps_compound[row] = spell(("compound", int(row)), board.found, lexicon) == word
    chosen, joined = np.flatnonzero(keeps_word), np.flatnonzero(keeps_compound)
    return replace(
        board,
        found=Found(
            words=words.take(chosen),
            compounds=compounds.take(joined),
            codes=np.ascontiguousarray(board.found.codes[joined]),
        ),
        theme=board.theme[chosen],
        spangram=board.spangram[chosen],
        compound=board.compound[joined],
    )


def _on_cells(pieces: Pieces, known: Known) -> Flags:
    """Return which pieces have exactly the cells of each found word and hint, or none of them."""
    keeps = np.ones(len(pieces), np.bool_)
    for at in {*known.cells.values(), *known.hints}:
        keeps &= _lies_on(pieces, at) | ((_masks(pieces) & _mask(at)) == 0)
    return keeps


def _lies_on(pieces: Pieces, cells: frozenset[int]) -> Flags:
    same: Flags = _masks(pieces) == _mask(cells)
    return same


def _masks(pieces: Pieces) -> npt.NDArray[np.uint64]:
    # Ranked boards have at most 63 cells.
    masks: npt.NDArray[np.uint64] = pieces.cells << pieces.low.astype(np.uint64)
    return masks


def _mask(cells: frozenset[int]) -> np.uint64:
    return np.uint64(sum(1 << cell for cell in cells))


def _bit_counts(pieces: Pieces) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = np.bitwise_count(pieces.cells).astype(np.int64)
    return counts
