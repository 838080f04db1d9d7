"""Shells complete commands and their options; commands are loaded on demand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
