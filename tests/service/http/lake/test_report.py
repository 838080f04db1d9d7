"""GET /report: the page of the last night, with its policy in its head."""

from __future__ import annotations

from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.service.http.guard.access import CLOSED_PATHS


def test_the_report_of_the_last_night_is_served(sample, sample_lake):
    answer = sample.get("/report")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.content == Lake.open(str(sample_lake)).read_bytes(REPORT_PATH)
    assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'none'"


def test_without_a_report_there_is_a_problem(open_client, tmp_path):
    answer = open_client(tmp_path / "lake").get("/report")

    assert answer.status_code == 404
    assert answer.json()["detail"] == "no night has written a report; nightgrid report writes one"


def test_without_a_report_a_browser_is_told_how_one_is_made(open_client, tmp_path):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = open_client(tmp_path / "lake").get("/report", headers=browser)

    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "nightgrid report --lake LAKE" in answer.text
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_the_report_requires_a_key_if_keys_are_required():
    assert "/report".startswith(CLOSED_PATHS)
    assert not "/".startswith(CLOSED_PATHS)
