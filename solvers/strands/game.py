"""Strands as a nightgrid.solvers.game_contract game: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nightgrid.solvers.algebra import MAX_COUNT, Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game, over_budget
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode
from nightgrid.solvers.strands.columns import from_arrays, to_arrays
from nightgrid.solvers.strands.general.wide_pieces import find_any_pieces
from nightgrid.solvers.strands.listing import COVER_BYTES, CoverStream, best_first, engine_for
from nightgrid.solvers.strands.parts import Part, divide, part_range, walk
from nightgrid.solvers.strands.paths import cover_builder
from nightgrid.solvers.strands.pieces.pieces import Found, TooManyPiecesError
from nightgrid.solvers.strands.playing import has_words, pieces_with, read_words, words_left
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, cover_from_json, cover_to_json
from nightgrid.solvers.strands.states.engine import TOO_MANY_PIECES, TOO_MANY_SETS, reason_of


class StrandsGame(Game[Puzzle, Cover]):
    """Strands, bound to rules and a lexicon."""

    name = "strands"
    solver_version = "strands-4"
    reasons: tuple[Reason | None, ...] = (
        None,
        Reason(code=ReasonCode.NODES),
        Reason(code=ReasonCode.TABLE_BYTES),
        Reason(code=ReasonCode.SECONDS),
        TOO_MANY_SETS,
        Reason(code=ReasonCode.COUNT_TOO_LARGE),
        TOO_MANY_PIECES,
    )
    board_s = 0.3
    parts_in_order = True
    puzzle_from_json = staticmethod(Puzzle.from_json)
    solution_to_json = staticmethod(cover_to_json)
    solution_from_json = staticmethod(cover_from_json)
    to_arrays = staticmethod(to_arrays)
    from_arrays = staticmethod(from_arrays)

    bound_rules: Rules
    on_progress: Callable[[int, int], None] | None = None
    _found: tuple[Puzzle, Found] | None = None
    _few: StrandsGame | None = None

    def steps(self, part: Part | None) -> list[StrandsGame]:
        """Return the games that answer a job, or a part of one, one after the other.

        The first that has a cover answers: spangrams of few words go first. A part is of one step.
        """
        if self._few is None and self.bound_rules.few is not None:
            self._few = StrandsGame(self.bound_rules.few, self.lexicon)
        if self._few is None or (part is not None and not part.get("few")):
            return [self]
        self._few.on_progress = self.on_progress
        return [self._few] if part is not None else [self._few, self]

    def step(self, puzzle: Puzzle, budget: Budget) -> StrandsGame | None:
        """Return which of the steps answers a board; None if the budget runs out first."""
        *before, last = self.steps(None)
        for game in before:
            status = game.solve(puzzle, Ask(kind="first"), None, budget).status
            if status is not Status.UNSOLVABLE:
                return game if status is Status.SOLVED else None
        return last

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Any]:
        """Divide a job or a part by its spangrams, and one spangram by its first words."""
        del ask
        game = self.step(puzzle, Budget()) if part is None else self.steps(part)[0]
        if game is None:
            return [part]
        try:
            found = game.find(puzzle)
            engine = engine_for(puzzle, game.bound_rules, found, Budget(), exists=True)
            parts = divide(engine, part, into)
        except (TooManyPiecesError, BudgetSpentError):
            # Solving the part reports why it cannot be divided.
            return [part]
        return parts if game is self else [{**one, "few": True} for one in parts]

    def solve_counted(
        self, puzzle: Puzzle, ask: Ask, part: Part | None, budget: Budget
    ) -> Outcome[Cover]:
        """Count the covers of a part; `best` also lists those of the highest scores."""
        spent = Statistics()
        for game in self.steps(part):
            outcome = game.count_pieces(puzzle, ask, part, budget)
            spent += outcome.statistics
            if outcome.status is not Status.UNSOLVABLE:
                break
        return replace(outcome, statistics=spent)

    def count_pieces(
        self, puzzle: Puzzle, ask: Ask, part: Part | None, budget: Budget
    ) -> Outcome[Cover]:
        """Count covers of all pieces of the rules."""
        engine = None
        try:
            found = self.find(puzzle, budget)
            engine = engine_for(puzzle, self.bound_rules, found, budget, exists=False)
            engine.on_progress = self.on_progress
            pieces, state, score = walk(engine, part_range(part)[0])
            counts, bests, kids = _values(engine, part, state)
            total = sum(counts)
            if total > MAX_COUNT:  # A saturated count is more.
                reason = Reason(code=ReasonCode.COUNT_TOO_LARGE)
                return over_budget(reason, engine.statistics())
            top = best_first(engine, ask.limit, bests, kids, score) if ask.limit else ()
            build = cover_builder(puzzle, self.bound_rules, found, self.words_known())
            covers = [build(pieces + more, value) for value, more in top]
            return Outcome(
                status=Status.SOLVED if total else Status.UNSOLVABLE,
                count=total,
                solutions=tuple(covers),
                statistics=engine.statistics(),
            )
        except BudgetSpentError as error:
            spent = Statistics() if engine is None else engine.statistics()
            return over_budget(reason_of(error), spent)
        except TooManyPiecesError as error:
            reason = Reason(code=ReasonCode.CAPACITY, sentence=str(error))
            return over_budget(reason, Statistics())

    def continuation(
        self,
        puzzle: Puzzle,
        moves: Sequence[Any],
        budget: Budget,
        published: Cover | None = None,
    ) -> Outcome[tuple[Any, ...]]:
        """Find the published cover, else the likeliest, else any with a player's words."""
        placed = read_words(puzzle, moves)
        if published is not None and has_words(published, placed, puzzle.column_count):
            left = words_left(published, placed, puzzle.column_count)
            return Outcome(status=Status.SOLVED, count=1, solutions=(left,))
        game = self.step(puzzle, budget)
        if game is None:
            return over_budget(Reason(code=ReasonCode.SECONDS), Statistics())
        rest = StrandsGame(game.bound_rules, self.lexicon)
        try:
            found = pieces_with(game.find(puzzle, budget), placed, self.words_known())
        except (TooManyPiecesError, BudgetSpentError):
            return over_budget(Reason(code=ReasonCode.SECONDS), Statistics())
        rest._found = puzzle, found
        outcome: Outcome[Any] = rest.solve(puzzle, Ask(kind="best", limit=1), None, budget)
        if outcome.status is Status.OVER_BUDGET:
            outcome = rest.solve(puzzle, Ask(kind="first"), None, budget)
        rests = (words_left(cover, placed, puzzle.column_count) for cover in outcome.solutions)
        return replace(outcome, solutions=tuple(rests))

    def solution_bytes(self, solution: Cover) -> int:  # noqa: ARG002
        """Estimate a cover's share of a list of covers."""
        return COVER_BYTES

    def open_stream(
        self, puzzle: Puzzle, part: Part | None, budget: Budget, limit: int | None, *, first: bool
    ) -> CoverStream:
        """Return a stream of the covers of a part."""
        return CoverStream(self, puzzle, part, budget, limit, first=first)

    def in_order(self, puzzle: Puzzle, ask: Ask, solutions: list[Cover]) -> list[Cover]:  # noqa: ARG002
        """Keep the canonical order of `split`; for `best`, sort by score first."""
        # Stable: covers of one score stay in canonical order.
        return sorted(solutions, key=lambda c: -c.score) if ask.kind == "best" else solutions

    def words_known(self) -> Lexicon:
        """Return the lexicon, or raise PermanentError when bound to none."""
        if self.lexicon is None:
            raise PermanentError("Strands needs a lexicon; this game is bound to none")
        return self.lexicon

    def find(self, puzzle: Puzzle, budget: Budget | None = None) -> Found:
        """Find the pieces of a board; those of the last board are cached.

        Raises BudgetSpentError if the budget's stop is set meanwhile.
        """
        if self._found is None or self._found[0] != puzzle:
            # Counting and then ranking a board finds its pieces once.
            stop = None if budget is None else budget.stop
            found = find_any_pieces(puzzle, self.bound_rules, self.words_known(), stop)
            self._found = puzzle, found
        return self._found[1]

    def warm(self) -> None:
        """Compile or load every kernel, so that the first solve does not have to."""
        lexicon = compile_lexicon([("AB", 500), ("ABAB", 500), ("BA", 500)])
        for words in (None, 1):
            game = StrandsGame(Rules(min_letters=2), lexicon)
            board = Puzzle(board=("ABAB", "BABA"), theme_words=words)
            for ask in (Ask(kind="count"), Ask(kind="best", limit=2), Ask(kind="first")):
                game.solve(board, ask)


def _values(engine: Any, part: Part | None, state: Any) -> tuple[list[int], list[int], list[Any]]:
    """Value a part's children: counts, best scores, and (index, child) of those with covers."""
    _, start, stop = part_range(part)
    if state is None:
        stop = engine.root_size() if stop is None else stop
        indices, counts, bests = engine.root_values(start, stop)
        return counts, bests, [(i, None) for i in indices]
    counts, bests, kids = [], [], []
    for i, child in list(enumerate(engine.children(state)))[start:stop]:
        count, best = engine.value(child[2])
        if count:
            counts.append(count)
            bests.append(best + child[1])
            kids.append((i, child))
    return counts, bests, kids
