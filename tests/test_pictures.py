"""Every committed picture, rendered in a real Chromium: what it shows stands where it should."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from tests.chromium import Measured, Text, measured

ROOT = Path(__file__).resolve().parent.parent
SLACK_PX = 1.0
"""Texts are placed to a tenth of a pixel, and fonts are hinted."""
BODY = 0.3
"""Share of a line above its capital letters, and below its base line, about."""


def committed() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z", "*.svg", "*.png"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in names.split("\0") if name]


PICTURES = {path.relative_to(ROOT).as_posix(): path for path in committed()}


def wrong(inside: str, size: str = 'width="100" height="40"') -> str:
    """Make a picture around something that is wrong."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40" font-size="10"'
    return f"{head} {size}>{inside}</svg>"


CURVE = '<g id="line2d_1"><path clip-path="none" fill="none" stroke="red" d="M0 20H100"/></g>'
WRONG = {
    "blanks of ' a  b' are lost": wrong(
        '<text x="9" y="20" textLength="40"> a  b</text>',
        'width="100" height="40" xml:space="preserve"',
    ),
    "'b' is cut off at the side": wrong('<text x="99" y="20">b</text>'),
    "'c' is cut off below": wrong('<text x="9" y="45">c</text>'),
    "'d' and 'e' lie over one another": wrong(
        '<text x="9" y="20">d</text><text x="10" y="20">e</text>'
    ),
    "'f' does not show in an <img>": wrong('<text x="9" y="20" opacity="0">f</text>'),
    "'h' stands 2 beside its place": wrong('<text x="9" y="20" dx="2">h</text>'),
    "out of the picture: <circle": wrong('<circle cx="99" cy="9" r="9"/>'),
    "legend_1 covers curves": wrong(
        f'{CURVE}<g id="legend_1"><rect x="20" y="10" width="20" height="20"/></g>'
    ),
    "it does not say how large it is": wrong("", ""),
    "error": "<svg",
}
"""Pictures that are wrong, by what has to be said of them."""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    texts = {name: path.read_text(encoding="utf-8") for name, path in PICTURES.items()}
    return measured(texts | WRONG, tmp_path_factory.mktemp("chromium"))


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


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_right_in_chromium(name: str, rendered: dict[str, Measured]) -> None:
    assert faults(rendered[name]) == []


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_with_a_picture_is_found(said: str, rendered: dict[str, Measured]) -> None:
    found = faults(rendered[said])
    assert [fault for fault in found if fault.startswith(said) or said in fault], found
