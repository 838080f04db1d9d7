"""Shells complete commands and their options; commands are loaded when they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nightgrid.service.cli.app import main
from nightgrid.solvers.registry import GAMES

SHELLS = {
    "bash": lambda text: {"COMP_WORDS": text, "COMP_CWORD": str(len(text.split()) - 1)},
    "zsh": lambda text: {"_TYPER_COMPLETE_ARGS": text},
    "fish": lambda text: {
        "_TYPER_COMPLETE_ARGS": text,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("typed", "wanted"), [("nightgrid sol", "solve"), ("nightgrid solve --disj", "--disjoint")]
)
def test_a_shell_completes_commands_and_options(shell: str, typed: str, wanted: str) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "nightgrid.service.cli.app"],
        env={**os.environ, "_NIGHTGRID_COMPLETE": f"complete_{shell}", **SHELLS[shell](typed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert wanted in said.stdout


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("solve --game s", ["strands"]),
        ("count --game ", list(GAMES)),
        ("generate --game ti", ["tiles"]),
        ("nightly --game le", ["letterboxed"]),
        ("demo --game p", ["pips"]),
        ("list ", ["puzzles", "results", "quarantine"]),
        ("list puz", ["puzzles"]),
        ("list results --status over", ["over_budget"]),
        ("list results --status solved,in", ["solved,invalid"]),
        ("list puzzles --format c", ["csv"]),
        ("show --level e", ["easy"]),
        ("generate --level lo", ["loose"]),
        ("count --ask c", ["count"]),
        ("reduce sum", ["sum-pips"]),
    ],
)
def test_bash_completes_values(
    typed: str,
    wanted: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = f"nightgrid {typed}"
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    monkeypatch.setenv("_NIGHTGRID_COMPLETE", "complete_bash")
    with pytest.raises(SystemExit):
        main(())
    assert capsys.readouterr().out.split() == wanted


def test_completing_a_value_loads_nothing_heavy() -> None:
    asked = {"COMP_WORDS": "nightgrid solve --game s", "COMP_CWORD": "3"}
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "nightgrid.service.cli.app"],
        env={**os.environ, **asked, "_NIGHTGRID_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.split() == ["strands"]
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in said.stderr.splitlines()
    }
    assert not loaded & {"numba", "pyarrow", "prefect", "celery", "pydantic_settings", "duckdb"}
