"""A job that several processes work has the answer that one would have given."""

import json
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import redis

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.workers.ondemand.sharing import ranges
from nightgrid.workers.ondemand.sharing.ranges import Steps, Worked, solve_shared, work_ranges

WORDS = compile_lexicon(
    [("AB" * n, 500 + n) for n in range(1, 5)] + [("BA" * n, 500) for n in (1, 2)]
)
BOARD = Puzzle(board=("ABABA", "BABAB", "ABABA", "BABAB"), theme_words=4)
COUNT, BEST = Ask(kind="count"), Ask(kind="best", limit=7)


class Pot:
    """Steps in this process: the owner takes them from the front, and all others from the back."""

    def __init__(self, first, steps):
        self.left, self.out = list(range(first, steps)), []
        self.changed = threading.Condition()

    def share(self, name):
        return PotShare(self, name)


class PotShare:
    def __init__(self, pot, name):
        self.pot, self.name = pot, name

    def take(self):
        with self.pot.changed:
            if not self.pot.left:
                return range(0)
            step = self.pot.left.pop(0 if self.name == "owner" else -1)
            return range(step, step + 1)

    def bring(self, value):
        with self.pot.changed:
            self.pot.out.append(json.loads(json.dumps(value)))
            self.pot.changed.notify()

    def brought(self, timeout_s):
        with self.pot.changed:
            self.pot.changed.wait_for(lambda: self.pot.out, timeout_s)
            out, self.pot.out = self.pot.out, []
            return out

    def close(self):
        with self.pot.changed:
            self.pot.left.clear()


@pytest.fixture
def game():
    return StrandsGame(Rules(min_letters=2, compound_parts=1, repeats=True), WORDS)


def helper(pot, name, ask, *, brings=lambda one: one):
    """Another process: it has a game of its own."""
    mine = StrandsGame(Rules(min_letters=2, compound_parts=1, repeats=True), WORDS)
    steps = Steps.of(mine.ranged(BOARD, ask, Budget()))
    share = pot.share(name)
    for one in work_ranges(steps, share, name):
        value = brings(one.to_json(mine))
        if value is not None:
            share.bring(value)


@contextmanager
def helped(monkeypatch, ask, helpers=2, **how):
    """Give what opens a share with some helpers, which have ended when the block has."""
    threads = []
    monkeypatch.setattr(ranges, "WAIT_SECONDS", 0.2)

    def open_share(first, steps, _size):
        pot = Pot(first, steps)
        for number in range(helpers):
            thread = threading.Thread(target=helper, args=(pot, f"w{number}", ask), kwargs=how)
            thread.start()
            threads.append(thread)
        return pot.share("owner")

    yield open_share
    for thread in threads:
        thread.join()


def shared(game, ask, open_share, budget=None, split="ahead"):
    found = solve_shared(
        game, BOARD, ask, budget or Budget(), split=split, worker="w", open_share=open_share
    )
    assert found is not None
    return found


@pytest.mark.parametrize("ask", [COUNT, BEST], ids=str)
@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_the_answer_is_that_of_one(game, monkeypatch, ask, helpers):
    whole = game.solve(BOARD, ask)
    assert whole.count
    with helped(monkeypatch, ask, helpers) as open_share:
        outcome, parts = shared(game, ask, open_share)
    assert (outcome.status, outcome.count) == (whole.status, whole.count)
    assert outcome.solutions == whole.solutions
    assert sum(part.count for part in parts) == whole.count
    assert [part.path for part in parts] == [str(n) for n in range(len(parts))]
    assert all("spangram" in part.what for part in parts)


@pytest.mark.parametrize(
    "brings",
    [
        lambda one: None,
        lambda one: {**one, "count": "many"},
        lambda one: {**one, "high": one["low"]},
        lambda one: {},
    ],
    ids=["nothing", "no number", "an empty range", "no outcome"],
)
def test_what_a_helper_does_not_bring_is_worked_by_the_owner(game, monkeypatch, brings):
    whole = game.solve(BOARD, COUNT)
    with helped(monkeypatch, COUNT, brings=brings) as open_share:
        outcome, parts = shared(game, COUNT, open_share)
    assert (outcome.status, outcome.count) == (whole.status, whole.count)
    assert {part.worker for part in parts} == {"w"}


@pytest.mark.parametrize(
    ("taken", "worked"),
    [
        ([(3, 5), (5, 6)], [(3, 6)]),
        ([(7, 8), (5, 7), (4, 5)], [(4, 8)]),
        ([(2, 3), (7, 8), (6, 7), (3, 4), (4, 5), (0, 1)], [(2, 3), (6, 8), (3, 5), (0, 1)]),
        ([], []),
    ],
    ids=["from the front", "from the back", "here and there", "nothing"],
)
def test_steps_that_lie_side_by_side_are_one_range(game, taken, worked):
    steps = Steps.of(game.ranged(BOARD, COUNT, Budget()))
    given = iter([*(range(*ends) for ends in taken), range(0)])
    found = list(work_ranges(steps, SimpleNamespace(take=lambda: next(given)), "w"))
    assert [(one.low, one.high) for one in found] == worked
    alone = Steps.of(game.ranged(BOARD, COUNT, Budget()))
    alone.work(0, alone.count)
    assert [one.outcome.count for one in found] == [alone.outcome(*r).count for r in worked]


def test_without_a_server_the_owner_works_all(game):
    class Away:
        def fail(self, *_):
            raise redis.ConnectionError("away")

        take = brought = close = fail

    outcome, _ = shared(game, COUNT, lambda *_: Away())
    assert outcome.count == game.solve(BOARD, COUNT).count


def test_a_small_job_is_not_shared_and_a_split_ahead_is(game):
    asked = []

    def open_share(*about):
        asked.append(about)

    outcome, parts = shared(game, COUNT, open_share, split="auto")
    assert (outcome.count, parts, asked) == (game.solve(BOARD, COUNT).count, [], [])
    outcome, parts = shared(game, COUNT, open_share, split="ahead")
    assert outcome.count == game.solve(BOARD, COUNT).count
    assert asked[0][0] == 0, "it is shared before anything is worked"


def test_what_costs_nothing_more_costs_as_much_as_whole(game):
    whole = game.solve(BOARD, COUNT)
    alone, _ = shared(game, COUNT, lambda *_: None, split="auto")
    assert alone.statistics.states == whole.statistics.states
    assert alone.statistics.nodes == whole.statistics.nodes


@pytest.mark.parametrize(
    ("budget", "code"), [(Budget(nodes=20), "nodes"), (Budget(table_bytes=4096), "table_bytes")]
)
def test_a_budget_that_runs_out_is_told(game, budget, code):
    outcome, parts = shared(game, COUNT, lambda *_: None, budget)
    assert (outcome.status, outcome.count, parts) == (Status.OVER_BUDGET, None, [])
    assert outcome.reason_code == code
    assert outcome.statistics.kernel_ns > 0, "what it becomes is expected to take longer"


def test_it_is_stopped_like_any_other(game, monkeypatch):
    stop = Stop()
    stop.set(ReasonCode.CANCELLED)
    game.find(BOARD)
    with helped(monkeypatch, COUNT) as open_share:
        outcome, _ = shared(game, COUNT, open_share, Budget(stop=stop))
    assert outcome.reason_code is ReasonCode.CANCELLED


def test_what_is_brought_is_read_as_it_was_written(game):
    steps = Steps.of(game.ranged(BOARD, BEST, Budget()))
    steps.work(0, steps.count)
    one = Worked(low=0, high=3, outcome=steps.outcome(0, steps.count), what="all", worker="w")
    assert Worked.from_json(json.loads(json.dumps(one.to_json(game))), game) == one
