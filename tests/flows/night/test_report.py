"""The summary of a night, what needs attention, and its exit code."""

from __future__ import annotations

from collections import Counter

import pytest

from nightgrid.archive.games import ranking_plug
from nightgrid.flows.attention import KINDS, QUARANTINE, AttentionItem
from nightgrid.flows.count.figures import Figures
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.night.report import GameReport, NightReport
from nightgrid.service.terminal.exit_codes import Exit, exit_for_many


def night(**figures) -> GameReport:
    return GameReport(game="pips", ask="count", **figures)


def test_a_night_that_ranks_names_the_ranker_and_whether_it_used_models():
    ranked = night(ranked=2, ranker="meant-8", with_model=True)
    assert ", 2 ranked by meant-8, 0 in quarantine" in ranked.line()
    assert ranked.without_models == night().without_models == ""
    alone = night(ranked=2, ranker="meant-8-alone", with_model=False)
    assert alone.notes() == [ranking_plug().ALONE]


def test_the_line_has_the_outcomes_of_jobs_and_leftovers_of_earlier_nights():
    report = night(
        fetched=1203, planned=1203, solved=1200, over_budget=2, poison=1, already_known=7,
        quarantined=2, in_quarantine=5, wall_seconds=4.04,
    )  # fmt: skip

    assert report.line() == (
        "pips: 1 POISON, 1,203 fetched, 1,203 puzzles (7 already known), 1,200 solved, "
        "0 unsolvable, 2 over budget, 2 in quarantine (3 of earlier nights), 4.0 s"
    )
    assert night(failure="gone").line() == "pips: failed: gone"
    assert " 1 puzzle, " in night(planned=1, solved=1).line()


def test_every_kind_has_a_heading_and_lines_that_name_its_items():
    items = tuple(
        AttentionItem(kind=kind, name=f"pips/2026-01-02/{i}", why="because")
        for kind in KINDS
        for i in "ab"
    )
    report = night(attention=items, lake="my lake", poison=2, over_budget=99)

    looks = dict(report.attention_sections())
    assert list(looks) == [
        "pips: 2 poison", "pips: 2 invalid", "pips: 99 over budget", "pips: 2 unsolvable",
        "pips: 2 in quarantine",
    ]  # fmt: skip
    assert looks["pips: 99 over budget"][-1] == (
        "and 89 more: nightgrid list results --game pips --status over_budget --lake 'my lake'"
    )


@pytest.mark.parametrize(
    ("figures", "code"),
    [
        ({"planned": 3, "solved": 3}, Exit.OK),
        ({"already_known": 3}, Exit.OK),
        ({"fetch_failures": ("2026-01-02: timed out",)}, Exit.OK),
        ({"planned": 3, "solved": 2, "unsolvable": 1}, Exit.LOOK),
        ({"planned": 3, "solved": 2, "over_budget": 1}, Exit.LOOK),
        ({"planned": 3, "solved": 2, "invalid": 1}, Exit.LOOK),
        ({"attention": (AttentionItem(kind=QUARANTINE, name="x", why="y"),)}, Exit.LOOK),
        ({"source_trouble": "no YYYY-MM-DD.json in e"}, Exit.LOOK),
        ({"planned": 3, "solved": 2, "poison": 1}, Exit.FAILED),
        ({"planned": 3, "unsolvable": 2, "poison": 1}, Exit.FAILED),
        ({"already_known": 3, "known_poison": 1}, Exit.FAILED),
        ({"source_failed": True}, Exit.FAILED),
        ({"failure": "gone"}, Exit.FAILED),
    ],
)
def test_the_code_of_a_night_says_whether_a_person_is_needed(figures, code):
    report = NightReport(games=(night(), night(**figures)))

    found = exit_for_many(
        poisoned=report.failed or report.poisoned, needs_attention=report.needs_attention
    )
    assert found is code


@pytest.mark.parametrize(
    ("statuses", "quarantined", "code"),
    [
        ({"solved": 3}, 0, Exit.OK),
        ({"solved": 3, "unsolvable": 2}, 0, Exit.OK),
        ({"solved": 3}, 1, Exit.LOOK),
        ({"over_budget": 1}, 0, Exit.LOOK),
        ({"invalid": 1}, 0, Exit.LOOK),
        ({"poison": 1, "over_budget": 1}, 1, Exit.FAILED),
    ],
)
def test_the_code_of_a_count_takes_no_solution_for_an_answer(statuses, quarantined, code):
    report = CountReport(
        corpus="c", corpus_id="0", game="pips", ask="count", quarantined=quarantined,
        figures=Figures(statuses=Counter(statuses)),
    )  # fmt: skip

    found = exit_for_many(poisoned=report.poisoned, needs_attention=report.needs_attention)
    assert found is code
