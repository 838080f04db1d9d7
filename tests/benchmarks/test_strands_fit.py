"""Fitting opens no board that judges, is reproducible, and reports its choices."""

from __future__ import annotations

import datetime as dt
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from benchmarks.strands_fit import __main__ as command
from benchmarks.strands_fit import data
from benchmarks.strands_fit.forward import TEMPERATURES
from nightgrid.archive.games.strands.ranking.weights import (
    FOLDER,
    JUDGED,
    NAME,
    fitted_weights,
)


def written(folder: Path, name: str) -> dict[str, Any]:
    text: dict[str, Any] = json.loads((folder / f"{name}.json").read_bytes())
    return text


def arguments_in(text: str) -> list[str]:
    """Take the arguments of a command as a shell would."""
    words = shlex.split(text)
    assert words[:3] == ["python", "-m", "benchmarks.strands_fit"]
    return words[3:]


def test_fitting_never_opens_the_boards_that_judge(archive: list[Path], tmp_path: Path):
    """Given later boards that cannot be read, Then fitting works, and on all boards it does not."""
    command.main(["--name", "tiny", "--folder", str(tmp_path)])
    provenance = written(tmp_path, "tiny")["provenance"]
    early = {"boards": 5, "from": "2024-03-04", "to": "2024-03-08"}
    assert early.items() <= provenance.items()
    assert provenance["chosen_on"] == early
    with pytest.raises(FileNotFoundError):
        command.main(["--name", "all", "--all-boards", "--folder", str(tmp_path)])


def test_the_command_of_the_provenance_makes_the_same_bytes(archive: list[Path], tmp_path: Path):
    """Given weights that were fitted, When their command runs again, Then files are the same."""
    one, other = tmp_path / "one", tmp_path / "other"
    arguments = ["--name", "tiny", "--every", "1", "--folder", str(one)]
    command.main(arguments)
    text = written(one, "tiny")
    again = arguments_in(text["provenance"]["command"])
    assert command.read_arguments(again)[0] == command.read_arguments(arguments)[0]
    command.main([*again, "--folder", str(other)])
    assert sorted(path.name for path in one.iterdir()) == ["tiny.json", "tiny.npz"]
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes()
    # The fit has learnt that forward words are commoner.
    assert text["search"]["zipf"] > fitted_weights(JUDGED).search.weights()["zipf"]


def test_weights_for_use_are_chosen_without_the_boards_that_judge(
    archive: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Given a board that judges, Then it changes the weights, but no choice."""
    last = archive[4].with_name("2024-03-09.json")
    last.write_bytes(archive[0].read_bytes().replace(b"2024-03-04", b"2024-03-09"))
    monkeypatch.setattr(data, "published_files", lambda _: [*archive[:5], last])
    monkeypatch.setattr(data, "DEV", 1)
    command.main(["--name", "judged", "--folder", str(tmp_path)])
    command.main(["--name", "used", "--all-boards", "--folder", str(tmp_path)])
    judged, used = (written(tmp_path, name) for name in ("judged", "used"))
    known, knows = judged["provenance"], used["provenance"]
    assert (known["to"], knows["to"], knows["boards"]) == ("2024-03-08", "2024-03-09", 6)
    for chosen in ("chosen_on", "cross_validation", "forward", "temperature"):
        assert known[chosen] == knows[chosen]
    assert used["search"] != judged["search"]
    assert used["alone_temperature"] == judged["alone_temperature"]


def test_temperatures_come_with_all_that_were_tried(archive: list[Path], tmp_path: Path):
    command.main(["--name", "tiny", "--folder", str(tmp_path)])
    text = written(tmp_path, "tiny")
    forward = text["provenance"]["forward"]
    assert forward["cuts"] == [[2, 3], [3, 4], [4, 5]]
    found = {"theme": text["provenance"]["temperature"], "alone": text["alone_temperature"]}
    for which, temperature in found.items():
        trials = forward[which]["trials"]
        assert trials.keys() == {f"{value:g}" for value in TEMPERATURES}
        nats = {value: trial["nats"] for value, trial in trials.items()}
        assert nats[f"{temperature:g}"] == max(nats.values())


@pytest.mark.parametrize("name", [JUDGED, NAME])
def test_stored_weights_name_the_command_that_makes_them(name: str):
    provenance = fitted_weights(name).provenance
    settings, folder = command.read_arguments(arguments_in(provenance["command"]))
    assert (settings.name, settings.every, folder) == (name, 1, FOLDER)
    assert settings.command == provenance["command"]
    # All choices are made on boards before those that judge, also for use.
    assert settings.all_boards == (provenance["to"] > provenance["chosen_on"]["to"])
    assert provenance["chosen_on"]["to"] == fitted_weights(JUDGED).provenance["to"]


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
