"""Boards of all games are played in a real Chromium: by mouse, by touch, by keyboard."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from nightgrid.service.games.plug import SAMPLES
from tests.service.web.conftest import WAIT_MS
from tests.service.web.test_page import BESIDE, PHONE

pytestmark = [pytest.mark.cluster, BESIDE]
expect.set_options(timeout=WAIT_MS)
Opened = Callable[..., Page]
PIPS, STRANDS = "/?board=pips/2026-01-05/easy", "/?board=strands/2026-01-01/daily"
PLACES = {"pips": PIPS, "strands": STRANDS, "letterboxed": "/?example=letterboxed"}
PLACES |= {"tiles": "/?example=tiles"}


def rest(page: Page, place: str, moves: Any = ()) -> list[Any]:
    """Ask what is left to play."""
    _, name = place.split("=")
    games = {game["game"]: game for game in page.request.get("/v1/games").json()["games"]}
    body = {"id": name} if "board" in place else {"game": name, "puzzle": games[name]["example"]}
    reply = page.request.post("/v1/hints", data=body | {"moves": list(moves)})
    assert reply.ok, reply.text()
    left: list[Any] = reply.json()["moves"]
    return left


def cell(page: Page, at: list[int]) -> Locator:
    return page.locator(f"[data-cell='{at[0]},{at[1]}']")


def is_solved(page: Page) -> None:
    expect(page.locator(".play-told")).to_have_text("Solved.")


def place_domino(page: Page, move: list[Any], press: str) -> None:
    one, other, a, b = move
    hand = page.get_by_label(re.compile(f"^({a}-{b}|{b}-{a})$")).first
    getattr(hand, press)()
    if hand.get_attribute("aria-label") != f"{a}-{b}":
        getattr(hand, press)()
    getattr(cell(page, one), press)()
    getattr(cell(page, other), press)()


@pytest.mark.parametrize("press", ["click", "tap"])
def test_pips_is_played(opened: Opened, press: str) -> None:
    page = opened(f"{PIPS}&play=", **(PHONE if press == "tap" else {}))
    moves = rest(page, PIPS)
    expect(page.locator(".count")).to_have_text(str(len(moves)))
    for i, move in enumerate(moves):
        place_domino(page, move, press)
        expect(page.locator(".count")).to_have_text(str(len(moves) - i - 1))
    is_solved(page)


def test_pips_is_played_with_keys_and_shared_by_its_address(opened: Opened) -> None:
    page = opened(f"{PIPS}&play=")
    one, other, a, b = rest(page, PIPS)[0]
    hand = page.get_by_label(re.compile(f"^({a}-{b}|{b}-{a})$")).first
    hand.press("Enter")
    if hand.get_attribute("aria-label") != f"{a}-{b}":
        hand.press("Enter")
    cell(page, one).press("Space")
    cell(page, one).press("ArrowRight" if one[0] == other[0] else "ArrowDown")
    expect(cell(page, other)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"&play=\(\("))
    shared = opened(page.url)
    expect(cell(shared, one)).to_have_attribute("aria-label", re.compile(f"{a} pips$"))
    cell(shared, one).click()
    expect(cell(shared, one)).to_have_attribute("aria-label", re.compile("free$"))


def test_a_domino_is_drawn_across_its_cells_and_a_dead_end_is_told(opened: Opened) -> None:
    page = opened(f"{PIPS}&play=")
    moves = rest(page, PIPS)
    (one, other, a, b), wrong = moves[0], moves[1]
    there = wrong[2:] if {wrong[2], wrong[3]} != {a, b} else moves[2][2:]
    page.get_by_label(re.compile(f"^({there[0]}-{there[1]}|{there[1]}-{there[0]})$")).first.click()
    cell(page, one).hover()
    page.mouse.down()
    cell(page, other).hover()
    page.mouse.up()
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".play-told")).to_contain_text("This leads nowhere")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Hint", exact=True).click()
    expect(page.locator(".is-hint")).to_have_count(2)
    page.get_by_role("button", name="Reveal").click()
    expect(page.locator(".play-told")).to_have_text("This is a solution.")


def letter(page: Page, at: list[int]) -> Locator:
    return page.locator(f"[data-at='{at[0]},{at[1]}']")


@pytest.mark.parametrize("how", ["drag", "tap", "keys"])
def test_strands_is_played(opened: Opened, how: str) -> None:
    page = opened(f"{STRANDS}&play=", **(PHONE if how == "tap" else {}))
    payload = json.loads((SAMPLES / "strands" / "2026-01-01.json").read_text())
    for path in rest(page, STRANDS):
        if how == "drag":
            letter(page, path[0]).hover()
            page.mouse.down()
            for at in path[1:]:
                letter(page, at).hover()
            page.mouse.up()
        elif how == "tap":
            for at in [*path, path[-1]]:
                letter(page, at).tap()
        else:
            for at in path:
                letter(page, at).press("Space")
            page.keyboard.press("Enter")
        expect(letter(page, path[0])).to_have_attribute("aria-label", re.compile(", in [A-Z]+$"))
    is_solved(page)
    words = {text.split()[0] for text in page.locator(".word").all_inner_texts()}
    assert words == {*payload["themeWords"], payload["spangram"]}, "the published words"


def test_a_word_that_is_none_is_taken_back(opened: Opened) -> None:
    page = opened(f"{STRANDS}&play=")
    for at in ([0, 0], [0, 1], [0, 2], [0, 3], [0, 4], [0, 4]):
        letter(page, at).click()
    expect(page.locator(".play-told")).to_contain_text("is no word of the list")
    expect(page.locator(".word")).to_have_count(0)


@pytest.mark.parametrize("how", ["type", "tap"])
def test_letter_boxed_is_played(opened: Opened, how: str) -> None:
    place = PLACES["letterboxed"]
    page = opened(f"{place}&play=", **(PHONE if how == "tap" else {}))
    field = page.get_by_label("Word", exact=True)
    field.fill("ZZZ")
    field.press("Enter")
    expect(page.locator(".play-told")).to_contain_text("ZZZ is no word")
    field.fill("")
    for i, word in enumerate(rest(page, place)):
        if how == "type":
            field.fill(word.lower())
            field.press("Enter")
        else:
            for one in word[1:] if i else word:
                page.get_by_role("button", name=re.compile(f"^{one}, side")).tap()
            page.get_by_role("button", name="Play it", exact=True).tap()
        expect(page.locator(".chain")).to_contain_text(word)
    is_solved(page)


@pytest.mark.parametrize("how", ["click", "tap", "keys"])
def test_tiles_is_played(opened: Opened, how: str) -> None:
    place = PLACES["tiles"]
    page = opened(f"{place}&play=", **(PHONE if how == "tap" else {}))
    moves = rest(page, place)
    for tile in moves:
        here = page.locator(f"[data-at='{tile // 6},{tile % 6}']")
        here.press("Enter") if how == "keys" else getattr(here, how)()
        expect(here).to_have_attribute("aria-selected", "true")
    is_solved(page)
    expect(page.locator(".playing .verdict")).to_contain_text(f"{len(moves) - 1} moves")


@pytest.mark.parametrize("game", PLACES)
@pytest.mark.parametrize("how", [{}, {"color_scheme": "dark", **PHONE}])
def test_play_is_accessible_and_fits_a_phone(
    opened: Opened, game: str, how: dict[str, Any]
) -> None:
    page = opened(PLACES[game], bypass_csp=True, **how)
    page.get_by_role("button", name="Play it", exact=True).click()
    page.get_by_role("button", name="Hint", exact=True).click()
    page.get_by_role("button", name="Play the hint").click()
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []
    if how:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="back to the solver").click()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_visible()
