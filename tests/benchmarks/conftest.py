"""A few boards of the sample as an archive, with a small vocabulary and small models."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.strands_fit import __main__ as fit_command
from benchmarks.strands_fit import data, fit, learn
from benchmarks.strands_fit import lists as listing
from nightgrid.archive.games.strands.payload import read_payload
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, F32, SentenceModel
from nightgrid.archive.games.strands.ranking.weights import JUDGED, fitted_weights
from nightgrid.archive.payloads.published import Published
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of
from tests.archive.games.strands.ranking.tiny_model import tiny_meanings, tiny_vectors

SAMPLE = sorted((Path(__file__).resolve().parents[2] / "service/sample/strands").glob("*.json"))
EARLY, ASIDE = [f"2024-03-{day:02}" for day in range(4, 9)], 150
"""Five early boards, and how many judge."""


class DrawnModel(SentenceModel):
    """A model for which no two texts are alike."""

    def embed(self, texts: Sequence[str]) -> F32:
        """Draw the vector of each text."""
        drawn = [
            np.random.default_rng(list(text.encode())).normal(size=DIMENSIONS) for text in texts
        ]
        return np.array(drawn, np.float32).reshape(-1, DIMENSIONS) / DIMENSIONS**0.5


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    """Build a vocabulary of the sample's official words, forwards and backwards."""
    words: set[str] = set()
    for path in SAMPLE:
        (board,) = read_payload(path.read_bytes(), dt.date.fromisoformat(path.stem))
        assert isinstance(board, Published)
        assert board.solution is not None
        words |= {entry.word for entry in board.solution.entries}
    backwards = {word[::-1] for word in words}
    zipf = dict.fromkeys(backwards, 200) | dict.fromkeys(words, 400)
    return vocabulary_of(zipf, set(zipf), [])


@pytest.fixture(scope="module")
def meanings(vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Meanings:
    folder = tmp_path_factory.mktemp("model")
    tiny = tiny_meanings(vocabulary, folder)
    return Meanings(tiny_vectors(DrawnModel(folder, folder), vocabulary, folder), tiny.language)


@pytest.fixture
def archive(
    vocabulary: Vocabulary, meanings: Meanings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Path]:
    """Publish five early boards, and later ones that cannot be read."""
    folder = tmp_path / "strands"
    folder.mkdir()
    for date, path in zip(EARLY, SAMPLE, strict=True):
        payload = json.loads(path.read_bytes()) | {"printDate": date}
        (folder / f"{date}.json").write_text(json.dumps(payload))
    files = [folder / f"{date}.json" for date in EARLY]
    first = dt.date(2024, 4, 1)
    files += [folder / f"{first + dt.timedelta(days=n)}.json" for n in range(ASIDE)]
    monkeypatch.setattr(data, "published_files", lambda _: files)
    for module in (data, listing):
        monkeypatch.setattr(module, "cache_base", lambda: tmp_path / "cache")
    # Less of everything: tests check which boards are read, and what is written.
    monkeypatch.setattr(listing, "LISTED", 16)
    monkeypatch.setattr(learn, "STEPS", 4)
    for name in ("SEARCH_RIDGES", "MEANING_RIDGES", "COVER_RIDGES", "THEME_RIDGES"):
        monkeypatch.setattr(fit, name, getattr(fit, name)[:1])
    learned = fitted_weights(JUDGED).learned
    monkeypatch.setattr(fit, "learn_plda", lambda *_: learned.plda)
    monkeypatch.setattr(fit_command, "ranking_vocabulary", lambda: vocabulary)
    monkeypatch.setattr(fit_command, "open_meanings", lambda _: meanings)
    monkeypatch.setattr(fit_command, "learn_phrases", lambda _: learned.phrases)
    return files
