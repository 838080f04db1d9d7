"""Every search checks its stop along with the clock, and reports it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.letterboxed.game import LetterBoxedGame
from nightgrid.solvers.letterboxed.puzzle import Puzzle as LetterBoxed
from nightgrid.solvers.letterboxed.rules import Rules as LetterBoxedRules
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import LOOSE
from nightgrid.solvers.pips.puzzle import Puzzle as Pips
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.stop import Stop, stopped_after
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.general.wide_pieces import find_wide_pieces
from nightgrid.solvers.strands.pieces import words
from nightgrid.solvers.strands.pieces.pieces import find_pieces, grid_of
from nightgrid.solvers.strands.puzzle import Puzzle as Strands
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form
from nightgrid.solvers.tiles.generate import generate as generate_tiles
from nightgrid.solvers.tiles.rules import Rules as TilesRules
from tests.solvers.pips.boards import bands, puzzle_of

COUNT, FIRST, ALL, BEST = (Ask.parse(ask) for ask in ("count", "first", "all", "best(2)"))
ENDLESS = 2**62
A_WORDS = compile_lexicon([("A", 500), ("AA", 500), ("AAA", 500)])
FREE = Rules(spangram="off", words="any", min_letters=1, repeats=True, compound_parts=1)
LAUGHTER = Strands(board=("HAHAHA", "AHAHAH") * 4, theme_words=7)
LAUGHS = compile_lexicon([("HA" * n, 500) for n in range(1, 9)])
CHAINS = LetterBoxed(sides=("ABCA", "BCDD", "DEAF"), dictionary=("ABC", "CDE", "ECD", "DAB", "BDF"))


@pytest.fixture
def stop() -> Iterator[Stop]:
    """Yield a stop that is set."""
    stop = Stop()
    stop.set(ReasonCode.CANCELLED)
    return stop


def loose() -> Pips:
    return generate(replace(LOOSE, dominoes=((24, 1.0),), rows=4), 1)[0]


def letterboxed(ask: Ask, chains: str) -> Callable[[Budget], Outcome[Any]]:
    game = LetterBoxedGame(LetterBoxedRules.parse(f"min_letters=1 chains={chains}"), None)
    return lambda budget: game.solve(CHAINS, ask, None, budget)


def strands(rules: Rules, board: Strands, ask: Ask) -> Callable[[Budget], Outcome[Any]]:
    def solve(budget: Budget) -> Outcome[Any]:
        game = StrandsGame(rules, A_WORDS)
        # The pieces are known, so the search is stopped.
        game.find(board)
        return game.solve(board, ask, None, budget)

    return solve


GIVEN = Strands(board=("AAAAA",) * 3, theme_words=7)
PLAIN = Strands(board=("AAAA",) * 4)
WIDE = Strands(board=("A" * 40,) * 9)
TILES = generate_tiles(Form(layers=6, shapes_min=6, shapes_max=6), 1)

SEARCHES: dict[str, Callable[[Budget], Outcome[Any]]] = {
    "pips count": lambda budget: PipsGame().solve(loose(), COUNT, None, budget),
    "pips all": lambda budget: PipsGame().solve(loose(), ALL, None, budget),
    "pips general": lambda budget: PipsGame().solve(puzzle_of(bands(40, 30)), COUNT, None, budget),
    "pips general first": lambda budget: PipsGame().solve(
        puzzle_of(bands(40, 30)), FIRST, None, budget
    ),
    "pips part of a layer": lambda budget: PipsGame().solve(
        loose(), COUNT, {"layer": 4, "buckets": [0, 600]}, budget
    ),
    "strands zones": strands(Rules(min_letters=1, compound_parts=1, repeats=True), GIVEN, COUNT),
    "strands zones best": strands(
        Rules(min_letters=1, compound_parts=1, repeats=True), GIVEN, BEST
    ),
    "strands zones all": strands(Rules(min_letters=1, compound_parts=1, repeats=True), GIVEN, ALL),
    "strands sweep": strands(FREE, PLAIN, COUNT),
    "strands sweep first": strands(FREE, PLAIN, FIRST),
    "strands general": strands(FREE, WIDE, COUNT),
    "strands general all": strands(FREE, WIDE, ALL),
    "tiles best": lambda budget: TilesGame(TilesRules(teleports="yes")).solve(
        TILES, Ask.parse("best(1)"), None, budget
    ),
    "tiles first": lambda budget: TilesGame(TilesRules(teleports="no")).solve(
        TILES, FIRST, None, budget
    ),
    **{
        f"letterboxed {ask} {chains}": letterboxed(ask, chains)
        for ask in (COUNT, FIRST, ALL, BEST)
        for chains in ("fewest-words", "fewest-letters", "9")
    },
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("why", [ReasonCode.CANCELLED, ReasonCode.DEADLINE])
def test_a_stopped_search_ends_with_the_reason(
    search: Callable[[Budget], Outcome[Any]], why: ReasonCode
) -> None:
    stop = Stop()
    stop.set(why)
    outcome = search(Budget(stop=stop))
    assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
    assert outcome.reason_code is why
    assert outcome.reason.startswith(why.sentence)


@pytest.mark.parametrize(
    "name", ["strands zones", "strands sweep", "letterboxed count 9", "pips general"]
)
def test_a_search_that_was_stopped_leaves_nothing_to_the_next(name: str, stop: Stop) -> None:
    # Searches reuse tables, but each has its own stop.
    search = SEARCHES[name]
    before = search(Budget())
    assert search(Budget(stop=stop)).reason_code is ReasonCode.CANCELLED
    after = search(Budget())
    assert (after.status, after.count, after.solutions) == (
        before.status,
        before.count,
        before.solutions,
    )


def test_a_running_kernel_is_stopped_by_another_thread() -> None:
    stop = Stop()
    timer = threading.Timer(0.05, stop.set, [ReasonCode.CANCELLED])
    timer.start()
    outcome = PipsGame().solve(loose(), COUNT, None, Budget(seconds=60.0, stop=stop))
    timer.join()
    assert outcome.reason_code is ReasonCode.CANCELLED


class Flag(Stop):
    """Set as soon as a kernel has its address: before the kernel's first check."""

    asked = 0

    @property
    def address(self) -> int:
        """Address of the flag."""
        self.asked += 1
        self.set(ReasonCode.CANCELLED)
        return super().address


@pytest.mark.parametrize(
    "name", [name for name in SEARCHES if name.startswith(("letterboxed", "tiles"))]
)
def test_a_flag_that_is_set_when_kernels_have_it_ends_the_search_without_an_answer(
    name: str,
) -> None:
    flag = Flag()
    outcome = SEARCHES[name](Budget(stop=flag))
    assert flag.asked, "no kernel was told where the flag lies"
    assert outcome.reason_code is ReasonCode.CANCELLED
    assert (outcome.count, outcome.solutions, outcome.value) == (None, (), None)


def test_a_batch_of_small_boards_is_stopped_between_them(stop: Stop) -> None:
    game = PipsGame()
    board = puzzle_of(
        {
            "dominoes": [[0, 1]],
            "regions": [{"indices": [[0, 0], [0, 1]], "type": "empty"}],
        }
    )
    out = game.solve_batch(game.to_arrays([board] * 3), COUNT, Budget(stop=stop))
    codes = [game.reasons[index] for index in out["reason"].tolist()]
    assert [code and code.code for code in codes] == [ReasonCode.SECONDS] * 3


def test_a_count_by_layers_is_stopped_and_continues_under_a_new_stop(stop: Stop) -> None:
    game = PipsGame()
    count = game.layered(generate(replace(LOOSE, dominoes=((10, 1.0),), rows=4), 1)[0],
                         Budget())  # fmt: skip
    assert count is not None
    count.begin()
    assert count.advance(0, count.layers)[1] is None
    whole = count.total()
    count.renew(Budget(stop=stop))
    count.begin()
    rows = np.repeat(count.rows, 64, axis=0)
    assert not count.gather(rows), "what is stopped looks like a table that is full"
    count.renew(Budget(stop=Stop()))
    count.begin()
    assert count.advance(0, count.layers)[1] is None
    assert count.total() == whole


def test_the_search_for_pieces_is_stopped(stop: Stop) -> None:
    grid = grid_of(LAUGHTER, Rules(), LAUGHS, stop)
    found, _, _ = words.find_words(LAUGHS.trie, grid, 2, ENDLESS, ENDLESS)
    assert found == words.TOO_MANY_PATHS
    for find in (find_pieces, find_wide_pieces):
        with pytest.raises(BudgetSpentError):
            find(LAUGHTER, Rules(compound_parts=1), LAUGHS, stop)


def test_the_first_reason_wins_and_cells_are_reused() -> None:
    addresses = set()
    for _ in range(300):
        stop = Stop()
        assert stop.reason_code is None
        stop.set(ReasonCode.DEADLINE)
        stop.set(ReasonCode.CANCELLED)
        assert stop.reason_code is ReasonCode.DEADLINE
        addresses.add(stop.address)
        del stop
    assert len(addresses) < 300


def test_a_timed_stop_is_set_when_its_seconds_are_over_or_the_one_it_follows_is() -> None:
    with stopped_after(1e-9) as stop:
        while stop.reason_code is None:
            time.sleep(0.001)
        assert stop.reason_code is ReasonCode.DEADLINE
    first = Stop()
    with stopped_after(60.0, first) as stop:
        assert stop.reason_code is None
        first.set(ReasonCode.CANCELLED)
        while stop.reason_code is None:
            time.sleep(0.001)
        assert stop.reason_code is ReasonCode.CANCELLED
    assert not any(thread.name == "stopped-after" for thread in threading.enumerate())
