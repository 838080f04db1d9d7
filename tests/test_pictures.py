"""Committed pictures are whole, can be made again, and show what the command prints."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nightgrid.service.cli.app import main

ROOT = Path(__file__).resolve().parent.parent
DRAWN = runpy.run_path(str(ROOT / "docs/picture.py"))
TAKEN = runpy.run_path(str(ROOT / "docs/screenshots.py"))
DRAWINGS = sorted((ROOT / "docs").rglob("*.svg"))
PHOTOGRAPHS = sorted((ROOT / "docs").rglob("*.png"))
"""Pictures of the page, which docs/screenshots.py takes."""
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.name)
def test_a_drawing_says_how_large_it_is(path: Path) -> None:
    assert {"width", "height", "viewBox"} <= set(ET.parse(path).getroot().attrib)


def test_photographs_can_be_taken_again() -> None:
    assert PHOTOGRAPHS
    assert {path.stem for path in PHOTOGRAPHS} <= set(TAKEN["SHOTS"])


def printed(text: str) -> str:
    """Leave out blanks, and how long things took."""
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
