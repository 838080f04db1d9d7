"""Vectors of words are embedded on demand, and cached in one file of the machine."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking.minilm import SentenceModel
from nightgrid.archive.games.strands.ranking.vectors import RECORD, Vectors
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of
from tests.archive.games.strands.ranking.tiny_model import tiny_vectors, write_model

ZIPF = {"CAT": 500, "DOG": 400, "CATS": 300, "HOT": 250, "DOGS": 200, "RARE": 100, "AB": 500}
ALL = np.arange(5)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return vocabulary_of(ZIPF, set(ZIPF), [])


@pytest.fixture
def model(tmp_path: Path) -> SentenceModel:
    write_model(tmp_path)
    return SentenceModel(tmp_path, tmp_path / "kept")


@pytest.fixture
def file(tmp_path: Path, made: Vectors) -> Path:
    (file,) = (tmp_path / "vectors").iterdir()
    return file


@pytest.fixture
def made(model: SentenceModel, vocabulary: Vocabulary, tmp_path: Path) -> Vectors:
    return tiny_vectors(model, vocabulary, tmp_path)


def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record which texts are embedded."""
    seen: list[str] = []
    embed = SentenceModel.embed
    monkeypatch.setattr(
        SentenceModel, "embed", lambda self, texts: seen.extend(texts) or embed(self, texts)
    )
    return seen


def test_words_have_places_by_frequency_and_rare_and_short_ones_none(
    made: Vectors, vocabulary: Vocabulary
):
    assert [vocabulary.lexicon.word(int(word)) for word in made.words] == list(ZIPF)[:5]
    assert made.row_of[vocabulary.lexicon.find("RARE")] == -1


def test_a_vector_is_made_when_it_is_asked_for_and_known_to_other_processes(
    model: SentenceModel, vocabulary: Vocabulary, made: Vectors, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    other, seen = tiny_vectors(model, vocabulary, tmp_path), embedded(monkeypatch)
    first = made.of_rows(np.array([3, 1, 1]))
    again = other.of_rows(np.array([1, 3]))
    assert seen == ["dog", "hot"]
    assert np.array_equal(again[[1, 0, 0]], first)
    other.of_rows(np.array([1, 4]))
    assert seen == ["dog", "hot", "dogs"]


def read_all(folder: Path) -> np.ndarray:
    """Read all vectors as another process does."""
    model = SentenceModel(folder, folder / "kept")
    return tiny_vectors(model, vocabulary_of(ZIPF, set(ZIPF), []), folder).of_rows(ALL)


@pytest.mark.slow
@pytest.mark.usefixtures("model")
def test_processes_may_write_at_once(tmp_path: Path):
    with get_context("fork").Pool(2) as pool:
        found = pool.map(read_all, [tmp_path] * 4, chunksize=1)
    assert all(np.allclose(one, read_all(tmp_path), atol=1e-2) for one in found)


def test_a_record_that_was_cut_off_is_rebuilt(
    model: SentenceModel, vocabulary: Vocabulary, made: Vectors, file: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    expected = made.of_rows(ALL)
    whole = bytearray(file.read_bytes())
    whole[2 * RECORD.itemsize + 200 : 3 * RECORD.itemsize] = bytes(RECORD.itemsize - 200)
    file.write_bytes(whole)
    seen = embedded(monkeypatch)
    again = tiny_vectors(model, vocabulary, tmp_path).of_rows(ALL)
    # One text alone is rounded otherwise than with others.
    assert np.allclose(again, expected, atol=1e-2)
    assert seen == ["cats"]


def test_vectors_stay_in_memory_if_nothing_can_be_written(
    model: SentenceModel, vocabulary: Vocabulary, made: Vectors, file: Path, tmp_path: Path
):
    file.unlink()
    expected = made.of_rows(ALL)
    assert not file.exists()
    (tmp_path / "file").touch()
    without = tiny_vectors(model, vocabulary, tmp_path / "file")
    assert np.allclose(without.of_rows(ALL), expected, atol=1e-2)


def test_a_vector_of_bytes_is_nearly_the_model_s(made: Vectors, model: SentenceModel):
    texts = ["cat", "dogs", "hot cat"]
    assert np.sum(model.embed(texts) * made.embed(texts), axis=1).min() > 0.9995


def test_the_common_part_of_all_words_is_removed(made: Vectors):
    made.mean = np.full_like(made.mean, 0.01)
    made.directions = np.eye(2, len(made.mean), dtype=np.float32)
    centred = made.centred(made.of_rows(ALL))
    assert np.allclose(np.linalg.norm(centred, axis=1), 1)
    assert np.abs(centred @ made.directions.T).max() < 1e-5
