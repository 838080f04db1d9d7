"""Committed pictures are reproducible, and show the output of commands."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nightgrid.service.cli.app import main

ROOT = Path(__file__).resolve().parent.parent
DRAWN = runpy.run_path(str(ROOT / "docs/picture.py"))
TEXT = "{http://www.w3.org/2000/svg}text"


def printed(text: str) -> str:
    """Remove blanks and durations."""
    return "".join(re.sub(r"\d[\d.,]*\s*(ns|µs|ms|s)\b", "TIME", text).split())


def test_the_terminal_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    words = DRAWN["PICTURES"]["solve.svg"]
    assert main(words) == 0
    told = f"$ {' '.join(['nightgrid', *words])}{capsys.readouterr().out}"
    shown = "".join("".join(e.itertext()) for e in ET.parse(ROOT / "docs/solve.svg").iter(TEXT))
    assert printed(shown) == printed(told), "run docs/picture.py solve.svg"
