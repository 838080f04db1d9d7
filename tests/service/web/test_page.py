"""The page in a real Chromium: boards are chosen, pasted, drawn, solved and stepped through."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

from nightgrid.service.games.plug import SAMPLES
from nightgrid.solvers.pips.generate.generator import generate_many, to_payload
from nightgrid.solvers.pips.generate.mix import PRESETS, Mix
from tests.service.scenes import BROKEN, PAIR, PAIR_COUNT
from tests.service.web.conftest import WAIT_MS

pytestmark = [pytest.mark.cluster]
BESIDE = pytest.mark.long(
    short="tests/service/web/test_page.py::test_a_day_is_picked_and_its_known_answer_is_there"
)
"""Each page that Chromium opens takes seconds: rarer paths are left to `make test-long`."""
expect.set_options(timeout=WAIT_MS)

EXAMPLES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("examples.json").read_text()
)
"""Responses of the service."""
Opened = Callable[..., Page]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
TOUCH = 44
"""Pixels of CSS that a finger needs."""


def solve(page: Page) -> None:
    page.get_by_role("button", name="Solve", exact=True).click()


def count(page: Page) -> Locator:
    return page.locator(".count")


def board(page: Page) -> Locator:
    return page.locator("svg.board")


def another_board(page: Page, before: str) -> str:
    """Wait until another picture is shown."""
    until = time.monotonic() + WAIT_MS / 1000
    while (now := board(page).inner_html()) == before:
        assert time.monotonic() < until, "the picture stays as it is"
        page.wait_for_timeout(20)
    return now


def test_a_day_is_picked_and_its_known_answer_is_there(opened: Opened) -> None:
    page = opened()
    expect(page.get_by_role("heading", level=1)).to_have_text("5 January 2026")
    page.get_by_role("button", name="Friday 2 January 2026, 3 boards, 3 solved").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 January 2026")
    page.get_by_role("button", name="easy").click()
    expect(page).to_have_url(re.compile(r"\?board=pips/2026-01-02/easy$"))
    expect(board(page)).to_be_visible()
    expect(count(page)).to_have_text("1")
    page.get_by_role("button", name="Day before").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 January 2026")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 January 2026")


@BESIDE
def test_the_calendar_is_walked_with_keys(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    page.locator("[data-date='2026-01-05']").focus()
    for key in ("ArrowUp", "ArrowRight", "Home", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("[data-date='2026-01-02']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 January 2026")


def test_a_payload_is_pasted_solved_and_shared_by_its_address(opened: Opened) -> None:
    page = opened("/?paste=")
    page.locator("#payload").fill((SAMPLES / "pips" / "2026-01-05.json").read_text())
    page.get_by_role("button", name="easy").click()
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    expect(count(page)).to_have_text("2")
    expect(board(page)).to_have_attribute("aria-label", re.compile("solved"))
    shared = page.url
    assert "?solve=" in shared
    other = opened(shared)
    expect(count(other)).to_have_text("2")
    expect(board(other)).to_be_visible()


def test_a_day_of_a_pasted_archive_is_chosen(opened: Opened) -> None:
    page = opened("/?paste=")
    texts = [(SAMPLES / "pips" / f"2026-01-0{day}.json").read_text() for day in (4, 5)]
    lines = "\n".join(json.dumps(json.loads(text)) for text in texts)
    for archive in (f"[{','.join(texts)}]", f'{{"puzzles": {{"20260105": {texts[1]}}}}}', lines):
        page.locator("#payload").fill(archive)
        if "20260105" in archive:
            page.get_by_role("button", name="2026-01-05 easy").click()
        else:
            page.get_by_label("the board of this archive").select_option("2026-01-05 easy")
        expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    expect(count(page)).to_have_text("2")


@BESIDE
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "This is not JSON: line 1, column 2. It ends too soon."),
        ('{"sides": [\n"TAP",, "ERD"]}', "This is not JSON: line 2, column 7."),
        ('{"a": 1}', "This JSON holds no board"),
        ('{"sides": ["T1P", "ERD"]}', "Top side: '1'; expected a letter."),
        ('{"board": ["AB", "C"]}', "Row 2: 1 letter; expected 2 as in row 1."),
        ('{"tiles": [["A1", "A1"]]}', "Tile 1: a feature is twice on the tile."),
    ],
)
def test_faults_of_a_payload_are_shown(opened: Opened, text: str, told: str) -> None:
    page = opened("/?paste=")
    page.locator("#payload").fill(text)
    expect(page.locator(".told, .faults").filter(has_text=told)).to_be_visible()
    expect(page.locator(".answer .quiet")).to_contain_text("The pasted text is not a board yet")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()


@BESIDE
def test_all_faults_of_a_payload_are_shown_at_once(opened: Opened) -> None:
    page = opened("/?paste=")
    cells = [[0, 0], [0, 0], [0, 1]]
    regions = [{"indices": cells, "type": "empty"}, {"indices": [[0, 1]], "type": "empty"}]
    page.locator("#payload").fill(json.dumps({"dominoes": [[1]], "regions": regions}))
    for cell, told in (("0,0", "region twice"), ("0,1", "is already in")):
        wrong = page.locator(f"[data-at='{cell}']")
        expect(wrong).to_have_attribute("aria-label", re.compile(told))
    places = ("Domino 1: ", "Region 1, cell 2: ", "Region 2, cell 1: ")
    expect(page.locator(".faults li")).to_have_text([re.compile(f"^{place}") for place in places])


@BESIDE
def test_faults_mark_their_region_or_domino(
    opened: Opened,
) -> None:
    page = opened("/?paste=")
    odd = {"indices": [[0, 0], [0, 1], [1, 0]], "type": "odd"}
    page.locator("#payload").fill(json.dumps(PAIR | {"regions": [odd, PAIR["regions"][1]]}))
    expect(page.locator("[data-at][aria-invalid=true]")).to_have_count(3)
    page.locator("#payload").fill(json.dumps(PAIR | {"dominoes": [[1, -2], [3, 4]]}))
    expect(page.locator(".domino.is-wrong")).to_have_count(1)
    expect(page.locator(".domino.is-wrong")).to_have_attribute("aria-label", re.compile("-2-1: "))
    expect(page.locator("[data-at][aria-invalid=true]")).to_have_count(0)


@BESIDE
def test_failed_requests_are_repeated(opened: Opened) -> None:
    """Given a service that is down while a game is chosen, When it is back, Then it is shown."""
    page = opened("/?paste=")
    expect(page.get_by_role("region", name="Queue").get_by_text("waiting")).to_be_visible()
    page.route("**/v1/**", lambda route: route.abort())
    page.locator("#payload").fill(json.dumps(PAIR))
    expect(page.locator(".faults").get_by_text("The service does not answer.")).to_be_visible()
    page.unroute("**/v1/**")
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    page.route("**/v1/**", lambda route: route.abort())
    page.get_by_role("button", name="Strands", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer.")
    page.unroute("**/v1/**")
    expect(page).to_have_url(re.compile(r"\?board=strands/2026-01-01/daily$"))
    expect(page.get_by_role("alert")).to_have_count(0)


def draw_pair(page: Page) -> None:
    """Draw a square of four cells, one of which must be a 4."""
    for cell in ("0,0", "0,1", "1,0"):
        page.locator(f"[data-at='{cell}']").click()
    # What nobody has typed yet is no error.
    expect(page.locator(".faults li.is-soft")).to_contain_text(["3 cells", "Region 1 needs"])
    expect(page.locator("[aria-invalid=true]")).to_have_count(0)
    page.get_by_label("Constraint of region 1").select_option("empty")
    page.get_by_role("button", name="New region").click()
    page.locator("[data-at='1,1']").click()
    page.get_by_label("Number of region 2").fill("4")
    for domino in PAIR["dominoes"]:
        page.get_by_role("button", name="-".join(map(str, domino)), exact=True).click()


@BESIDE
def test_a_board_of_pips_is_drawn_and_its_solutions_stepped_through(opened: Opened) -> None:
    page = opened("/?draw=pips")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()
    draw_pair(page)
    solve(page)
    expect(count(page)).to_have_text(str(PAIR_COUNT))
    stepper = page.get_by_role("group", name="Solutions")
    expect(stepper).to_contain_text(f"1 of {PAIR_COUNT}")
    expect(board(page)).to_have_attribute("aria-label", re.compile("solved"))
    seen = [board(page).inner_html()]
    for _ in range(PAIR_COUNT - 1):
        page.keyboard.press("ArrowRight")
        seen.append(another_board(page, seen[-1]))
    page.keyboard.press("ArrowRight")
    expect(stepper).to_contain_text(f"{PAIR_COUNT} of {PAIR_COUNT}")
    assert len(set(seen)) == PAIR_COUNT
    page.keyboard.press("Home")
    expect(stepper).to_contain_text(f"1 of {PAIR_COUNT}")
    page.get_by_role("button", name="Edit the board").click()
    expect(page.locator("[data-at='1,1']")).to_have_attribute(
        "aria-label", "row 2, column 2, region 2, sum of 4"
    )


@BESIDE
def test_a_board_of_pips_is_drawn_with_the_keyboard(opened: Opened) -> None:
    page = opened("/?draw=pips")
    page.locator("[data-at='0,0']").focus()
    for key in ("Space", "ArrowRight", "Enter", "ArrowDown", "Space"):
        page.keyboard.press(key)
    expect(page.get_by_text("3 cells; dominoes need an even number.")).to_be_visible()
    page.keyboard.press("Delete")
    page.get_by_label("Constraint of region 1").focus()
    page.keyboard.press("ArrowUp")
    page.locator("[aria-label='1-2']").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The board is well formed.")).to_be_visible()


@BESIDE
def test_letters_of_strands_are_typed(opened: Opened) -> None:
    page = opened("/?draw=strands")
    for name, size in (("rows", "2"), ("columns", "3")):
        field = page.locator(".choose").get_by_label(name)
        field.fill(size)
        field.blur()
    page.locator("[data-at='0,0']").focus()
    page.keyboard.type("ca4dog")
    expect(page.locator("[data-at='0,2']")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("“4” is no letter.")).to_be_visible()
    page.locator("[data-at='0,2']").focus()
    page.keyboard.type("t")
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    page.get_by_role("textbox", name="spangram").fill("CAT")
    expect(page.locator(".is-gold")).to_have_count(3)
    page.get_by_role("textbox", name="spangram").fill("CTG")
    expect(page.get_by_text("The spangram cannot be traced")).to_be_visible()


@BESIDE
def test_sides_of_letter_boxed_are_typed_and_their_strokes_shown_one_by_one(
    opened: Opened,
) -> None:
    page = opened("/?draw=letterboxed")
    for name, side in (("top", "AB"), ("right", "CD"), ("bottom", "E"), ("left", "F1")):
        page.get_by_label(name).fill(side)
    expect(page.get_by_label("left")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("left").fill("F")
    page.get_by_label("words of the day").fill("face ebd")
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    expect(count(page)).to_have_text("1")
    expect(page.locator(".list")).to_contain_text("FACE \u2013 EBD")
    page.locator("#steps").fill("2")
    expect(page.locator("path.step:visible")).to_have_count(2)


@BESIDE
def test_a_walk_of_tiles_is_shown_step_by_step(opened: Opened) -> None:
    page = opened("/?draw=tiles")
    for i, features in enumerate(("A1 B1", "A1 B2", "B1 B2")):
        page.get_by_label(f"tile {i + 1}", exact=True).fill(features)
    solve(page)
    expect(page.locator(".list")).to_contain_text("moves")
    page.locator("#steps").fill("1")
    expect(page.locator("rect.is-cleared")).to_have_count(2)
    expect(page.locator(".tile.is-here")).to_have_count(1)


@BESIDE
def test_covers_of_strands_are_listed_with_their_spangram_apart(opened: Opened) -> None:
    page = opened("/?board=strands/2026-01-01/daily")
    expect(page.get_by_text("Take an umbrella")).to_be_visible()
    page.get_by_text("Best", exact=True).click()
    page.get_by_label("How many solutions").fill("3")
    solve(page)
    covers = page.locator(".list li")
    expect(covers).to_have_count(3)
    expect(covers.first.locator(".spangram")).to_have_text("WEATHER\u2009·\u2009REPORT")
    before = board(page).inner_html()
    covers.last.get_by_role("button").click()
    expect(page.get_by_role("group", name="Solutions")).to_contain_text("3 of 3")
    another_board(page, before)


def payload_of(mix: Mix, seed: int) -> str:
    (board,) = generate_many(seed, 1, [mix])
    return json.dumps(to_payload(dt.date(2026, 1, 1), {"hard": board}))


def large() -> str:
    """Write a payload whose count takes minutes."""
    return payload_of(replace(PRESETS["hard"], dominoes=((28, 1.0),), unconstrained=0.2), 2)


def test_a_large_solve_is_watched_and_cancelled(opened: Opened) -> None:
    page = opened("/?paste=")
    page.locator("#payload").fill(large())
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    expect(page.locator(".running .verdict")).to_have_text("Solving")
    expect(page.locator("[data-light]")).to_have_attribute("data-light", "busy")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".verdict")).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()


def loose() -> str:
    """Write a payload whose count would take hours, and whose first solution takes seconds."""
    return payload_of(replace(PRESETS["loose"], dominoes=((28, 1.0),)), 11)


@BESIDE
def test_a_refused_board_is_explained_and_offers_smaller_asks(
    opened: Opened,
) -> None:
    """Given a board that is too large to count, Then it is drawn, and other asks are offered."""
    page = opened("/?paste=")
    page.locator("#payload").fill(loose())
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    refused = page.locator(".problem p")
    expect(refused).to_have_text(
        re.compile(
            r"^The board would take about [\d,:]+ (h|days) of one core; expected at most 4:00 h\.$"
        )
    )

    def busy(route: Route) -> None:
        detail = "a new job would wait about 43:25 min; expected at most 5:00 min"
        body = {"title": "Too many jobs wait", "status": 429, "detail": detail}
        route.fulfill(status=429, json=body, headers={"Retry-After": "2305"})

    page.route("**/v1/solves", busy)
    page.get_by_text("First", exact=True).click()
    solve(page)
    expect(refused).to_have_text(
        "A new job would wait about 43:25 min; expected at most 5:00 min. Try again in 38 min 25 s."
    )


def without_days(route: Any) -> None:
    """Answer like a lake without boards."""
    route.fulfill(json={"dates": [], "next": None})


@BESIDE
def test_an_empty_lake_shows_an_example_that_can_be_solved(opened: Opened) -> None:
    page = opened("/static/icon.svg")
    page.route("**/v1/puzzles/*?*", without_days)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("An example")
    expect(page).to_have_url(re.compile(r"\?example=pips$"))
    expect(board(page)).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_contain_text("no daily boards of Pips here yet")
    expect(page.get_by_role("tabpanel")).to_contain_text("New boards come overnight")
    solve(page)
    expect(count(page)).to_be_visible()
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("button", name="Edit the last board").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Draw a board of Pips")
    expect(page.get_by_text("The board is well formed.")).to_be_visible()


def told(*events: tuple[int, str, dict[str, Any]]) -> str:
    """Write server-sent events."""
    lines = (f"id: {i}\r\nevent: {name}\r\ndata: {json.dumps(of)}\r\n" for i, name, of in events)
    return ": hello\r\n\r\n" + "\r\n".join(lines) + "\r\n"


@BESIDE
def test_progress_is_shown_and_a_lost_connection_is_restored(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    expect(count(page)).to_have_text("1")
    expect(page.locator(".stepper")).to_be_visible()
    known = page.request.get("/v1/puzzles/pips/2026-01-05?level=hard").json()
    solve_id = known["boards"][0]["results"][0]["id"]
    done = page.request.get(f"/v1/solves/{solve_id}").json()
    running = done | {"state": "running", "answer": None}
    answer = done["answer"] | {"count": "12345678901234567890123456789"}
    progress = {"chunks_done": 1, "chunks_total": 2, "states": "1234567", "left_s": 3.0}
    asked: list[str | None] = []
    hold: list[Any] = []

    def follow(route: Any) -> None:
        asked.append(route.request.headers.get("last-event-id"))
        first = told((7, "state", running), (8, "progress", progress))
        if len(asked) == 1:
            route.fulfill(content_type="text/event-stream", body=first)
        else:
            hold.append(route)

    page.route("**/events", follow)
    page.route("**/v1/solves", lambda route: route.fulfill(status=202, json=running))
    solve(page)
    expect(page.locator(".running")).to_contain_text("1,234,567")
    expect(page.locator("progress")).to_have_attribute("value", "0.5")
    until = time.monotonic() + WAIT_MS / 1000
    while not hold and time.monotonic() < until:
        page.wait_for_timeout(20)
    end = told((10, "end", running | {"state": "done", "answer": answer}))
    hold[0].fulfill(content_type="text/event-stream", body=end)
    expect(count(page)).to_have_text("12,345,678,901,234,567,890,123,456,789")
    assert asked[:2] == [None, "8"]


@BESIDE
def test_files_can_be_downloaded(opened: Opened, tmp_path: Path) -> None:
    page = opened("/?board=pips/2026-01-05/hard")
    expect(count(page)).to_have_text("1")
    for name in ("SVG", "JSON", "Parquet"):
        with page.expect_download() as found:
            page.get_by_role("button", name=f"Download {name}").click()
        path = tmp_path / found.value.suggested_filename
        assert path.name == f"pips-2026-01-05-hard.{name.lower()}"
        found.value.save_as(path)
    assert (tmp_path / "pips-2026-01-05-hard.svg").read_text().startswith("<svg")
    taken = json.loads((tmp_path / "pips-2026-01-05-hard.json").read_text())
    assert taken["answer"]["count"] == "1"
    table = pq.read_table(tmp_path / "pips-2026-01-05-hard.parquet")
    assert table.column("job_id").to_pylist() == [taken["id"]]


@BESIDE
@pytest.mark.parametrize("place", ["/?board=pips/2026-01-05/hard", "/?draw=pips", "/?paste="])
def test_a_phone_shows_everything_without_scrolling_sideways(opened: Opened, place: str) -> None:
    page = opened(place, **PHONE)
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_attached()
    if "board" in place:
        expect(board(page)).to_be_visible()
        page.get_by_role("button", name="all days").tap()
        expect(page.locator("[data-date='2026-01-02']")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@BESIDE
def test_cells_are_painted_with_a_finger(opened: Opened) -> None:
    page = opened("/?draw=pips", **PHONE)
    for target in page.locator(".domino, .swatch, .ways button, .kinds label").all():
        box = target.bounding_box()
        assert box is not None
        assert box["height"] >= TOUCH
    page.locator("[data-at='0,0']").tap()
    page.locator("[data-at='0,1']").tap()
    expect(page.locator("[role=gridcell][aria-selected=true]")).to_have_count(2)


@BESIDE
def test_it_is_dark_like_the_system_unless_set_to_light(opened: Opened) -> None:
    page = opened("/?board=pips/2026-01-05/hard", color_scheme="dark")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    shade = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(shade)
    page.get_by_role("button", name="Light colours").click()
    expect(root).to_have_attribute("data-theme", "light")
    assert page.evaluate(shade) != dark
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")


@BESIDE
def test_the_queue_is_shown(opened: Opened) -> None:
    strip = opened().get_by_role("region", name="Queue")
    for figure in ("waiting", "running", "oldest", "workers"):
        expect(strip).to_contain_text(figure)
    expect(strip).to_have_attribute("data-light", "idle")


@BESIDE
def test_a_key_is_asked_for_if_the_service_requires_one(opened: Opened) -> None:
    page = opened("/static/icon.svg")
    sent: list[str] = []

    def refuse(route: Any) -> None:
        sent.append(route.request.headers.get("authorization", ""))
        if sent[-1]:
            route.fallback()
        else:
            route.fulfill(status=401, json={"title": "A key is wanted", "status": 401})

    page.route("**/v1/**", refuse)
    page.goto("/")
    page.get_by_label("This service requires an API key").fill("secret")
    page.get_by_role("button", name="Use it").click()
    ends_at = time.monotonic() + WAIT_MS / 1000
    while "Bearer secret" not in sent:
        assert time.monotonic() < ends_at, sent
        page.wait_for_timeout(20)
    assert page.evaluate("JSON.stringify(localStorage)") == "{}"


def test_markup_in_a_board_stays_text(opened: Opened) -> None:
    page = opened("/?paste=")
    hostile = "<img src=x onerror=document.title='struck'>"
    page.locator("#payload").fill(
        json.dumps({"tiles": [[hostile, "A"], [hostile, "A"]], "clue": hostile})
    )
    expect(page.get_by_text("The board is well formed.")).to_be_visible()
    solve(page)
    expect(board(page)).to_contain_text("<img src=x")
    expect(page.locator("img, script:not([src])")).to_have_count(0)
    assert page.title() == f"Tiles, {hostile} · nightgrid"


SERIOUS = ("serious", "critical")


def serious_faults(page: Page) -> list[str]:
    """List what axe finds, each with the element."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    serious = [fault for fault in found if fault["impact"] in SERIOUS]
    return [f"{fault['id']}: {node['html']}" for fault in serious for node in fault["nodes"]]


def is_solved(page: Page) -> None:
    expect(page.locator("svg.board")).to_be_visible()
    expect(page.locator(".count")).to_be_visible()
    page.locator(".rules summary").click()


def is_drawn(page: Page) -> None:
    page.locator("[data-at='0,0']").click()
    expect(page.locator(".faults li").first).to_be_visible()


def is_wrong(page: Page) -> None:
    page.locator("#payload").fill(json.dumps(BROKEN))
    expect(page.locator("[data-at][aria-invalid=true]")).to_be_visible()


def is_typed(page: Page) -> None:
    expect(page.locator("main input").first).to_be_visible()


def is_unknown(page: Page) -> None:
    expect(page.get_by_role("alert")).to_be_visible()


PLACES: dict[str, Callable[[Page], None]] = {
    "/?board=pips/2026-01-05/hard": is_solved,
    "/?board=strands/2026-01-01/daily": is_solved,
    "/?draw=pips": is_drawn,
    "/?draw=strands": is_typed,
    "/?draw=letterboxed": is_typed,
    "/?draw=tiles": is_typed,
    "/?paste=": is_wrong,
    "/?board=pips/1999-01-01/hard": is_unknown,
}


DARK = ("/?board=strands/2026-01-01/daily", "/?draw=pips")
"""Also checked in the dark theme, on a phone."""


LOOKS: list[tuple[str, dict[str, Any]]] = [
    *((place, {}) for place in PLACES),
    *((place, {"color_scheme": "dark", **PHONE}) for place in DARK),
]
OTHER_LOOKS = [pytest.param(*look, marks=BESIDE) for look in LOOKS[1:]]


@pytest.mark.parametrize(("place", "how"), [LOOKS[0], *OTHER_LOOKS])
def test_axe_finds_no_serious_problem(opened: Opened, place: str, how: dict[str, Any]) -> None:
    # The page's policy blocks foreign scripts, including that of axe.
    page = opened(place, bypass_csp=True, **how)
    PLACES[place](page)
    assert serious_faults(page) == []


def meant(state: str, **more: Any) -> dict[str, Any]:
    """A job of `meant` in a state, as the service shows it."""
    solve = EXAMPLES["get_solve"]
    return solve | {"ask": "meant(100)", "game": "strands", "state": state, "answer": None} | more


@BESIDE
def test_ranked_covers_of_strands_show_the_evidence_for_each_word(opened: Opened) -> None:
    page = opened("/?board=strands/2026-01-01/daily")
    answer = EXAMPLES["get_solve"]["answer"]
    done = meant("done", answer=answer | {"count": "100", "solver_version": "meant-14-alone"})
    cover = {
        "components": ["HOTDOG", "OG"],
        "theme_words": [{"word": "CATS"}, {"word": "SCAT"}],
        "confidence": 0.62,
        "signals": {"words and geometry": 1.9},
        "words": {"HOTDOGOG": {"compound": 4.1}, "CATS": {"zipf": 6.7, "diagonal": -0.3}},
    }
    asked: list[Any] = []

    def solved(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json=done)

    page.route("**/v1/solves", solved)
    page.route("**/solutions?limit=5", lambda route: route.fulfill(json={"solutions": [cover]}))
    page.get_by_role("button", name="which cover was meant?").click()
    ranked = page.get_by_role("region", name="Which cover was meant")
    expect(ranked.get_by_text("62.0 %")).to_be_visible()
    assert asked[-1]["ask"] == "meant"
    ranked.locator("summary").first.click()
    expect(ranked.get_by_text("zipf +6.7, diagonal \N{MINUS SIGN}0.3")).to_be_visible()
    expect(ranked.get_by_text("100 covers ranked by meant-14-alone")).to_be_visible()
    expect(ranked.get_by_text("the models are not installed")).to_be_visible()


@BESIDE
def test_an_unknown_address_links_back_and_times_are_rounded(opened: Opened) -> None:
    page = opened("/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such page")
    axe = [f["id"] for f in Axe().run(page).response["violations"]]
    assert axe == []
    told = page.evaluate(
        """async () => {
          const {duration, roughly} = await import("/static/format.js");
          return [duration(119.7), duration(25.72), duration(5), roughly(25.72), roughly(0.2)];
        }"""
    )
    # A number and its unit stay on one line.
    assert [text.replace("\N{NO-BREAK SPACE}", "_") for text in told] == [
        "2_min 0_s",
        "25.7_s",
        "5_s",
        "about 26_s",
        "about 1_s",
    ]
    page.get_by_role("link", name="Back to the boards").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("5 January 2026")
