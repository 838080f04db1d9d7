"""Fitting opens no board that judges, gives the same weights again, and says how it chose."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.strands_fit import __main__ as command
from benchmarks.strands_fit import data
from benchmarks.strands_fit.forward import TEMPERATURES
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.ranker import Ranker
from nightgrid.archive.games.strands.ranking.weights import JUDGED, NAME, fitted_weights
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of


def written(folder: Path, name: str) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((folder / f"{name}.json").read_bytes())
    return text


def test_fitting_never_opens_the_boards_that_judge(archive: list[Path], tmp_path: Path):
    """Given later boards that cannot be read, Then fitting works, and on all boards it does not."""
    command.main(["--name", "tiny", "--forward", "--folder", str(tmp_path)])
    provenance = written(tmp_path, "tiny")["provenance"]
    assert (provenance["boards"], provenance["from"], provenance["to"]) == (
        5,
        "2024-03-04",
        "2024-03-08",
    )
    with pytest.raises(FileNotFoundError):
        command.main(["--name", "all", "--all-boards", "--folder", str(tmp_path)])
    with pytest.raises(SystemExit):
        command.main(["--name", "all", "--all-boards", "--forward"])


def test_the_same_boards_give_the_same_weights(archive: list[Path], tmp_path: Path):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        command.main(["--name", "tiny", "--folder", str(folder)])
    one, other = (written(folder, "tiny") for folder in folders)
    assert one == other
    arrays = [dict(np.load(folder / "tiny.npz")) for folder in folders]
    assert arrays[0].keys() == arrays[1].keys()
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    # Something was learnt: words that are written forwards are commoner.
    assert one["search"]["zipf"] > fitted_weights(JUDGED).search.weights()["zipf"]


def test_temperatures_come_with_all_that_were_tried(archive: list[Path], tmp_path: Path):
    known = fitted_weights(JUDGED)
    command.main(["--name", "all", "--forward", "alone", "--of", JUDGED, "--folder", str(tmp_path)])
    text = written(tmp_path, "all")
    forward = text["provenance"]["forward"]
    assert text["name"] == "all"
    assert text["alone_temperature"] in TEMPERATURES
    assert len(forward["alone"]["trials"]) == len(TEMPERATURES)
    assert forward["cuts"] == [[2, 3], [3, 4], [4, 5]]
    assert "--forward alone" in forward["command"]
    # All else is as it was.
    assert text["provenance"]["to"] == known.provenance["to"]
    assert list(text["theme"].values()) == pytest.approx(known.theme.tolist())


def test_benchmarks_refuse_weights_that_know_boards_that_judge(monkeypatch: pytest.MonkeyPatch):
    judged = fitted_weights(JUDGED)
    after = dt.date.fromisoformat(judged.provenance["to"]) + dt.timedelta(days=1)
    monkeypatch.setattr(data, "dates", lambda: ([], [Path(f"{after}.json")]))
    assert data.judged_weights(JUDGED).name == JUDGED
    with pytest.raises(SystemExit, match=f"{NAME} was fitted on boards until"):
        data.judged_weights(NAME)
    monkeypatch.setattr(data, "dates", lambda: ([], [Path(f"{judged.provenance['to']}.json")]))
    with pytest.raises(SystemExit, match="expected weights that know no board"):
        data.judged_weights(JUDGED)


def test_what_is_kept_on_disk_is_named_by_all_that_it_depends_on(
    vocabulary: Vocabulary, meanings: Meanings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given other weights of one name, other source or no models, Then the name is another one."""
    weights = fitted_weights(JUDGED)
    ranker = Ranker(weights, vocabulary, meanings)
    state = data.state_of(ranker)
    assert state == data.state_of(Ranker(weights, vocabulary, meanings))
    others = {data.state_of(Ranker(weights, vocabulary, None))}
    others.add(data.state_of(Ranker(fitted_weights(NAME), vocabulary, meanings)))
    more = vocabulary_of({"OTHER": 400}, {"OTHER"}, [])
    others.add(data.state_of(Ranker(weights, more, meanings)))
    with monkeypatch.context() as patch:
        for suffix in (".json", ".npz"):
            (tmp_path / f"{JUDGED}{suffix}").write_bytes(b"other weights of the same name")
        patch.setattr(data, "FOLDER", tmp_path)
        others.add(data.state_of(ranker))
    (tmp_path / "play.py").write_text("another source")
    with monkeypatch.context() as patch:
        patch.setattr(data, "ROOMS", (tmp_path,))
        others.add(data.state_of(ranker))
    with monkeypatch.context() as patch:
        patch.setattr(data, "_version", lambda _: "another model")
        others.add(data.state_of(ranker))
    assert len(others) == 6
    assert state not in others
