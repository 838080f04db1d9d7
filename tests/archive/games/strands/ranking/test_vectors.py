"""Vectors of words are embedded once, kept as bytes, and mapped after that."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking import vectors
from nightgrid.archive.games.strands.ranking.minilm import F32, SentenceModel
from nightgrid.archive.games.strands.ranking.vectors import Vectors, WordRows, cached_vectors
from tests.archive.games.strands.ranking.tiny_model import write_model

WORDS = ["CAT", "DOG", "CATS", "HOT", "DOGS", "AB"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SentenceModel:
    write_model(tmp_path)
    monkeypatch.setattr(vectors, "cache_base", lambda: tmp_path / "cache")
    monkeypatch.setattr(vectors.importlib.metadata, "version", lambda _name: "0.1.0")
    return SentenceModel(tmp_path)


def never() -> SentenceModel:
    raise AssertionError("the model is opened though the vectors are known")


def made(model: SentenceModel) -> Vectors:
    return cached_vectors(lambda: model, WORDS)


def test_vectors_are_made_once_and_mapped_after_that(model: SentenceModel):
    seen: list[tuple[int, int]] = []
    first = cached_vectors(lambda: model, WORDS, lambda done, of: seen.append((done, of)))
    again = cached_vectors(never, WORDS)
    assert seen == [(len(WORDS), len(WORDS))]
    assert again.words.of(WORDS).tolist() == list(range(len(WORDS)))
    assert np.array_equal(again.values[:], first.values[:])
    assert np.array_equal(again.of_rows(np.array([2, 0])), first.of_rows(np.array([2, 0])))
    assert np.array_equal(again.mean, first.mean)


def test_a_process_that_was_killed_is_gone_on_from(
    model: SentenceModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given vectors of which a part was made, When they are asked for, Then the rest is made."""
    whole = made(model)
    (folder,) = (tmp_path / "cache" / "vectors").iterdir()
    shutil.rmtree(folder)
    monkeypatch.setattr(vectors, "STEP", 2)
    monkeypatch.setattr(vectors, "COMMON_WORDS", 3)
    expected = made(model)
    shutil.rmtree(folder)
    asked: list[list[str]] = []
    embed = SentenceModel.embed

    def embed_twice(self: SentenceModel, texts: Sequence[str]) -> F32:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(list(texts))
        return embed(self, texts)

    monkeypatch.setattr(SentenceModel, "embed", embed_twice)
    with pytest.raises(KeyboardInterrupt):
        made(model)
    begun = sorted(folder.with_name(f"{folder.name}.begun").iterdir())
    assert [path.name for path in begun] == ["0-2", "2-4"]
    (begun[0] / "values.npy").write_bytes(b"damaged")
    asked.clear()
    told: list[int] = []
    again = cached_vectors(lambda: model, WORDS, lambda done, _: told.append(done))
    assert asked == [["cat", "dog"], ["dogs", "ab"]], "what is whole is not made again"
    assert told == [2, 4, 6]
    assert np.array_equal(again.values[:], expected.values[:])
    assert np.array_equal(again.scales, expected.scales)
    assert np.array_equal(again.mean, expected.mean)
    assert np.array_equal(again.values[:], whole.values[:])
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_words_have_the_rows_that_they_were_given_and_others_have_none():
    seed = random.randrange(2**32)
    print(f"seed: {seed}")
    draw = random.Random(seed)
    words = list({"".join(draw.choices("ABC", k=draw.randrange(1, 7))) for _ in range(200)})
    rows = WordRows.from_words(words)
    asked = [*words, "D", "ABCABCABC", words[0] + "ABCABC", "É", ""]
    draw.shuffle(asked)
    expected = {word: row for row, word in enumerate(words)}
    assert rows.of(asked).tolist() == [expected.get(word, -1) for word in asked]
    assert rows.of([]).tolist() == []
    assert WordRows.from_words([]).of(["A"]).tolist() == [-1]


def test_a_vector_of_bytes_is_nearly_the_model_s(model: SentenceModel):
    known = made(model)
    exact = model.embed(["cat", "dogs", "hot cat"])
    found = known.embed(model, ["cat", "dogs", "hot cat"])
    assert np.sum(exact * found, axis=1).min() > 0.9995
    assert known.words.of(["DOG", "NONE"]).tolist() == [1, -1]


def test_what_is_common_to_all_words_is_taken_out(model: SentenceModel):
    known = made(model)
    centred = known.centred(known.embed(model, [word.lower() for word in WORDS]))
    assert np.allclose(np.linalg.norm(centred, axis=1), 1)
    assert np.abs(centred @ known.directions.T).max() < 1e-5


def test_a_damaged_folder_is_no_cache(model: SentenceModel, tmp_path: Path):
    made(model)
    (folder,) = (tmp_path / "cache" / "vectors").iterdir()
    (folder / "values.npy").write_bytes(b"damaged")
    assert made(model).values[:].shape == (len(WORDS), 384)
