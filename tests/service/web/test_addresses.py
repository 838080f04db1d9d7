"""Addresses of the page that name nothing, or not a single board, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.service.web.conftest import WAIT_MS

Opened = Callable[..., Page]
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.long(
        short="tests/service/web/test_page.py::test_a_day_is_picked_and_its_known_answer_is_there"
    ),
]
expect.set_options(timeout=WAIT_MS)


def test_the_address_of_a_game_is_its_newest_board(opened: Opened) -> None:
    page = opened("/?board=pips")
    expect(page).to_have_url(re.compile(r"\?board=pips/2026-01-05/hard$"))
    expect(page.locator("svg.board")).to_be_visible()


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("/?board=pips/2031-01-01/hard", "is not in the lake"),
        ("/?board=pips/tomorrow", "expected a date as YYYY-MM-DD"),
        ("/?solve=" + "0" * 32, "Nothing was submitted under this address"),
    ],
)
def test_an_unknown_address_is_reported_once(opened: Opened, place: str, told: str) -> None:
    page = opened(place)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(told)
    assert alert.inner_text().count(told) == 1
    assert "/2031" not in alert.inner_text()
    if place.startswith("/?solve="):
        # The newest board, from which one can continue.
        expect(page.locator("svg.board")).to_be_visible()
        return
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing to show")
    expect(page.get_by_role("region", name="Board", exact=True)).to_contain_text("Choose a day")
    page.get_by_role("button", name="Strands", exact=True).click()
    expect(page.locator("svg.board")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
