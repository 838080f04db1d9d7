"""The vocabulary is built once on a machine, and mapped after that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking import vocabularies
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of


def test_a_cached_vocabulary_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = vocabulary_of({"SIT": 500, "UP": 600}, {"CEDILLA"}, [("SIT", "UP", 450)])
    monkeypatch.setattr(vocabularies, "cache_base", lambda: tmp_path)
    vocabularies.ranking_vocabulary.cache_clear()
    monkeypatch.setattr(vocabularies, "english_vocabulary", lambda: made)
    first = vocabularies.ranking_vocabulary()
    assert vocabularies.ranking_vocabulary() is first
    vocabularies.ranking_vocabulary.cache_clear()
    monkeypatch.setattr(vocabularies, "english_vocabulary", None)
    mapped = vocabularies.ranking_vocabulary()
    assert mapped.lexicon.lexicon_id == made.lexicon.lexicon_id
    assert np.array_equal(mapped.kind, made.kind)
    assert np.array_equal(mapped.first, made.first)
    vocabularies.ranking_vocabulary.cache_clear()
