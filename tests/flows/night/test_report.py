"""A night in one sentence, in a table and as JSON."""

from __future__ import annotations

import json

from nightgrid.flows.night.report import GameReport


def night(**figures) -> GameReport:
    return GameReport(game="pips", ask="count", **figures)


def test_the_sentence_names_every_way_in_which_jobs_ended():
    report = night(planned=1203, solved=1200, over_budget=2, poison=1, wall_seconds=4.04)

    assert report.sentence() == (
        "1,203 pips jobs worked (1,200 solved, 2 over budget, 1 poison) in 4.0 s."
    )
    assert report.answered == 1203


def test_a_night_with_nothing_to_do_says_so():
    assert night(already_known=264).sentence() == (
        "Nothing to solve: the lake had the answer to all 264 pips jobs already."
    )


def test_the_table_has_every_figure_and_the_page_every_failure_and_place():
    report = night(
        fetched=3,
        fetch_failures=("2026-01-02: timed out",),
        paths={"results": "lake/results"},
        resumed=True,
    )

    assert dict(report.rows())["fetched"] == "3"
    assert dict(report.rows())["resumed"] == "yes"
    assert dict(report.rows())["run id"] == "-"
    assert dict(report.rows())["fetch failures"] == "1"
    assert "- not fetched: 2026-01-02: timed out\n- results: `lake/results`" in report.to_markdown()


def test_the_report_is_json():
    report = night(planned=1, solved=1, fetch_failures=("a",))

    assert json.loads(json.dumps(report.to_json()))["fetch_failures"] == ["a"]
