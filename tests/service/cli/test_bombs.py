"""Every row of the table of bombs: one sentence, in a process with little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.cli import bombs

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="macOS bounds no address space"
)
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = tmp_path_factory.mktemp("bombs")
    bombs.write(made)
    return os.path.realpath(made)


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    command = [sys.executable, "-m", "benchmarks.instruments.limited_commands"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:

        def run(**asked: Any) -> dict[str, Any]:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        yield run
        assert process.stdin
        process.stdin.close()


@pytest.mark.parametrize("row", bombs.ROWS, ids=lambda row: row.what)
def test_a_bomb_is_one_sentence_within_the_limit(row: bombs.Bomb, ask: Ask, folder: str) -> None:
    env = {name: value.replace("FOLDER", folder) for name, value in row.env.items()}
    words = [word.replace("FOLDER", folder) for word in row.words]
    done = ask(words=words, folder=folder, env=env, limit_mb=bombs.LIMIT_MB)
    *before, said = done["err"].replace(folder, "FOLDER").splitlines()
    assert (done["code"], said) == (row.code, f"nightgrid: {row.says}")
    assert row.told or not before
    assert not [line for line in before if line.startswith("nightgrid:")]
