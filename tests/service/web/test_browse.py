"""Browsing the lake in a real Chromium: boards in a table, a box for SQL, runs, the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.service.web.test_page import BESIDE, PHONE, Opened, serious_faults

pytestmark = [pytest.mark.cluster, BESIDE]


def test_boards_are_filtered_sorted_and_opened(opened: Opened) -> None:
    page = opened("/")
    page.get_by_role("link", name="Browse").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_label("game").select_option("pips")
    page.get_by_label("level").select_option("hard")
    page.get_by_role("button", name="states").click()
    sql = "select states from counts where game = 'pips' and level = 'hard' order by states desc"
    largest = page.request.post("/v1/query", data={"sql": sql}).json()["rows"]
    expect(rows.locator("td:nth-child(6)")).to_have_text([f"{states:,}" for (states,) in largest])
    page.get_by_label("from", exact=True).fill("2026-01-05")
    expect(rows).to_have_count(1)
    page.reload()
    page.get_by_role("link", name="2026-01-05").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("5 January 2026")


def test_the_lake_is_queried_in_sql(opened: Opened) -> None:
    page = opened("/browse?tab=sql")
    page.get_by_label("One SELECT").fill("select game, sum(count) as n from counts group by 1")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    with page.expect_download() as taken:
        page.get_by_role("button", name="save as CSV").click()
    assert taken.value.path().read_text().startswith("game,n\n")
    page.get_by_label("One SELECT").fill("select * from nothing")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("there is no view nothing")


def test_an_open_run_shows_its_rate_and_is_cancelled(opened: Opened) -> None:
    page = opened("/static/icon.svg")
    run = {"run_id": "ab" * 16, "state": "open", "game": "pips", "ask": "count", "jobs": 1000}
    run |= {"chunks_total": 10, "chunks_done": 1, "created_at": "2026-01-05T01:00:00+00:00"}

    def answer(route: Route) -> None:
        if route.request.method == "DELETE":
            run["state"] = "cancelled"
        run["chunks_done"] = min(9, int(str(run["chunks_done"])) + 1)
        route.fulfill(json=run | {"total": 1, "runs": [run]})

    page.route(re.compile("/v1/runs"), answer)
    page.goto("/browse?tab=runs")
    expect(page.locator("tbody")).to_contain_text("/s")
    page.get_by_role("button", name="cancel").click()
    expect(page.locator("tbody .state")).to_have_text("cancelled")


def test_the_api_is_read_and_tried(opened: Opened) -> None:
    page = opened("/")
    page.get_by_role("link", name="API").click()
    page.locator("#operations-games-list_games .opblock-summary-control").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table tbody")).to_contain_text("200")


@pytest.mark.parametrize("how", [{}, {"color_scheme": "dark", **PHONE}])
@pytest.mark.parametrize("place", ["/browse", "/browse?tab=sql", "/browse?tab=runs", "/api"])
def test_the_lake_is_accessible_and_fits_a_phone(
    opened: Opened, place: str, how: dict[str, Any]
) -> None:
    page = opened(place, bypass_csp=True, **how)
    expect(page.locator(".opblock, tbody tr, .views details").first).to_be_visible()
    # Swagger UI's own fault: headings that expand contain a button.
    assert [fault for fault in serious_faults(page) if "nested-interactive" not in fault] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
