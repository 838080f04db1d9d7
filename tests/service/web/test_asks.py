"""Every ask that the page offers is answered for each game and level, in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.service.web.test_page import BESIDE, Opened, solve

pytestmark = [pytest.mark.cluster, BESIDE]
PLACES = {
    **{f"/?board=pips/2026-01-05/{n}": "Count First All" for n in ("easy", "medium", "hard")},
    "/?board=strands/2026-01-01/daily": "Count First Best All",
    "/?example=letterboxed": "Count First Best All",
    "/?example=tiles": "First Best",
}
"""The page's asks for a board."""


@pytest.mark.parametrize("place", PLACES)
def test_all_that_is_offered_is_answered(opened: Opened, place: str) -> None:
    page = opened(place)
    kinds = page.get_by_role("group", name="What is asked").locator("label")
    expect(kinds).to_have_text(PLACES[place].split())
    for kind in kinds.all():
        kind.click()
        with page.expect_response(lambda reply: reply.request.method == "POST") as asked:
            solve(page)
        assert asked.value.ok, asked.value.text()
        expect(page.locator(".result .count, .result .verdict").first).to_be_visible()
        expect(page.locator(".result")).to_have_attribute("aria-busy", "false")
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_ask_of_one_game_is_not_kept_for_another(opened: Opened) -> None:
    page = opened("/?example=letterboxed")
    page.get_by_text("Best", exact=True).click()
    page.get_by_label("How many solutions").fill("25")
    page.get_by_role("button", name="Tiles", exact=True).click()
    page.get_by_text("Best", exact=True).click()
    expect(page.get_by_label("How many solutions")).to_have_count(0)
    solve(page)
    expect(page.locator(".result .verdict")).to_contain_text("no fewer will do")
