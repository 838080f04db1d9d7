"""Settings come from options, the environment and a file, in this order, and say what is wrong."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.settings import Settings, load_settings
from nightgrid.workers.settings_sources import config_path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no settings in the environment."""
    for name in list(os.environ):
        if name.startswith("NIGHTGRID_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_option_environment_file_default_in_this_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = Settings.model_fields["interactive_processes"].default
    assert load_settings().interactive_processes == default
    (folder / "nightgrid.toml").write_text("interactive_processes = 5\n")
    assert load_settings().interactive_processes == 5
    monkeypatch.setenv("NIGHTGRID_INTERACTIVE_PROCESSES", "6")
    assert load_settings().interactive_processes == 6
    assert load_settings(interactive_processes=7).interactive_processes == 7
    monkeypatch.setenv("NIGHTGRID_INTERACTIVE_PROCESSES", "")
    assert load_settings(interactive_processes=None).interactive_processes == 5


def test_paths_of_a_file_are_relative_to_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "etc").mkdir()
    (folder / "etc" / "mine.toml").write_text('lake = "data/lake"\nvar_dir = "run"\n')
    monkeypatch.setenv("NIGHTGRID_CONFIG", "etc/mine.toml")
    settings = load_settings()
    assert settings.lake == str(folder / "etc" / "data" / "lake")
    assert settings.side_dir == folder / "etc" / "run"
    (folder / "etc" / "mine.toml").write_text('lake = "s3://bucket/lake"\n')
    assert load_settings().lake == "s3://bucket/lake"


def test_a_folder_that_may_not_be_entered_has_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given `sudo -u` in a home folder, Then a file that may not be seen ends no command."""

    def refuse(_: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    assert config_path() is None


def test_child_processes_have_the_settings_of_their_parent_wherever_they_work(folder: Path) -> None:
    (folder / "nightgrid.toml").write_text("poll_seconds = 0.25\nbudget_nodes = 7\n")
    parent = load_settings(batch_processes=3)
    other = folder / "other"
    other.mkdir()
    (other / "nightgrid.toml").write_text('poll_seconds = 9\nredis_url = "redis://elsewhere"\n')
    program = "from nightgrid.workers.settings import Settings; print(Settings().environment())"
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=other,
        env={**os.environ, **parent.environment()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == str(parent.environment())


def test_workers_that_are_to_load_no_game_load_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # An empty variable counts as unset, and unset means all games.
    for name, value in load_settings(games="").environment().items():
        monkeypatch.setenv(name, value)
    assert load_settings().game_names == ()


@pytest.mark.parametrize("name", [n for n, f in Settings.model_fields.items() if f.metadata])
def test_every_range_is_told_in_plain_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"NIGHTGRID_{name.upper()}", "-1")
    with pytest.raises(PermanentError) as error:
        load_settings()
    text = str(error.value)
    assert text.startswith(f"NIGHTGRID_{name.upper()} is -1; expected a ")
    assert "or more" in text or "above 0" in text or " from " in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#" * 65_537, r" is larger than 65,536 bytes$"),
        ("lake = " + "[" * 50_000, r": lists or tables are nested too deeply$"),
        ("batch_processes = " + "9" * 5_000, r" is not TOML: a number is too long$"),
        ("lake =", r" is not TOML: Invalid value"),
    ],
    ids=["large", "deep", "number", "no value"],
)
def test_a_file_without_bounds_is_refused(folder: Path, text: str, says: str) -> None:
    (folder / "nightgrid.toml").write_text("#" * 65_536)
    assert load_settings().lake == str(folder / "lake")
    (folder / "nightgrid.toml").write_text(text)
    with pytest.raises(PermanentError, match=rf"^{folder}/nightgrid.toml{says}"):
        load_settings()


PROGRAMS = (
    ("-m", "nightgrid.workers.ondemand.keeper"),
    ("-m", "nightgrid.workers.cluster.supervisor"),
    ("-m", "celery", "--app", "nightgrid.workers.app", "worker"),
    ("-m", "nightgrid.flows.prefect.deploy", "--source", "."),
)


@pytest.mark.slow
@pytest.mark.parametrize("words", PROGRAMS, ids=lambda words: words[1])
def test_a_program_whose_setting_is_wrong_says_one_sentence(words, tmp_path):
    environment = {**os.environ, "NIGHTGRID_BATCH_PROCESSES": "many"}
    command = [sys.executable, *words]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    says = "NIGHTGRID_BATCH_PROCESSES is many; expected a whole number from 1 to 1,024"
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[-1].endswith(f": {says}")
    assert len(done.stderr.splitlines()) == 1
