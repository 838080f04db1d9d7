"""Every committed picture, rendered in a real Chromium: what it shows stands where it should."""

from __future__ import annotations

import itertools
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from nightgrid.service.cli.app import main
from tests.chromium import Measured, Text, measured

ROOT = Path(__file__).resolve().parent.parent
SLACK_PX = 1.0
"""Texts are placed to a tenth of a pixel, and fonts are hinted."""
COLUMN_SLACK = 0.05
"""Share of a column or a line that a character may be beside its own."""
BODY = 0.3
"""Share of a line above its capital letters, and below its base line, about."""


def committed() -> list[Path]:
    """Name every picture that is tracked; those of docs/ where this is no clone."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return sorted((ROOT / "docs").rglob("*.svg"))
    command = ["git", "ls-files", "-z", "*.svg", "*.png", "*.jpg", "*.gif"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in done.stdout.split("\0") if name]


DRAWN = runpy.run_path(str(ROOT / "docs/picture.py"))
TAKEN = runpy.run_path(str(ROOT / "docs/screenshots.py"))
PICTURES = {path.relative_to(ROOT).as_posix(): path for path in committed()}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    texts = {
        name: path.read_text(encoding="utf-8")
        for name, path in PICTURES.items()
        if path.suffix == ".svg"
    }
    return measured(texts, tmp_path_factory.mktemp("chromium"))


def body(text: Text) -> tuple[float, float, float, float]:
    """Leave out of a text's box what holds accents and the space between lines."""
    left, top, right, bottom = text["box"]
    rim = BODY * (bottom - top)
    return left + SLACK_PX, top + rim, right - SLACK_PX, bottom - rim


def faults(picture: Measured) -> list[str]:
    """Say everything that is wrong with a picture, as its viewers would see it."""
    if picture["error"]:
        return [picture["error"]]
    found = [] if picture["sized"] else ["it does not say how large it is"]
    found += [f"out of the picture: {figure}" for figure in picture["outside"]]
    found += [f"{legend} covers curves" for legend in picture["covered"]]
    for text in picture["texts"]:
        words = text["text"]
        left, top, right, bottom = text["box"]
        # Units of UTF-16, which the browser counts.
        if text["shown"] != len(words.encode("utf-16-le")) // 2:
            found.append(f"blanks of {words!r} are lost: {text['shown']} of {len(words)} left")
        if abs(text["slid"]) > SLACK_PX:
            found.append(f"{words!r} stands {text['slid']:.0f} beside its place")
        if min(left, top) < -SLACK_PX or right > picture["width"] + SLACK_PX:
            found.append(f"{words!r} is cut off at the side")
        if bottom > picture["height"] + SLACK_PX:
            found.append(f"{words!r} is cut off below")
        if not text["ink"]:
            found.append(f"{words!r} does not show in an <img>")
    for one, other in itertools.combinations(picture["texts"], 2):
        (a, b, c, d), (e, f, g, h) = body(one), body(other)
        if max(a, e) < min(c, g) and max(b, f) < min(d, h):
            found.append(f"{one['text']!r} and {other['text']!r} lie over one another")
    return found


DRAWINGS = [name for name, path in PICTURES.items() if path.suffix == ".svg"]
PHOTOGRAPHS = [name for name, path in PICTURES.items() if path.suffix == ".png"]
"""Pictures of the page, which docs/screenshots.py takes."""


def test_every_picture_is_svg_or_png_and_is_looked_at() -> None:
    assert set(PICTURES) == {*DRAWINGS, *PHOTOGRAPHS}
    assert len(DRAWINGS) > 15


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photograph_can_be_taken_again(name: str) -> None:
    assert Path(name).stem in TAKEN["SHOTS"]


@pytest.mark.parametrize("name", DRAWINGS)
def test_picture_is_right_in_chromium(name: str, rendered: dict[str, Measured]) -> None:
    assert faults(rendered[name]) == []


def terminal_lines(picture: Measured) -> list[str]:
    """Read a picture of a terminal as Chromium shows it: each character by its place."""
    shown: dict[tuple[int, int], str] = {}
    for text in picture["texts"]:
        for character, (x, y) in zip(text["text"], text["chars"], strict=True):
            column = (x - DRAWN["EDGE_PX"]) / DRAWN["CHAR_PX"]
            line = (y - DRAWN["EDGE_PX"] - DRAWN["BASE_PX"]) / DRAWN["LINE_PX"]
            assert abs(column - round(column)) < COLUMN_SLACK, (character, x)
            assert abs(line - round(line)) < COLUMN_SLACK, (character, y)
            shown[round(line), round(column)] = character
    wide, high = (1 + max(place[i] for place in shown) for i in (1, 0))
    return ["".join(shown.get((r, c), " ") for c in range(wide)).rstrip() for r in range(high)]


def timeless(text: str) -> str:
    """Leave out how long things took."""
    return re.sub(r"\d[\d.,]* (ns|µs|ms|s)\b", "TIME", text)


def test_the_terminal_shows_what_the_command_prints(
    rendered: dict[str, Measured],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    words = DRAWN["PICTURES"]["solve.svg"]
    assert main(words) == 0
    told = [f"$ {' '.join(['nightgrid', *words])}", "", *capsys.readouterr().out.splitlines()]
    shown = "\n".join(terminal_lines(rendered["docs/solve.svg"]))
    assert timeless("\n".join(told)) == timeless(shown), "run docs/picture.py solve.svg"
