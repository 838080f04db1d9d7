"""The page while the service is down, and when it is back, in a real Chromium."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.service.web.conftest import WAIT_MS

Opened = Callable[..., Page]
pytestmark = [pytest.mark.cluster]
BESIDE = pytest.mark.long(
    short="tests/service/web/test_page.py::test_a_day_is_picked_and_its_known_answer_is_there"
)
expect.set_options(timeout=WAIT_MS)


class Job:
    """A solve that the page follows; the test sends its events."""

    def __init__(self, page: Page) -> None:
        self.page = page
        known = page.request.get("/v1/puzzles/pips/2026-01-05?level=hard").json()
        path = known["boards"][0]["results"][0]["id"]
        self.done = page.request.get(f"/v1/solves/{path}").json()
        begun_at = dt.datetime.now(dt.UTC).isoformat()
        self.running = self.done | {"state": "running", "answer": None, "created_at": begun_at}
        self.waiting: list[Route] = []
        self.events = 0
        page.route("**/v1/solves", lambda route: route.fulfill(status=202, json=self.running))
        page.route(f"**/v1/solves/{path}", lambda route: route.fulfill(json=self.running))
        page.route("**/events", self.wait)

    def wait(self, route: Route) -> None:
        """Hold a request for events until one is sent."""
        self.waiting.append(route)

    def tell(self, *events: tuple[str, dict[str, Any]]) -> None:
        """Send events to the page once it asks for them, and cut the stream."""
        while not self.waiting:
            self.page.wait_for_timeout(20)
        lines = []
        for name, data in events:
            self.events += 1
            lines.append(f"id: {self.events}\nevent: {name}\ndata: {json.dumps(data)}\n\n")
        self.waiting.pop(0).fulfill(content_type="text/event-stream", body="".join(lines))

    def progress(self, done: int, total: int, states: int) -> dict[str, Any]:
        return {"chunks_done": done, "chunks_total": total, "states": str(states)}


def begun(page: Page) -> Job:
    expect(page.locator(".count")).to_have_text("1")
    job = Job(page)
    page.get_by_role("button", name="Solve", exact=True).click()
    job.tell(("state", job.running), ("progress", job.progress(3, 8, 9_000)))
    return job


@BESIDE
def test_a_page_whose_service_is_down_says_so_and_continues_when_it_is_back(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    job = begun(page)
    running, queue = page.locator(".running"), page.get_by_role("region", name="Queue")
    expect(running).to_contain_text("Solving")
    expect(running).to_contain_text("so far")
    page.route("**/v1/**", lambda route: route.abort())
    while job.waiting:
        job.waiting.pop().abort()
    expect(running).to_contain_text("The service does not answer")
    expect(running).to_contain_text("The page retries until it does, and then continues.")
    expect(running).not_to_contain_text("so far")
    expect(running).to_contain_text("3 of 8")
    expect(running.get_by_role("button", name="Cancel")).to_be_disabled()
    expect(queue).to_contain_text("The service does not answer. Retrying")
    expect(page.get_by_role("status").last).to_contain_text("Retrying.")
    page.unroute("**/v1/**")
    job.tell(("state", job.running))
    expect(running).to_contain_text("Solving")
    expect(queue).to_contain_text("waiting")
    job.tell(("end", job.done))
    expect(page.locator(".count")).to_have_text("1")


@BESIDE
def test_a_service_that_was_restarted_takes_back_nothing_that_was_told(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    job = begun(page)
    running = page.locator(".running")
    expect(running).to_contain_text("3 of 8")
    again = job.running | {"progress": job.progress(1, 6, 100)}
    job.tell(("state", again), ("progress", job.progress(2, 8, 200)))
    job.tell(("state", again | {"progress": None}), ("progress", job.progress(2, 8, 10_000)))
    expect(running).to_contain_text("10,000")
    expect(running).to_contain_text("3 of 8")
    job.tell(("progress", job.progress(4, 9, 20_000)))
    expect(running).to_contain_text("4 of 9")


@BESIDE
def test_a_started_solve_keeps_the_focus_and_folds_the_rules(opened: Opened) -> None:
    page = opened("/?board=strands/2026-01-01/daily")
    expect(page.locator(".count")).to_be_visible()
    page.locator(".rules summary").click()
    expect(page.locator(".rules")).not_to_contain_text("--")
    page.route("**/v1/solves", lambda _: None)
    button = page.get_by_role("button", name="Solve", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".result")).to_contain_text("Asking")
    expect(page.get_by_label("spangram")).not_to_be_visible()
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-disabled", "true")


@BESIDE
def test_the_time_left_is_shown_after_the_first_part(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    job = begun(page)
    running = page.locator(".running")
    expect(running).to_contain_text("3 of 8")
    foreseen = {"expected_s": 3600.0, "left_s": 3600.0}
    first = job.running | {"progress": job.progress(0, 1, 0) | foreseen, "id": "0" * 32}
    job.tell(("state", first))
    expect(running).not_to_contain_text("3 of 8")
    expect(running).not_to_contain_text("states")
    expect(running).to_contain_text("about 1 h 0 min")
    job.tell(("progress", job.progress(0, 1, 0) | {"expected_s": 0.3, "left_s": 0.3}))
    expect(running).to_contain_text("longer than the 1 s expected")
    job.tell(("progress", job.progress(0, 4, 0) | {"expected_s": None, "left_s": None}))
    expect(running).to_contain_text("not known yet")
    job.tell(("progress", job.progress(1, 2, 9) | {"expected_s": 95.0, "left_s": 90.0}))
    expect(running).to_contain_text(re.compile(r"about 1\smin (30|2\d)\ss"))


@BESIDE
def test_sentences_of_the_api_are_translated(opened: Opened) -> None:
    page = opened("/nowhere")
    told = page.evaluate(
        """async () => {
          const {faultOf, inWords} = await import("/static/words.js");
          const fault = (pointer, detail) => faultOf({pointer, detail});
          return [
            inWords("pips/2025-11-20 is not in the lake, which has dates of pips from 2026-01-01"),
            inWords("/sql: SQL, line 1, column 15: there is no view nothing"),
            fault("/rules/words", "expected one of given, english"),
            fault("/rules/min_length", "min_length is 0; expected 1 to 9"),
            fault("/puzzle/sides/3", "expected at least one letter"),
            fault("/puzzle/hard/regions/1/indices/0", "cell [0, 1] is already in regions[0]"),
            fault("", "the board has 3 cells; expected an even number"),
          ];
        }"""
    )
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in told] == [
        "Pips of 20 November 2025 is not in the lake, which has dates of Pips from 1 January 2026",
        "line 1, column 15: there is no view nothing",
        "The rule “words”: expected one of given, english.",
        "The rule “min length” is 0; expected 1 to 9.",
        "Left side: expected at least one letter.",
        "Region 2, cell 1: the cell in row 1, column 2 is already in region 1.",
        "The board has 3 cells; expected an even number.",
    ]


@BESIDE
def test_a_stream_that_falls_silent_is_requested_again(opened: Opened) -> None:
    page = opened("/?draw=tiles")
    took = page.evaluate(SILENT)
    assert took["asked"] == 2
    assert took["told"] == ["end"]


SILENT = """async () => {
  const {follow} = await import("/static/api.js");
  const told = [];
  const later = window.setTimeout;
  window.setTimeout = (run, ms) => later(run, ms / 1000);
  let asked = 0;
  const silentOnce = () => new Response(new ReadableStream({
    start(stream) {
      if (++asked === 1) return;
      stream.enqueue(new TextEncoder().encode("id: 1\\nevent: end\\ndata: 2\\n\\n"));
    },
  }));
  const real = window.fetch;
  window.fetch = async (path, how) => (path === "/events" ? silentOnce() : real(path, how));
  const signal = new AbortController().signal;
  await follow({links: {events: "/events", self: "/self"}}, (event) => told.push(event), signal);
  return {asked, told};
}"""


@BESIDE
def test_the_title_names_the_board(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    expect(page).to_have_title("Pips, Monday 5 January 2026, hard · nightgrid")
    page.get_by_role("button", name="Letter Boxed").click()
    expect(page).to_have_title(re.compile(r"^Letter Boxed, .* · nightgrid$"))


@BESIDE
def test_a_link_that_cannot_send_the_key_is_not_shown(opened: Opened) -> None:
    page = opened("/")
    expect(page.get_by_role("link", name="Report of the last night")).to_be_visible()
    page.evaluate("sessionStorage.setItem('nightgrid-key', 'secret')")
    page.reload()
    expect(page.get_by_role("link", name="API")).to_be_visible()
    expect(page.get_by_role("link", name="Report of the last night")).to_have_count(0)
