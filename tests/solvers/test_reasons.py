"""Reasons: a code for programs, a sentence for people, an integer for kernels."""

from __future__ import annotations

import pytest

from nightgrid.solvers.algebra import Outcome, Statistics, Status, failure_of
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.rules import Rules as LetterBoxedRules
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.reasons import (
    Reason,
    ReasonCode,
    reason_index,
)
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.rules import Rules as StrandsRules
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.rules import Rules as TilesRules

GAMES = (
    PipsGame(),
    StrandsGame(StrandsRules(), None),
    LetterBoxedGame(LetterBoxedRules(), None),
    TilesGame(TilesRules()),
)


@pytest.mark.parametrize("code", ReasonCode)
def test_every_code_has_a_name_and_one_sentence_of_its_own(code: ReasonCode) -> None:
    assert code.value == code.name.lower()
    assert code.sentence
    assert "\n" not in code.sentence
    assert [c for c in ReasonCode if c.sentence == code.sentence] == [code]
    assert Reason(code=code) == Reason(code=code, sentence=code.sentence)
    assert Reason(code=code, sentence="more is known").sentence == "more is known"


def test_a_smaller_part_or_a_larger_budget_helps_against_reasons_of_budgets() -> None:
    budgets = {ReasonCode.NODES, ReasonCode.TABLE_BYTES, ReasonCode.SECONDS}
    assert {code for code in ReasonCode if code.is_budget} == budgets


@pytest.mark.parametrize("game", GAMES, ids=lambda game: str(game.name))
def test_a_batch_names_every_reason_by_a_byte(game: object) -> None:
    table: tuple[Reason | None, ...] = game.reasons  # type: ignore[attr-defined]
    assert table[0] is None
    assert 1 < len(table) < 256
    for reason in table[1:]:
        assert reason is not None
        found = table[reason_index(table, reason.code)]
        assert found is not None
        assert found.code is reason.code
    assert reason_index(table, None) == 0


def test_the_decisive_part_of_an_unanswered_job_is_named() -> None:
    def over(code: ReasonCode, nodes: int) -> Outcome[object]:
        cost = Statistics(nodes=nodes)
        return Outcome(status=Status.OVER_BUDGET, reason_code=code, statistics=cost)

    solved: Outcome[object] = Outcome(status=Status.SOLVED, count=1)
    lost = over(ReasonCode.UNRECOVERABLE_JOB, 0)
    assert failure_of([solved, solved]) is None
    found = failure_of([lost, solved, over(ReasonCode.SECONDS, 3), over(ReasonCode.NODES, 4)])
    assert found is not None
    assert (found.reason_code, found.statistics.nodes) == (ReasonCode.SECONDS, 7)
    invalid: Outcome[object] = Outcome(status=Status.INVALID, reason_code=ReasonCode.REFUSED)
    found = failure_of([over(ReasonCode.NODES, 1), invalid])
    assert found is not None
    assert found.reason_code is ReasonCode.REFUSED
    alone = failure_of([lost])
    assert alone is not None
    assert alone.reason_code is ReasonCode.UNRECOVERABLE_JOB
