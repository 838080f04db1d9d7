"""This machine's vocabulary of ranking: built once from its sources, then mapped."""

from __future__ import annotations

import importlib.metadata
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import nightgrid.solvers.lexicon
from nightgrid.archive.games.strands.ranking.weights import VOCABULARY_PACKAGES
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, kept_arrays
from nightgrid.solvers.lexicon.compile import digest_of, sealed
from nightgrid.solvers.strands.ranking import vocabulary as vocabularies
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, english_vocabulary

_ID = "lexicon_id"


@lru_cache(maxsize=1)
def ranking_vocabulary() -> Vocabulary:
    """Open the vocabulary, which takes some seconds to build the first time on a machine."""
    version = importlib.metadata.version
    code = b"".join(path.read_bytes() for path in _sources())
    source = digest("ranking", "3", *map(version, VOCABULARY_PACKAGES), digest_of(code))
    arrays = kept_arrays(cache_base() / "vocabularies" / source, _arrays)
    own = {field.name: arrays.pop(field.name) for field in fields(Vocabulary)[1:]}
    return Vocabulary(lexicon=sealed(str(arrays.pop(_ID)[0]), arrays), **own)


def _arrays() -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the vocabulary and of its lexicon, which have different names."""
    made = english_vocabulary()
    own = {field.name: getattr(made, field.name) for field in fields(Vocabulary)[1:]}
    return {**own, **made.lexicon.arrays(), _ID: np.array([made.lexicon.lexicon_id])}


def _sources() -> list[Path]:
    folder = Path(nightgrid.solvers.lexicon.__file__).parent
    return [*sorted(folder.glob("*.py")), Path(vocabularies.__file__)]
