"""Colour is switched by the environment and by the kind of output."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from nightgrid.service.terminal.colour import coloured, console
from nightgrid.service.terminal.console import say_table
from nightgrid.service.terminal.progress import MovingLine
from tests.service.scenes import PAIR, STUCK, environment

Invoke = Callable[..., tuple[int, str, str]]
Write = Callable[..., str]
ESCAPE = "\x1b["


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("no_color", "force_color", "terminal", "term", "expected"),
    [
        ("", "", True, "xterm", True),
        ("", "", False, "xterm", False),
        ("", "", True, "dumb", False),
        ("1", "", True, "xterm", False),
        ("", "1", False, "xterm", True),
        ("1", "1", True, "xterm", False),
    ],
)
def test_environment_and_output_decide(
    no_color: str,
    force_color: str,
    terminal: bool,
    term: str,
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("FORCE_COLOR", force_color)
    monkeypatch.setenv("TERM", term)
    stream = Terminal() if terminal else io.StringIO()
    assert coloured(stream) is expected
    console(stream).print("text", style="bold red on #aedfee")
    assert (ESCAPE in stream.getvalue()) is expected


COMMANDS = {
    "board": ("show {pair}", 0),
    "answer": ("solve {pair} --count", 0),
    "failure": ("solve {stuck}", 2),
    "error": ("solve nowhere.json", 3),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_answers_and_errors_obey(
    invoke: Invoke,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    environment: dict[str, str],
    expected: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    words, expected_code = COMMANDS[command]
    files = {"pair": write(PAIR, "pair.json"), "stuck": write(STUCK, "stuck.json")}
    code, out, err = invoke(*words.format(**files).split())
    assert code == expected_code, err
    assert (ESCAPE in out + err) is expected


def test_a_terminal_gets_no_escape_code_if_none_is_wanted(write: Write) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "nightgrid.service.cli.app", "solve", write(PAIR)],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=environment() | {"NO_COLOR": "1"},
    )
    os.close(follower)
    told = b""
    with contextlib.suppress(OSError):  # Raised at the end of a terminal.
        while part := os.read(leader, 65_536):
            told += part
    os.close(leader)
    assert process.wait(60) == 0
    assert "┌*".encode() in told
    assert b"\x1b" not in told


@pytest.mark.parametrize(("variable", "expected"), [("FORCE_COLOR", True), ("NO_COLOR", False)])
def test_tables_and_progress_obey(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    expected: bool,
) -> None:
    monkeypatch.setenv(variable, "1")
    say_table(("a", "b"), [("1", "2")], title="Table")
    assert (ESCAPE in capsys.readouterr().out) is expected
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        line = MovingLine()
        line.show(1, 2, "half")
        line.close()
        assert "half" in stream.getvalue()
        coloured = re.search(r"\x1b\[[\d;]+m", stream.getvalue())
        assert bool(coloured) is (expected and stream.isatty())
    assert stream.getvalue() == "half\n", "no moving line in a file, forced or not"
