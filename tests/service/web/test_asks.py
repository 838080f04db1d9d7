"""Each game is asked all that its page offers, on every level, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.service.web.conftest import WAIT_MS

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.long(
        short="tests/service/web/test_page.py::test_a_day_is_picked_and_its_known_answer_is_there"
    ),
]
expect.set_options(timeout=WAIT_MS)
Opened = Callable[..., Page]
ASKS = {
    "pips": ["Count", "First", "All"],
    "strands": ["Count", "First", "Best", "All"],
    "letterboxed": ["Count", "First", "Best", "All"],
    "tiles": ["First", "Best"],
}
"""What the page offers of each game."""


@pytest.mark.parametrize(
    ("place", "game"),
    [
        *((f"/?board=pips/2026-01-05/{level}", "pips") for level in ("easy", "medium", "hard")),
        ("/?board=strands/2026-01-01/daily", "strands"),
        ("/?example=letterboxed", "letterboxed"),
        ("/?example=tiles", "tiles"),
    ],
)
def test_all_that_is_offered_is_answered(opened: Opened, place: str, game: str) -> None:
    page = opened(place)
    kinds = page.get_by_role("group", name="What is asked").locator("label")
    expect(kinds).to_have_text(ASKS[game])
    for kind in ASKS[game]:
        kinds.get_by_text(kind, exact=True).click()
        with page.expect_response(lambda reply: reply.request.method == "POST") as asked:
            page.get_by_role("button", name="Solve", exact=True).click()
        assert asked.value.ok, asked.value.text()
        expect(page.locator(".result .count, .result .verdict").first).to_be_visible()
        expect(page.locator(".result")).to_have_attribute("aria-busy", "false")
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_ask_of_one_game_is_not_kept_for_another(opened: Opened) -> None:
    page = opened("/?example=letterboxed")
    page.get_by_text("Best", exact=True).click()
    page.get_by_label("How many solutions").fill("25")
    page.get_by_role("button", name="Tiles", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?example=tiles$"))
    page.get_by_text("Best", exact=True).click()
    expect(page.get_by_label("How many solutions")).to_have_count(0)
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.locator(".result .verdict")).to_contain_text("no fewer will do")
