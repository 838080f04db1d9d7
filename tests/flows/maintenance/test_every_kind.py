"""Harm to a file of each kind, done to whole lakes and told by whole commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.long(
    short="tests/flows/maintenance/test_maintenance.py::test_harm_to_a_file_of_each_kind_is_found"
)
@pytest.mark.parametrize("harm", ["100 random bytes", "a link to nothing", "a folder with a file"])
def test_no_harm_to_a_table_of_answers_is_silent(harm: str) -> None:
    """Given merged tables that come to harm, Then no command is silent and no answer is another."""
    command = ["-m", "benchmarks.chaos.lakes.every_kind", "--only", "solutions", "--harms", harm]
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
