"""The tables of the ranking's benchmark are made of what is ranked, on boards of the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.strands_rank import __main__ as command
from benchmarks.strands_rank import early as early_module
from benchmarks.strands_rank import tables
from benchmarks.strands_rank import tried as tried_module
from benchmarks.strands_rank.tried import FREQUENCY
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import JUDGED, fitted_weights
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary


def test_every_ranking_has_a_row_and_every_confidence_a_bin(
    archive: list[Path], vocabulary: Vocabulary, meanings: Meanings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    for module in (early_module, tried_module):
        monkeypatch.setattr(module, "cache_base", lambda: tmp_path / "cache")
    # Forwards and backwards words are the lexicon, too.
    monkeypatch.setattr(tried_module, "bind_game", lambda name: game(name, "", vocabulary.lexicon))
    monkeypatch.setattr(command, "_measured_peak", lambda: 1)
    later = archive[5:7]
    for path, sample in zip(later, archive, strict=False):
        payload = json.loads(sample.read_bytes()) | {"printDate": path.stem}
        path.write_text(json.dumps(payload))
    ranker = Ranker(fitted_weights(JUDGED), vocabulary, meanings)
    early = early_module.early_boards(ranker.weights, meanings, "state")
    others = command._others(ranker, early)
    tried = tried_module.try_boards(ranker, others, later, "state")
    again = tried_module.try_boards(ranker, {}, later, "state")
    assert [one.date for one in again] == [path.stem for path in later]
    assert again[0].again == tried[0].again
    assert tried[0].again.keys() == {*others, FREQUENCY}
    assert all(one.meant and one.again[FREQUENCY].place(one.official) for one in tried)

    text = command._section(tried, ranker, early).render()
    for name in (*others, FREQUENCY, *(f"without {signal}" for signal in tables.SIGNALS)):
        assert f"| {name} " in text
    assert text.count("| confidence of the first ") == 2

    scores = tables.scores_of(tried, ranker.weights)
    ranked = ranker.rank_pieces(ranker.told(_pieces(ranker, later[0]), _clue(later[0])),
                                _clue(later[0])).covers  # fmt: skip
    said, _ = tables.confidences(tried, scores)
    assert said[0] == pytest.approx(ranked[0].confidence, abs=1e-4)


def _pieces(ranker: Ranker, path: Path):
    return ranker.board(tried_module.published_in(path).puzzle, _clue(path))


def _clue(path: Path) -> str | None:
    return tried_module.published_in(path).clue
