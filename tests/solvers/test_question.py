"""A question identifies all that depends on it, and survives JSON."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.question import QUESTION_FIELDS, Question
from nightgrid.solvers.stop import Stop

COUNT = Ask(kind="count")
QUESTION = Question(
    game="strands", rules="words=any", lexicon_id="ab" * 16, ask=COUNT, solver_version="strands-3"
)
BUDGET = Budget(nodes=7, table_bytes=8, seconds=9.0)


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
