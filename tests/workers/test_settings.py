"""Settings come from options, the environment and a file, in this order, and say what is wrong."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES
from nightgrid.solvers.sentences import without_credentials
from nightgrid.workers.settings import Settings, load_settings, setting_fields
from nightgrid.workers.settings_sources import config_path, expected
from nightgrid.workers.tuning import Tuning


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


def test_a_folder_or_a_dangling_link_instead_of_the_file_is_refused(folder: Path) -> None:
    path = folder / "nightgrid.toml"
    path.symlink_to(folder / "missing.toml")
    with pytest.raises(PermanentError, match="is not a file"):
        config_path()
    path.unlink()
    path.mkdir()
    with pytest.raises(PermanentError, match="is not a file"):
        config_path()


def test_child_processes_have_the_settings_of_their_parent_wherever_they_work(folder: Path) -> None:
    (folder / "nightgrid.toml").write_text("soft_shutdown_seconds = 0.25\nbudget_nodes = 7\n")
    parent = load_settings(batch_processes=3, tuning=Tuning(poll_seconds=0.125))
    other = folder / "other"
    other.mkdir()
    (other / "nightgrid.toml").write_text(
        'soft_shutdown_seconds = 9\nredis_url = "redis://elsewhere"\n'
    )
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


def test_a_comma_in_the_environment_and_an_empty_text_in_the_file_load_no_game(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "nightgrid.toml").write_text('games = ""\n')
    assert load_settings().game_names == ()
    (folder / "nightgrid.toml").write_text("")
    assert load_settings().game_names == tuple(GAMES)
    monkeypatch.setenv("NIGHTGRID_GAMES", ",")
    assert load_settings().game_names == ()


def test_a_settings_file_may_have_every_setting(folder: Path) -> None:
    (folder / "nightgrid.toml").write_text(
        'budget_seconds = 3\nsoft_shutdown_seconds = 1.5\nrank = true\nnight_report = "false"\n'
    )
    settings = load_settings()
    assert (settings.budget_seconds, settings.soft_shutdown_seconds) == (3, 1.5)
    assert (settings.rank, settings.night_report) == (True, False)


def test_a_file_that_the_system_does_not_give_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "nightgrid.toml").write_text("attempts_max = 7\n")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(PermanentError, match=r"nightgrid\.toml: Permission denied$"):
        load_settings()


def test_a_side_folder_and_a_prefix_that_cannot_be_used_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "nightgrid.toml").write_text('key_prefix = ""\n')
    monkeypatch.setenv("NIGHTGRID_VAR_DIR", "/dev/null/x")
    with pytest.raises(PermanentError) as error:
        load_settings()
    assert str(error.value) == (
        "NIGHTGRID_VAR_DIR is /dev/null/x; expected a folder, and /dev/null is none; "
        f"{folder}/nightgrid.toml: key_prefix is empty; expected how keys begin, such as nightgrid:"
    )


def test_faults_of_settings_are_reported_with_their_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusal(**options: object) -> str:
        with pytest.raises(PermanentError) as error:
            load_settings(**options)
        return str(error.value)

    ranges = "expected a whole number from 1 to 1,024"
    assert refusal(batch_processes=0) == f"--batch-processes is 0; {ranges}"
    monkeypatch.setenv("NIGHTGRID_BATCH_PROCESSES", "many")
    assert refusal() == f"NIGHTGRID_BATCH_PROCESSES is many; {ranges}"
    (folder / "nightgrid.toml").write_text("batch_processes = 0\n")
    assert refusal() == f"NIGHTGRID_BATCH_PROCESSES is many; {ranges}", "the file is not asked"
    assert refusal(games="chess", batch_processes=-1) == (
        "--games names an unknown game 'chess'; expected some of pips, strands, letterboxed, "
        f"tiles; --batch-processes is -1; {ranges}"
    )
    monkeypatch.delenv("NIGHTGRID_BATCH_PROCESSES")


@pytest.mark.parametrize(
    "url",
    [
        "redis://:secret@host:port",
        "redis://:secret@host:65536",
        "redis://:secret@[::1",
        "http://:secret@host:6379",
        "redis://:secret@host/0?ssl_ca_certs=ca.pem",
        "rediss://:secret@host/0?ssl_cert_reqs=maybe",
        "rediss://:secret@host/0?ssl_unknown=1",
    ],
)
def test_a_url_that_cannot_be_read_is_reported_in_one_sentence_without_the_password(
    url: str,
) -> None:
    with pytest.raises(PermanentError) as error:
        _ = Settings(redis_url=url).server_url  # type: ignore[arg-type]
    assert str(error.value) == (
        "NIGHTGRID_REDIS_URL cannot be read; expected redis://HOST:PORT, rediss://HOST:PORT or "
        "unix://PATH, with options of redis-py"
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:secret@host:6379/0", "redis://***@host:6379/0"),
        ("redis://:secret@host/0?x=:secret@", "redis://***@"),
        ("redis://:se/cret@host", "redis://***@host"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://:secret@[::bad", "redis://***@[::bad"),
    ],
)
def test_a_url_is_shown_without_its_credentials(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


PROGRAMS = (
    ("-m", "nightgrid.workers.ondemand.keeper"),
    ("-m", "nightgrid.workers.cluster.supervisor"),
    ("-m", "celery", "--app", "nightgrid.workers.app", "worker"),
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


def test_constants_are_no_settings(folder: Path) -> None:
    assert len(setting_fields()) <= 35
    (folder / "nightgrid.toml").write_text("poll_seconds = 1\n")
    with pytest.raises(PermanentError, match="'poll_seconds' is not a setting"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("batch_processes", "a whole number from 1 to 1,024"),
        ("http_connections", "a whole number of 16 or more"),
        ("budget_nodes", "a whole number of 1 or more"),
        ("soft_shutdown_seconds", "a number of 0 or more"),
        ("budget_seconds", "a number above 0"),
        ("lake", "a text in quotes"),
        ("redis_url", "a text in quotes"),
        ("var_dir", "a path"),
        ("rank", "true or false"),
    ],
)
def test_accepted_values_of_settings_are_described(name: str, says: str) -> None:
    assert expected(Settings.model_fields[name]) == says
