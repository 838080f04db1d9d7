"""The command line, as a process and in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.scenes import environment


@pytest.fixture(scope="session", autouse=True)
def _kernels() -> None:
    """Compile the kernels before any test checks the output and the time of a process."""
    from nightgrid.solvers.registry import game

    game("pips").warm()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write a JSON value to a file and return its path."""

    def write_file(value: Any, name: str = "input.json") -> str:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    return write_file


@pytest.fixture
def nightgrid(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a process, as a person would."""

    def run(
        *words: str, stdin: str = "", timeout: float = 120, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nightgrid.service.cli.app", *words],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment(**extra),
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def invoke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process; return exit code, standard output and error."""
    from nightgrid.service.cli.app import main

    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("NIGHTGRID_"):
            monkeypatch.delenv(name)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return call
