"""Every row of the table of bad inputs: one sentence, one exit code, nothing on standard output."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.service.cli.app import main
from nightgrid.service.cli.commands import COMMANDS
from nightgrid.service.cli.demo import SAMPLES
from tests.service.cli.bad_inputs import FILES, rows

LEAKS = re.compile(r"Traceback|pydantic|Arrow[A-Z]|Errno|Error:|NoneType|Input should|object at 0x")
"""Words of libraries and of Python."""
AS_PROCESSES = (
    "generate --days 0",
    "solve odd.json --json",
    "status --lake ftp://host/lake",
    "wrong",
)
"""Rows that also run as processes."""


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The boards of Pips of a date, and those of a corpus of which two ids begin alike."""
    from nightgrid.archive.corpus.corpus import open_corpus
    from nightgrid.archive.lake.storage import Lake

    folder = Path(os.path.realpath(tmp_path_factory.mktemp("table")))
    (folder / "source").mkdir()
    shutil.copy(SAMPLES["pips"] / "2026-01-01.json", folder / "source")
    words = ("--source", str(folder / "source"), "--lake", str(folder / "lake"))
    assert main(("nightly", *words, "--inline", "--no-prefect")) == 0
    open_corpus(Lake.open(str(folder / "lake")), "pips:n=400,mix=easy,seed=7")
    return str(folder / "lake")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return os.path.realpath(tmp_path)


def _typed(row: dict[str, Any]) -> str:
    return " ".join([*(f"{name}={value}" for name, value in row["env"].items()), *row["words"]])


def test_the_table_is_long_enough_and_has_no_row_twice() -> None:
    typed = [(*row["words"], *row["env"].items()) for row in rows()]
    assert len(typed) >= 60
    assert len(set(typed)) == len(typed)
    assert sum("prints" in row for row in rows()) >= 6


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_command_is_in_the_table(command: str) -> None:
    assert any(row["words"][0] == command for row in rows())


@pytest.mark.parametrize("row", rows(), ids=_typed)
def test_a_bad_input_is_one_sentence(
    row: dict[str, Any],
    invoke: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    lake: str,
) -> None:
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value.replace("FOLDER", folder))
    words = (word.replace("FOLDER", folder).replace("LAKE", lake) for word in row["words"])
    code, out, err = invoke(*words)
    said = err.replace(folder, "FOLDER").replace(lake, "LAKE")
    printed = out.replace(folder, "FOLDER").replace(lake, "LAKE").splitlines()
    assert (code, said.splitlines()) == (row["code"], [*row.get("told", ()), row["says"]])
    assert list(map(json.loads, printed)) == row.get("prints", [])
    assert not LEAKS.search(err)


@pytest.mark.parametrize("typed", AS_PROCESSES)
def test_a_process_says_the_same(
    typed: str, nightgrid: Callable[..., subprocess.CompletedProcess[str]], folder: str
) -> None:
    (row,) = (row for row in rows() if _typed(row) == typed)
    done = nightgrid(*row["words"])
    said = done.stderr.replace(folder, "FOLDER").splitlines()
    assert (done.returncode, said) == (row["code"], [row["says"]])
    assert list(map(json.loads, done.stdout.splitlines())) == row.get("prints", [])
