"""The choice of a board's search, and its covers: the highest scores first, or all in order."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nightgrid.solvers.algebra import Budget, SolutionStream, Statistics
from nightgrid.solvers.kernel.codes import OUT_OF_BYTES
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode
from nightgrid.solvers.strands.parts import Part, part_range, walk
from nightgrid.solvers.strands.paths import cover_builder
from nightgrid.solvers.strands.pieces.pieces import Found, TooManyPiecesError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover
from nightgrid.solvers.strands.states.engine import reason_of
from nightgrid.solvers.strands.states.table import NODES
from nightgrid.solvers.strands.zones.engine import ZoneEngine

if TYPE_CHECKING:
    from nightgrid.solvers.strands.game import StrandsGame
    from nightgrid.solvers.strands.general.engine import GeneralEngine
    from nightgrid.solvers.strands.sweep.engine import SweepEngine

COVER_BYTES = 2048
"""Size of a cover in a list of covers."""
ZONE_CELLS_MAX, ZONE_WORDS_MAX = 63, 60
SWEEP_WORDS_MAX = 250
SWEEP_NODES = 1 << 22
"""Nodes of the sweep, about a second, before a board of more than 63 cells goes to the general
search: row by row may be the wrong order."""


def engine_for(
    puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
) -> ZoneEngine | SweepEngine | GeneralEngine:
    """Choose the search: by zones if the number of words is known, else cell by cell.

    The choice depends on the board and the rules alone, so that a part always means the same.
    """
    words = puzzle.theme_words if rules.words == "given" else None
    spangram = rules.spangram != "off" and not found.words.wide
    if words is not None and spangram and 1 <= words <= ZONE_WORDS_MAX:
        if puzzle.cell_count <= ZONE_CELLS_MAX:
            return ZoneEngine(puzzle, rules, found, budget, exists=exists)
    # Imported here, since published boards need neither.
    from nightgrid.solvers.strands.general.engine import GeneralEngine
    from nightgrid.solvers.strands.sweep.engine import SweepEngine

    if found.words.wide or (words or 0) > SWEEP_WORDS_MAX:
        return GeneralEngine(puzzle, rules, found, budget, exists=exists)
    sweep = SweepEngine(puzzle, rules, found, budget, exists=exists)
    started_s = time.monotonic()
    if puzzle.cell_count <= ZONE_CELLS_MAX or sweep.ends_within(SWEEP_NODES):
        return sweep
    rest = replace(
        budget,
        nodes=budget.nodes - int(sweep.table.control[NODES]),
        seconds=max(1e-9, budget.seconds - (time.monotonic() - started_s)),
    )
    return GeneralEngine(puzzle, rules, found, rest, exists=exists)


def best_first(
    engine: Any, limit: int, bests: list[int], kids: list[Any], score: int
) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield the covers of the highest scores, ties in canonical order.

    The values of states are exact, so every popped state leads to a cover of exactly its score: A*
    with a perfect heuristic. Raises BudgetSpentError.
    """
    heap: list[Any] = [
        (-(score + best), (index,), score, child, None)
        for best, (index, child) in zip(bests, kids, strict=True)
    ]
    heapq.heapify(heap)
    found = 0
    while heap and found < limit:
        engine.check_clock()
        if (len(heap) + found) * COVER_BYTES > engine.budget.table_bytes:
            raise BudgetSpentError(OUT_OF_BYTES)
        negative, key, now, child, before = heapq.heappop(heap)
        if child is None:
            child = engine.root_child(key[0])
        placed: list[tuple[str, int]] = []
        while True:
            piece, value, state = child
            placed.append(piece)
            now += value
            live = engine.live_children(state)
            if not live:
                # A state with covers but no children is a cover.
                yield -negative, _joined(before, placed)
                found += 1
                break
            if len(live) == 1:
                # No choice here, and a cover may have thousands of words.
                child = live[0][2]
                continue
            way = before, placed
            for best, i, step in live:
                heapq.heappush(heap, (-(now + step[1] + best), (*key, i), now, step, way))
            break


def _joined(before: Any, placed: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Flatten a linked list of (previous, pieces), from its start."""
    ways = [placed]
    while before is not None:
        before, pieces = before
        ways.append(pieces)
    return [piece for pieces in reversed(ways) for piece in pieces]


class CoverStream(SolutionStream[Cover]):
    """Covers of a part."""

    def __init__(
        self, game: StrandsGame, puzzle: Puzzle, part: Part | None, budget: Budget,
        limit: int | None, *, first: bool,
    ) -> None:  # fmt: skip
        self.game, self.puzzle, self.part = game, puzzle, part
        self.budget, self.limit, self.first = budget, limit, first
        self.engine: Any = None

    @property
    def statistics(self) -> Statistics:
        """Cost of the stream so far."""
        return Statistics() if self.engine is None else self.engine.statistics()

    def found(self) -> Iterator[Cover]:
        """Search for one cover after the other."""
        try:
            for game in self.game.steps(self.part):
                cover = None
                for cover in self._covers(game):
                    yield cover
                if cover is not None:
                    return
        except BudgetSpentError as error:
            self.end(reason_of(error))
        except TooManyPiecesError as error:
            self.end(Reason(code=ReasonCode.CAPACITY, sentence=str(error)))

    def _covers(self, game: StrandsGame) -> Iterator[Cover]:
        puzzle, rules = self.puzzle, game.bound_rules
        found = game.find(puzzle, self.budget)
        self.engine = engine_for(puzzle, rules, found, self.budget, exists=True)
        build = cover_builder(puzzle, rules, found, game.words_known())
        for score, pieces in self._walk_all():
            yield build(pieces, score)

    def _walk_all(self) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        engine = self.engine
        under, start, stop = part_range(self.part)
        pieces, state, score = walk(engine, under)
        if state is not None:
            kids = engine.children(state)[start:stop]
        else:
            stop = engine.root_size() if stop is None else stop
            kids = self._roots(start, stop)
        yield from self._below(kids, pieces, score)

    def _roots(self, start: int, stop: int) -> Iterator[Any]:
        for i in range(start, stop):
            if self.game.on_progress is not None:
                self.game.on_progress(i - start, stop - start)
            yield self.engine.root_child(i)

    def _below(self, kids: Any, pieces: Any, score: int) -> Iterator[Any]:
        """Walk down depth first; a cover may have thousands of words."""
        engine = self.engine
        placed, scores = list(pieces), [score]
        levels = [iter(kids)]
        while levels:
            child = next(levels[-1], None)
            if child is None:
                levels.pop()
                scores.pop()
                if levels:
                    placed.pop()
                continue
            piece, value, state = child
            engine.check_clock()
            if not engine.value(state)[0]:
                continue
            more = engine.children(state)
            if more:
                placed.append(piece)
                scores.append(scores[-1] + value)
                levels.append(iter(more))
            else:
                yield scores[-1] + value, [*placed, piece]
