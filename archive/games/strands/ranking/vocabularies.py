"""The vocabulary of ranking on this machine: made once of its sources, then mapped."""

from __future__ import annotations

import importlib.metadata
from dataclasses import fields
from pathlib import Path

import numpy as np

import nightgrid.solvers.lexicon
from nightgrid.archive.words import lexicon_cache
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, fill_folder
from nightgrid.solvers.lexicon.compile import digest_of
from nightgrid.solvers.strands.ranking import vocabulary as vocabularies
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, english_vocabulary

_ARRAYS = tuple(field.name for field in fields(Vocabulary) if field.name != "lexicon")
_LEXICON = "lexicon"
_opened: dict[str, Vocabulary] = {}


def ranking_vocabulary() -> Vocabulary:
    """Open the vocabulary: made in some seconds the first time on a machine."""
    version = importlib.metadata.version
    code = b"".join(path.read_bytes() for path in _sources())
    source = digest("ranking", version("wordfreq"), version("symspellpy"), digest_of(code))
    if source not in _opened:
        folder = cache_base() / "vocabularies" / source
        _opened[source] = _mapped(folder) or _kept(folder, english_vocabulary())
    return _opened[source]


def _sources() -> list[Path]:
    folder = Path(nightgrid.solvers.lexicon.__file__).parent
    return [*sorted(folder.glob("*.py")), Path(vocabularies.__file__)]


def _mapped(folder: Path) -> Vocabulary | None:
    try:
        lexicon = lexicon_cache.cached((folder / _LEXICON).read_text())
        arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS}
    except (OSError, ValueError):
        return None
    return None if lexicon is None else Vocabulary(lexicon=lexicon, **arrays)


def _kept(folder: Path, vocabulary: Vocabulary) -> Vocabulary:
    lexicon = lexicon_cache.keep(vocabulary.lexicon)
    arrays = {name: getattr(vocabulary, name) for name in _ARRAYS}

    def write(staged: Path) -> None:
        for name, array in arrays.items():
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        (staged / _LEXICON).write_text(lexicon.lexicon_id)

    fill_folder(folder, write)
    return Vocabulary(lexicon=lexicon, **arrays)
