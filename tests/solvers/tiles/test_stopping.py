"""A search for the fewest moves checks the flag within a node: nodes of large boards are long."""

from __future__ import annotations

import threading

from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.tiles.game import TilesGame
from nightgrid.solvers.tiles.generate import Form, generate
from nightgrid.solvers.tiles.rules import Rules

SET_AFTER_S = 0.3
"""The first node of the board takes seconds."""


def test_a_search_that_is_told_to_stop_in_its_first_node_does_not_enter_a_second() -> None:
    board = generate(Form(tiles=512, layers=26, shapes_min=157, shapes_max=157), 1)
    stop = Stop()
    timer = threading.Timer(SET_AFTER_S, stop.set, [ReasonCode.CANCELLED])
    timer.start()
    outcome = TilesGame(Rules()).solve(board, Ask.parse("best(1)"), None, Budget(stop=stop))
    timer.join()
    assert outcome.reason_code is ReasonCode.CANCELLED
    assert outcome.statistics.nodes == 1
