"""The tables of the ranking's benchmark, on boards of the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import strands_rank
from benchmarks.strands_rank import Ranked, losses, section_of
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import JUDGED, fitted_weights
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary


def test_every_ranking_has_a_row_and_every_confidence_a_bin(
    archive: list[Path], vocabulary: Vocabulary, meanings: Meanings, monkeypatch: pytest.MonkeyPatch
):
    # The lexicon also has forward and backward words.
    monkeypatch.setattr(strands_rank, "bind_game", lambda name: game(name, "", vocabulary.lexicon))
    later = archive[5:7]
    for path, sample in zip(later, archive, strict=False):
        payload = json.loads(sample.read_bytes()) | {"printDate": path.stem}
        path.write_text(json.dumps(payload))
    boards = [strands_rank.published_in(path) for path in later]
    ranker = Ranker(fitted_weights(JUDGED), vocabulary, meanings)
    found = {
        "everything": [strands_rank.ranked(ranker, board) for board in boards],
        "frequency": [strands_rank.by_frequency(board) for board in boards],
    }
    assert all(row.place <= strands_rank.LISTED for rows in found.values() for row in rows)
    text = section_of(found, "command").render()
    assert all(f"| {name} " in text for name in found)
    assert text.count("| confidence of the first ") == 1


def test_losses_are_those_found_by_hand():
    """Given two boards in one bin and three in another, Then each sum is as written here."""
    said, right = [0.6, 0.64, 0.96, 0.98, 1.0], [True, False, True, True, False]
    rows = [
        Ranked(place=1 if hit else 2, confidence=share, seconds=0.0)
        for share, hit in zip(said, right, strict=True)
    ]
    # -ln 0.6, -ln 0.36, -ln 0.96, -ln 0.98, and a certain board that is wrong: -ln 1e-12
    log_loss = (0.510826 + 1.021651 + 0.040822 + 0.020203 + 27.631021) / 5
    # 0.16 + 0.4096 + 0.0016 + 0.0004 + 1 = 1.5716
    # (2 * 0.12 + 3 * (0.98 - 0.66667)) / 5 = (0.24 + 0.94) / 5
    assert losses(rows) == (
        f"log loss {log_loss:.3f} nats, Brier score {1.5716 / 5:.3f}, "
        f"expected calibration error {1.18 / 5:.1%}."
    )
