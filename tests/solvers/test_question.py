"""A question names all that depends on it, and is read as it is written."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import QUESTION_FIELDS, Question, question_of
from nightgrid.solvers.registry import game
from nightgrid.solvers.stop import Stop

COUNT = Ask(kind="count")
QUESTION = Question(
    game="strands", rules="words=any", lexicon_id="ab" * 16, ask=COUNT, solver_version="strands-3"
)
BUDGET = Budget(nodes=7, table_bytes=8, seconds=9.0)


NAMES = {
    ("pips", "", "count"): "3e8219b33aeb2baacac1111260f3bd78",
    ("strands", "", "count"): "fccbb9ba444b9c602e60e74f38bc2e01",
    ("strands", "spangram=off", "count"): "198b01c1dfe2e0d31730fbd3399c3ba5",
    ("letterboxed", "chains=2", "count"): "8f65e025b4440204e610dbd382f26a60",
    ("tiles", "", "best(1)"): "68925e9262b72045b97500b17c4d14a7",
}
"""What the version before questions called a job about puzzle 0…0.

They change with the version of a solver, and then only."""


@pytest.mark.parametrize(("name", "rules", "ask"), NAMES)
def test_names_are_those_of_earlier_lakes(name: str, rules: str, ask: str) -> None:
    question = question_of(game(name, rules), Ask.parse(ask))
    assert question.job_id("0" * 32) == NAMES[name, rules, ask]


def test_runs_of_earlier_versions_are_found_under_their_names() -> None:
    question = question_of(game("strands", "words=any"), COUNT)
    jobs = ("3", f"{1:016x}", f"{2:016x}")
    assert question.run_id(Budget(), jobs) == "b67908327d3673c29f22c5ab6ecf732c"
    assert question.corpus_run_id(Budget(), "c" * 32) == "4cf8a5ff02238ba48270d6d83877a69c"


def test_every_field_is_in_every_name_that_depends_on_it() -> None:
    changes: dict[str, Any] = {
        "game": "pips",
        "rules": "words=given",
        "lexicon_id": "",
        "ask": Ask(kind="first"),
        "solver_version": "strands-4",
    }
    assert set(changes) == {field.name for field in fields(Question)} == set(QUESTION_FIELDS)
    for name, value in changes.items():
        other = replace(QUESTION, **{name: value})
        assert other != QUESTION
        assert other.to_json() != QUESTION.to_json()
        # A puzzle names its game, and jobs their solver.
        if name != "game":
            assert other.job_id("p") != QUESTION.job_id("p")
            assert other.corpus_run_id(BUDGET, "c") != QUESTION.corpus_run_id(BUDGET, "c")
        if name != "solver_version":
            assert other.run_id(BUDGET, ("j",)) != QUESTION.run_id(BUDGET, ("j",))
    for name in BUDGET.limits:
        larger = replace(BUDGET, **{name: 10})
        assert QUESTION.run_id(larger, ("j",)) != QUESTION.run_id(BUDGET, ("j",))
        assert QUESTION.corpus_run_id(larger, "c") != QUESTION.corpus_run_id(BUDGET, "c")
    assert QUESTION.run_id(replace(BUDGET, stop=Stop()), ()) == QUESTION.run_id(BUDGET, ())
    best = [replace(QUESTION, ask=Ask(kind="best", limit=k)) for k in (3, 4)]
    assert best[0].job_id("p") != best[1].job_id("p")


def test_it_is_read_as_it_is_written_among_other_keys() -> None:
    written = json.loads(json.dumps({**QUESTION.to_json(), "run_id": "x", "budget": {}}))
    assert Question.from_json(written) == QUESTION
    assert hash(Question.from_json(written)) == hash(QUESTION)


@pytest.mark.parametrize("name", QUESTION_FIELDS)
@pytest.mark.parametrize("wrong", [None, 7, ["count"]])
def test_what_is_no_question_is_refused(name: str, wrong: object) -> None:
    with pytest.raises(PermanentError, match=f"{name} is"):
        Question.from_json({**QUESTION.to_json(), name: wrong})
    with pytest.raises(PermanentError, match="unknown ask"):
        Question.from_json({**QUESTION.to_json(), "ask": "most"})
