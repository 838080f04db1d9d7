"""A count by layers that borrows cores has the answer that one process would have given."""

from dataclasses import replace

import pytest
import redis

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import LOOSE
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import game
from nightgrid.solvers.stop import Stop
from nightgrid.workers.ondemand.sharing import layer_threads
from nightgrid.workers.ondemand.sharing.layer_threads import count_with_threads

COUNT = Ask(kind="count")
BUDGET = Budget(table_bytes=2**26)
PIPS = game("pips")


def board(dominoes=10, seed=1):
    mix = replace(LOOSE, dominoes=((dominoes, 1.0),), rows=4, cols=dominoes // 2)
    return generate(mix, seed)[0]


BOARD = board()


class Lent:
    """A loan of cores; `after` looks there are some."""

    def __init__(self, lenders=("b",), after=0):
        self.names, self.after, self.closed = list(lenders), after, 0

    def lenders(self, _wait_s):
        self.after -= 1
        return self.names if self.after < 0 else []

    def close(self):
        self.closed += 1


@pytest.fixture(autouse=True)
def several_cores(monkeypatch):
    monkeypatch.setattr(layer_threads.os, "cpu_count", lambda: 8)


def count(loan, puzzle=BOARD, budget=BUDGET, split="ahead"):
    return count_with_threads(
        PIPS, puzzle, COUNT, budget, split=split, worker="a", borrow=lambda: loan
    )


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("lenders", [["b"], ["b", "c"]])
def test_the_answer_is_that_of_one(after, lenders):
    whole = PIPS.solve(BOARD, COUNT)
    loan = Lent(lenders, after)
    outcome, parts = count(loan)
    assert (outcome.status, outcome.count) == (whole.status, whole.count)
    assert outcome.statistics.nodes == whole.statistics.nodes
    assert sum(part.count for part in parts) == whole.count
    assert [part.worker for part in parts] == ["a", *lenders]
    assert f"of {1 + len(lenders)}, from layer {1 + after} on" in parts[0].what
    assert loan.closed == 1


@pytest.mark.parametrize("loan", [None, Lent([])], ids=["no loan", "no lender"])
def test_without_a_core_it_counts_alone(loan):
    outcome, parts = count(loan)
    assert (outcome.count, parts) == (PIPS.solve(BOARD, COUNT).count, [])
    assert outcome.statistics.states == PIPS.solve(BOARD, COUNT).statistics.states


def test_a_small_board_asks_for_no_core():
    outcome, _ = count_with_threads(
        PIPS, board(4), COUNT, BUDGET, split="auto", worker="a", borrow=lambda: 1 / 0
    )
    assert outcome.count == PIPS.solve(board(4), COUNT).count


def test_a_large_board_asks_for_cores(monkeypatch):
    monkeypatch.setattr(layer_threads, "ALONE_ROWS", 100)
    outcome, parts = count(Lent(), split="auto")
    assert outcome.count == PIPS.solve(BOARD, COUNT).count
    assert len(parts) == 2


def test_it_waits_for_cores_once():
    waits = []

    class Late(Lent):
        def lenders(self, wait_s):
            waits.append(wait_s)
            return super().lenders(wait_s)

    _, parts = count(Late(after=2))
    assert len(parts) == 2
    assert waits == [layer_threads.LENT_WITHIN_S, 0.0, 0.0]


def test_without_a_server_it_counts_alone():
    class Away:
        def fail(self, *_):
            raise redis.ConnectionError("away")

        lenders = close = fail

    outcome, parts = count(Away())
    assert (outcome.count, parts) == (PIPS.solve(BOARD, COUNT).count, [])


def test_what_two_tables_do_not_hold_one_does():
    whole = PIPS.solve(BOARD, COUNT)
    tight = replace(BUDGET, table_bytes=whole.statistics.table_bytes * 5 // 4)
    assert PIPS.solve(BOARD, COUNT, None, tight).status is Status.SOLVED
    outcome, _ = count(Lent(), budget=tight)
    assert outcome.count == whole.count


@pytest.mark.parametrize("lent", [None, Lent()], ids=["alone", "with threads"])
@pytest.mark.parametrize(
    ("limits", "code"), [({"nodes": 20_000}, "nodes"), ({"table_bytes": 2**14}, "table_bytes")]
)
def test_a_budget_that_runs_out_is_told(lent, limits, code):
    assert PIPS.solve(BOARD, COUNT, None, replace(BUDGET, **limits)).reason_code == code
    outcome, parts = count(lent, budget=replace(BUDGET, **limits))
    assert (outcome.status, outcome.count, parts) == (Status.OVER_BUDGET, None, [])
    assert outcome.reason_code == code


@pytest.mark.parametrize("lent", [None, Lent()], ids=["alone", "with threads"])
def test_it_is_stopped_like_any_other(lent):
    stop = Stop()
    stop.set(ReasonCode.CANCELLED)
    found = count(lent, budget=replace(BUDGET, stop=stop))
    assert found is None or found[0].reason_code is ReasonCode.CANCELLED


def test_what_is_not_counted_by_layers_is_left_to_others():
    first = count_with_threads(
        PIPS, BOARD, Ask(kind="first"), BUDGET, split="auto", worker="a", borrow=lambda: None
    )
    assert first is None
