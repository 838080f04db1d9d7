"""The report of a lake: its contents, no external files, and changes since the previous night."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import html
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.games.strands.ranking.plugged import MISSES
from nightgrid.archive.games.strands.ranking.weights import JUDGED
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import RANK_ACCURACY
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rank_accuracy import PATH as RANK_ACCURACY_PATH
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import read_state, write_state
from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.service.cli.app import main
from nightgrid.service.games.plug import SAMPLES
from nightgrid.service.report.figures import HARDEST, SHOWN
from nightgrid.service.report.page import report_text, write_nightly_report
from nightgrid.service.terminal.console import sentence_of
from tests.chromium import chromium

Invoke = Callable[..., tuple[int, str, str]]
HOSTILE = "<img src=x onerror=alert(1)></style><script>alert(2)</script>"


def night(folder: Path, *days: str) -> int:
    (folder / "pips").mkdir(exist_ok=True)
    for day in days:
        shutil.copy(SAMPLES / "pips" / f"{day}.json", folder / "pips")
    words = ("--source", str(folder / "pips"), "--lake", str(folder / "lake"))
    return main(("nightly", *words, "--inline", "--no-prefect"))


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Two nights, and their reports."""
    folder = tmp_path_factory.mktemp("nights")
    lake = Lake.open(str(folder / "lake"))
    assert night(folder, "2026-01-01", "2026-01-02") == 0
    first = lake.read_bytes(REPORT_PATH).decode()
    # The second ends within the same second otherwise.
    told = read_state(lake, "pips", SHOWN)
    assert told is not None
    told["nights"][0]["ended_at"] = "2026-01-02T03:00:00+00:00"
    write_state(lake, "pips", SHOWN, told)
    assert night(folder, "2026-01-04") == 0
    return folder, first, lake.read_bytes(REPORT_PATH).decode()


def test_a_night_writes_the_report_and_the_next_one_says_what_changed(nights):
    _, first, second = nights

    assert "No report of an earlier night to compare with." in first
    drawn = re.findall(r'<figure class="plate" id="([^"]*)">', first)
    assert drawn[:3] == [f"pips/2026-01-02/{level}" for level in ("easy", "medium", "hard")]
    # The hardest ones are also drawn, once each, and their names link there.
    assert len({*drawn}) == len(drawn)
    linked = re.findall(r'<td><a href="#([^"]*)">', first)
    assert len(linked) == HARDEST
    assert {*linked} <= {*drawn}
    assert "Pips: 3 more boards" in second
    assert "Pips: 3 more boards with an answer" in second
    assert "New boards" in second
    assert "9 boards, every one answered" in second


def test_each_revised_board_and_each_without_an_answer_is_named(nights, tmp_path):
    folder = tmp_path / "nights"
    shutil.copytree(nights[0], folder)
    lake = Lake.open(str(folder / "lake"))
    path = folder / "pips" / "2026-01-02.json"
    days = json.loads(path.read_text())
    for level in ("easy", "medium"):
        dominoes = days[level]["dominoes"]
        dominoes[0] = [6, 6] if dominoes[0] != [6, 6] else [5, 5]
        del days[level]["solution"]
    path.write_text(json.dumps(days))
    night(folder)
    page = lake.read_bytes(REPORT_PATH).decode()
    for level in ("easy", "medium"):
        assert f"pips/2026-01-02/{level} is another board now, revision 2" in page
        assert f"2 January 2026, {level} (unsolvable)" in page


def test_the_report_loads_nothing_and_runs_nothing(nights):
    *_, page = nights

    assert not re.search(r"<script|<link|<iframe|<object|\son\w+=|javascript:", page)
    assert not re.search(r"\sstyle=", page)
    addresses = re.findall(r"(?:href|src)=\"([^\"]*)\"|url\(([^)]*)\)", page)
    assert all(a.startswith("#") or b.startswith("data:font/woff2;") for a, b in addresses)
    assert set(re.findall(r"https?://[^\s\"'<]*", page)) == {"http://www.w3.org/2000/svg"}
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in html.unescape(page)
    assert "default-src 'none'" in html.unescape(page)


def test_a_second_report_of_one_night_compares_with_the_night_before(nights, tmp_path):
    folder, _, second = nights
    shutil.copytree(folder / "lake", tmp_path / "lake")
    lake = Lake.open(str(tmp_path / "lake"))

    write_nightly_report(lake)
    again = lake.read_bytes(REPORT_PATH).decode()
    assert "Pips: 3 more boards" in again
    assert re.sub(r"from the lake.*", "", again) == re.sub(r"from the lake.*", "", second)


def test_texts_of_payloads_stay_texts(tmp_path):
    source, lake = tmp_path / "strands", Lake.open(str(tmp_path / "lake"))
    source.mkdir()
    payload = json.loads((SAMPLES / "strands" / "2026-01-01.json").read_text())
    payload["clue"] = HOSTILE
    (source / "2026-01-01.json").write_text(json.dumps(payload))
    (source / "2026-01-02.json").write_text(
        json.dumps({**payload, HOSTILE: 1, "printDate": HOSTILE})
    )
    fetch(lake, FolderSource(source), game="strands")
    normalise(lake, game="strands")

    page = report_text(lake) or ""
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert HOSTILE not in page
    assert page.count("<style>") == page.count("</style>") == 1
    assert "<script" not in page
    assert "print-date-mismatch" in page or "bad-date" in page


def ranked_page(folder: Path, rows: list[dict[str, Any]]) -> str:
    """Write the report of a lake with one board and this ranking."""
    source, lake = folder / "strands", Lake.open(str(folder / "lake"))
    source.mkdir()
    shutil.copy(SAMPLES / "strands" / "2026-01-01.json", source)
    fetch(lake, FolderSource(source), game="strands")
    normalise(lake, game="strands")
    assert "How good the ranks are" not in (report_text(lake) or "")
    row: dict[str, Any] = {f.name: "" for f in RANK_ACCURACY if f.type == pa.string()}
    row |= {"game": "strands", "date": dt.date(2026, 1, 1), "revision": 1, "cover_count": 100}
    row |= {"seconds": 1.0}
    table = pa.Table.from_pylist([row | one for one in rows], RANK_ACCURACY)
    lake.write_table(RANK_ACCURACY_PATH, table)
    return report_text(lake) or ""


def test_places_among_ranked_covers_are_shown_by_ranker(tmp_path):
    rankers = ((JUDGED, None), ("new", 1), ("new", 3), ("new", 4), ("new", None))
    page = ranked_page(tmp_path, [{"ranker": name, "official_place": at} for name, at in rankers])
    until = ranking_plug().fitted_until(JUDGED)
    assert page.count("How good the ranks are") == 1
    said = re.findall(r"Of \d+ boards? of Strands, ranked by [^<]*", page)
    assert said == [
        f"Of {boards} of Strands, ranked by {ranker}, the published solution is the best one of "
        f"{first} and among the first three of {three}."
        for boards, ranker, first, three in (
            ("1 board", f"{JUDGED} (fitted on boards until {until})", "0 (0.0%)", "0 (0.0%)"),
            ("4 boards", "new", "1 (25.0%)", "2 (50.0%)"),
        )
    ]
    assert "Rank of the published solution, ranked by new" in page
    assert page.count("else: 1") == 2


def test_confidence_times_and_misses_are_shown_by_ranker(tmp_path):
    """Given rows of a ranker without models, Then the report says so, with its confidence."""
    rows = [
        {"official_place": place, "confidence": sure, "seconds": seconds, "miss": miss}
        for place, sure, seconds, miss in (
            (1, 0.95, 1.0, None),
            (1, 0.99, 2.0, None),
            (2, 0.97, 3.0, "one_word"),
            (None, 0.4, 9.0, "no_compound"),
            (None, None, 2.0, "not_listed"),
        )
    ]
    page = html.unescape(ranked_page(tmp_path, [row | {"ranker": "new-alone"} for row in rows]))
    assert sentence_of(ranking_plug().ALONE) in page
    assert "Ranking a board took 2.0 s at the median and 9.0 s at most." in page
    cells = re.findall(r"<tr>(.*?)</tr>", page)
    told = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in cells]
    assert ["30% to 50%", "1", "40.0%", "0.0%"] in told
    assert ["95% to 100%", "3", "97.0%", "66.7%"] in told
    misses = [row for row in told if row and row[0] in MISSES.values()]
    assert misses == [[MISSES[miss], "1"] for miss in ("no_compound", "not_listed", "one_word")]


def test_the_command_writes_into_a_folder_or_the_lake(nights, invoke: Invoke, tmp_path):
    lake = str(nights[0] / "lake")
    code, out, _ = invoke("report", "--lake", lake, "-o", "out", "--since", "2026-01-02")
    assert (code, out) == (0, f"Report: {Path('out/index.html')}\n")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "Charts show 2 January 2026 to 4 January 2026." in page
    code, out, _ = invoke("report", "--lake", lake, "--json")
    assert json.loads(out) == {"report": f"{lake}/{REPORT_PATH}"}


def test_a_setting_keeps_nights_from_reporting(tmp_path, monkeypatch):
    monkeypatch.setenv("NIGHTGRID_NIGHT_REPORT", "0")
    assert night(tmp_path, "2026-01-01") == 0
    assert not (tmp_path / "lake" / "reports").exists()


AS_ON_A_PHONE = pytest.mark.long(
    short="tests/service/report/test_report.py::test_axe_finds_no_serious_problem_and_a_phone_shows_everything"
)


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({}, marks=AS_ON_A_PHONE),
        pytest.param({"color_scheme": "dark"}, marks=AS_ON_A_PHONE),
        {"viewport": {"width": 360, "height": 740}},
    ],
    ids=str,
)
def test_axe_finds_no_serious_problem_and_a_phone_shows_everything(nights, tmp_path, how):
    path = tmp_path / "report.html"
    path.write_text(nights[2])
    program = chromium()
    told: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_context(bypass_csp=True, **how).new_page()
        page.on("console", lambda message: told.append(message.text))
        page.goto(path.as_uri())
        wide, shown = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        faults = Axe().run(page).response["violations"]
        browser.close()
    serious = [fault for fault in faults if fault["impact"] in ("serious", "critical")]
    nodes = [f"{fault['id']}: {node['html']}" for fault in serious for node in fault["nodes"]]
    assert (nodes, told) == ([], [])
    assert wide <= shown
