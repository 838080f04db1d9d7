"""Playing boards of all games in a real Chromium: by mouse, touch and keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.service.web.test_page import BESIDE, PHONE, Opened, serious_faults

pytestmark = [pytest.mark.cluster, BESIDE]
PLACES = {
    "pips": "/?board=pips/2026-01-05/easy",
    "strands": "/?board=strands/2026-01-01/daily",
    "letterboxed": "/?example=letterboxed",
    "tiles": "/?example=tiles",
}
KEYS = {"pips": "Enter", "strands": "Space", "tiles": "Enter"}


def solution(page: Page, game: str) -> list[Any]:
    """Return the moves that solve a board."""
    about = {each["game"]: each for each in page.request.get("/v1/games").json()["games"]}[game]
    name = PLACES[game].partition("=")[2]
    body = {"id": name} if "/" in name else {"game": game, "puzzle": about["example"]}
    moves: list[Any] = page.request.post("/v1/hints", data=body).json()["moves"]
    return moves


def make(page: Page, game: str, how: str, move: Any) -> None:
    """Make one move: `how` is click, tap, drag or keys."""

    def press(at: Locator) -> None:
        at.press(KEYS[game]) if how == "keys" else getattr(at, "click" if how == "drag" else how)()

    if game == "letterboxed" and how == "keys":
        page.get_by_label("Word", exact=True).fill(move.lower())
        page.keyboard.press("Enter")
    elif game == "letterboxed":
        for letter in move[page.get_by_label("Word", exact=True).input_value() != "" :]:
            press(page.get_by_role("button", name=re.compile(f"^{letter}, .* side")))
        press(page.get_by_role("button", name="Play it", exact=True))
    elif game == "tiles":
        press(page.locator(f"[data-at='{move // 6},{move % 6}']"))
    else:
        path, cell = (move[:2], "data-cell") if game == "pips" else (move, "data-at")
        cells = [page.locator(f"[{cell}='{r},{c}']") for r, c in path]
        if game == "pips":
            a, b = move[2:]
            hand = page.get_by_label(re.compile(f"^({a}-{b}|{b}-{a})$")).first
            press(hand)
            if hand.get_attribute("aria-label") != f"{a}-{b}":
                press(hand)
        if how == "drag":
            cells[0].hover()
            page.mouse.down()
            for each in cells[1:]:
                each.hover()
            page.mouse.up()
            return
        for each in cells:
            press(each)
        if game == "strands":
            page.keyboard.press("Enter") if how == "keys" else press(cells[-1])


WAYS = [(game, how) for game in PLACES for how in ("click", "tap", "keys")]
WAYS += [("pips", "drag"), ("strands", "drag")]


@pytest.mark.parametrize(("game", "how"), WAYS)
def test_a_board_is_played_to_its_end(opened: Opened, game: str, how: str) -> None:
    page = opened(f"{PLACES[game]}&play=", **(PHONE if how == "tap" else {}))
    for move in solution(page, game):
        before = page.url
        make(page, game, how, move)
        page.wait_for_url(lambda now, before=before: now != before)
    expect(page.locator(".play-told")).to_have_text("Solved.")


def test_moves_are_shared_and_a_dead_end_is_reported(opened: Opened) -> None:
    """Given a misplaced domino, When checked, Then that is proven, and corrected."""
    page = opened(f"{PLACES['pips']}&play=")
    (one, other, *_), (*_, a, b) = solution(page, "pips")[:2]
    make(page, "pips", "click", [one, other, a, b])
    page.wait_for_url(re.compile(r"&play=\(\("))
    shared = opened(page.url)
    shared.get_by_role("button", name="Check").click()
    expect(shared.locator(".play-told")).to_contain_text("This leads nowhere")
    shared.locator(f"[data-cell='{one[0]},{one[1]}']").click()
    shared.get_by_role("button", name="Hint", exact=True).click()
    expect(shared.locator(".is-hint")).to_have_count(2)
    shared.get_by_role("button", name="Reveal").click()
    expect(shared.locator(".play-told")).to_have_text("This is a solution.")


def test_a_word_that_is_invalid_is_taken_back(opened: Opened) -> None:
    page = opened(f"{PLACES['strands']}&play=")
    make(page, "strands", "click", [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]])
    expect(page.locator(".play-told")).to_contain_text("is not in the word list")
    expect(page.locator(".word")).to_have_count(0)


@pytest.mark.parametrize("game", PLACES)
@pytest.mark.parametrize("how", [{}, {"color_scheme": "dark", **PHONE}])
def test_play_is_accessible_and_fits_a_phone(
    opened: Opened, game: str, how: dict[str, Any]
) -> None:
    page = opened(PLACES[game], bypass_csp=True, **how)
    for name in ("Play it", "Hint", "Play the hint", "Hint"):
        page.get_by_role("button", name=name, exact=True).click()
    assert serious_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_role("button", name="back to the solver").click()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_visible()
