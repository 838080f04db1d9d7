"""Letter Boxed as a nightgrid.solvers.game_contract game: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from nightgrid.solvers.algebra import Arrays, Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.game_contract import Game, even_parts, over_budget
from nightgrid.solvers.kernel.codes import OUT_OF_BYTES
from nightgrid.solvers.letterboxed.columns import from_arrays, to_arrays
from nightgrid.solvers.letterboxed.model import Model, model_of
from nightgrid.solvers.letterboxed.playing import continue_chain
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.search.listing import (
    ChainStream,
    Part,
    PartSearch,
    part_range,
)
from nightgrid.solvers.letterboxed.search.search import engine_of
from nightgrid.solvers.letterboxed.solution import Chain, chain_from_json, chain_to_json
from nightgrid.solvers.letterboxed.states.growing_tables import warm as warm_tables
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode

CHAIN_BYTES, WORD_BYTES = 120, 8
"""Share of a chain, and of each of its words, in a list of chains."""


class LetterBoxedGame(Game[Puzzle, Chain]):
    """Letter Boxed, bound to rules and words."""

    name = "letterboxed"
    solver_version = "letterboxed-2"
    reasons: tuple[Reason | None, ...] = (
        None,
        Reason(code=ReasonCode.NODES),
        Reason(code=ReasonCode.TABLE_BYTES),
        Reason(code=ReasonCode.SECONDS),
        Reason(code=ReasonCode.COUNT_TOO_LARGE),
    )
    has_value = True
    board_s = 0.01
    puzzle_from_json = staticmethod(Puzzle.from_json)
    solution_to_json = staticmethod(chain_to_json)
    solution_from_json = staticmethod(chain_from_json)
    to_arrays = staticmethod(to_arrays)

    bound_rules: Rules
    _model: tuple[Puzzle, Model] | None = None

    def from_arrays(self, arrays: Arrays, row: int) -> Puzzle:
        """Decode the puzzle of one row."""
        return from_arrays(arrays, row, self.dictionaries)

    def model(self, puzzle: Puzzle) -> Model:
        """Number a board and find its playable words; those of the last board are cached.

        Raises PermanentError when it has no words.
        """
        kept = self._model
        if kept is None or kept[0] is not puzzle:
            # Read once, since another thread may replace it.
            self._model = kept = puzzle, model_of(puzzle, self.bound_rules, self.lexicon)
        return kept[1]

    def _warm_model(self, puzzle: Puzzle) -> Model:
        """Return the model of a board to search, with its kernels loaded."""
        model = self.model(puzzle)
        if engine_of(model) == "general":
            self.warm_rare_once()
        return model

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Part]:
        """Divide a job or a part by first words."""
        del ask
        return even_parts(part_range(part, len(self.model(puzzle))), into)

    def solve_counted(
        self, puzzle: Puzzle, ask: Ask, part: Part | None, budget: Budget
    ) -> Outcome[Chain]:
        """Count the chains of a part; `best` gives the first of them too."""
        part_search = PartSearch(self._warm_model(puzzle), self.bound_rules, part, budget)
        chains: list[Chain] = []
        taken = 0
        try:
            value, count = part_search.count()
            for chain in islice(part_search.found(), ask.limit) if ask.limit and count else ():
                chains.append(chain)
                taken += self.solution_bytes(chain)
                if taken > budget.table_bytes:
                    raise BudgetSpentError(OUT_OF_BYTES)
        except BudgetSpentError as error:
            return over_budget(Reason(code=error.reason_code), part_search.search.statistics)
        return Outcome(
            status=Status.SOLVED if count else Status.UNSOLVABLE,
            count=count,
            solutions=tuple(chains),
            statistics=part_search.search.statistics,
            value=value,
        )

    def continuation(
        self,
        puzzle: Puzzle,
        moves: Sequence[Any],
        budget: Budget,
        published: Chain | None = None,  # noqa: ARG002
    ) -> Outcome[tuple[Any, ...]]:
        """Find the shortest chain that begins with a player's words."""
        return continue_chain(self, puzzle, self._warm_model(puzzle), moves, budget)

    def solution_bytes(self, solution: Chain) -> int:
        """Estimate a chain's share of a list of chains."""
        return CHAIN_BYTES + WORD_BYTES * len(solution.words)

    def value_of(self, solutions: Sequence[Chain]) -> int | None:
        """Return the value of the best of some chains under the rules: words or letters."""
        letters = self.bound_rules.chains == "fewest-letters"
        return min((c.letters if letters else len(c.words) for c in solutions), default=None)

    def open_stream(
        self, puzzle: Puzzle, part: Part | None, budget: Budget, limit: int | None, *, first: bool
    ) -> ChainStream:
        """Make the stream of the chains of a part."""
        model = self._warm_model(puzzle)
        return ChainStream(model, self.bound_rules, part, budget, limit, first=first)

    def merge(self, puzzle: Puzzle, ask: Ask, outcomes: Sequence[Outcome[Chain]]) -> Outcome[Chain]:
        """Combine the outcomes of all parts; only those with the lowest value count."""
        value = min((o.value for o in outcomes if o.value is not None), default=None)
        best = outcomes
        if not isinstance(self.bound_rules.chains, int):
            best = [o for o in outcomes if o.status is not Status.SOLVED or o.value == value]
        merged = super().merge(puzzle, ask, best)
        if merged.count is None:
            value = None
        elif ask.kind == "first":
            value = self.value_of(merged.solutions)
        statistics = sum((o.statistics for o in outcomes), Statistics())
        return replace(merged, value=value, statistics=statistics)

    def in_order(self, puzzle: Puzzle, ask: Ask, solutions: list[Chain]) -> list[Chain]:
        """Sort chains."""
        del puzzle, ask
        return sorted(solutions, key=lambda chain: chain.order)

    def warm(self) -> None:
        """Compile or load the kernels that boards of distinct letters need."""
        self._warm_with(("AB", "CD"))
        warm_tables()
        # A lexicon's letters are read-only, for which the filter is compiled separately.
        lexicon = compile_lexicon([("AC", 0), ("CBDA", 0)])
        model_of(Puzzle(sides=("AB", "CD")), Rules(), lexicon)

    def warm_rare(self) -> None:
        """Compile or load the kernels of the general engine, which no published board needs."""
        self._warm_with(("ABA", "CDC"))

    def _warm_with(self, sides: tuple[str, ...]) -> None:
        board = Puzzle(sides=sides, dictionary=("AC", "CB", "BD", "BDA", "DA", "CA"))
        for chains in ("fewest-words", "fewest-letters", 6):
            game = LetterBoxedGame(Rules(chains=chains, min_letters=1), None)
            for ask in (Ask(kind="count"), Ask(kind="best", limit=2), Ask(kind="first")):
                game.solve(board, ask)
