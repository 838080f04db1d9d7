"""Strands behind the contract of nightgrid.solvers.algebra: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import (
    MAX_COUNT,
    STATUS_CODES,
    Arrays,
    Ask,
    Budget,
    Outcome,
    Statistics,
    Status,
    failure_of,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letter_features import LETTER_FEATURES, letter_features
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode, reason_index
from nightgrid.solvers.strands.columns import from_arrays, to_arrays
from nightgrid.solvers.strands.engine_choice import engine_for
from nightgrid.solvers.strands.general.wide_pieces import WideFound, find_any_pieces
from nightgrid.solvers.strands.listing import COVER_BYTES, CoverStream, best_first
from nightgrid.solvers.strands.parts import Part, divide, part_range, walk
from nightgrid.solvers.strands.paths import build_cover
from nightgrid.solvers.strands.pieces.pieces import Found, TooManyPiecesError
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, cover_from_json, cover_to_json
from nightgrid.solvers.strands.states.engine import TOO_MANY_PIECES, TOO_MANY_SETS, reason_of

BOARD_S = 0.3
"""What a published board costs."""
REASONS: tuple[Reason | None, ...] = (
    None,
    Reason(code=ReasonCode.NODES),
    Reason(code=ReasonCode.TABLE_BYTES),
    Reason(code=ReasonCode.SECONDS),
    TOO_MANY_SETS,
    Reason(code=ReasonCode.COUNT_TOO_LARGE),
    TOO_MANY_PIECES,
)


class StrandsGame:
    """The room of Strands: see nightgrid.solvers.algebra.Game."""

    name = "strands"
    solver_version = "strands-3"
    reasons = REASONS

    def __init__(self, rules: Rules, lexicon: Lexicon | None) -> None:
        self.bound_rules = rules
        self.lexicon = lexicon
        self.rules = str(rules)
        self.on_progress: Callable[[int, int], None] | None = None
        self._found: tuple[Puzzle, Found | WideFound] | None = None
        self.lexicon_id = "" if lexicon is None else lexicon.lexicon_id

    def puzzle_from_json(self, value: object) -> Puzzle:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""
        return Puzzle.from_json(value)

    def puzzle_to_json(self, puzzle: Puzzle) -> dict[str, Any]:
        """Write a puzzle in its canonical form."""
        return puzzle.to_json()

    def puzzle_id(self, puzzle: Puzzle) -> str:
        """Hash the canonical form."""
        return puzzle.puzzle_id

    def solution_to_json(self, solution: Cover) -> dict[str, Any]:
        """Write a cover as a JSON value."""
        return cover_to_json(solution)

    def solution_from_json(self, value: Any) -> Cover:
        """Read a cover as `solution_to_json` writes it."""
        return cover_from_json(value)

    def to_arrays(self, puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""
        return to_arrays(puzzles)

    def from_arrays(self, arrays: Arrays, row: int) -> Puzzle:
        """Rebuild the puzzle of one row."""
        return from_arrays(arrays, row)

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Part]:
        """Divide a job or a part by its spangrams, and what is one spangram by its first words."""
        del ask
        try:
            found = self.find(puzzle)
            engine = engine_for(puzzle, self.bound_rules, found, Budget(), exists=True)
            return divide(engine, part, into)
        except (TooManyPiecesError, BudgetSpentError):
            # Whoever solves it is told why it cannot be.
            return [part or {"under": [], "from": 0, "to": None}]

    def solve(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> Outcome[Cover]:
        """Answer the ask for the whole puzzle or one part of it."""
        budget = budget or Budget()
        if ask.kind in ("first", "all"):
            return self._listed(puzzle, ask, part, budget)
        engine = None
        try:
            found = self.find(puzzle)
            engine = engine_for(puzzle, self.bound_rules, found, budget, exists=False)
            engine.on_progress = self.on_progress
            pieces, state, score = walk(engine, part_range(part)[0])
            counts, bests, kids = _values(engine, part, state)
            total = sum(counts)
            if total > MAX_COUNT:  # A count that is full is more.
                return _over(Reason(code=ReasonCode.COUNT_TOO_LARGE), engine)
            if ask.kind == "count":
                status = Status.SOLVED if total else Status.UNSOLVABLE
                return Outcome(status=status, count=total, statistics=engine.statistics())
            top = list(best_first(engine, ask.limit or 1, bests, kids, score))
            covers = tuple(
                build_cover(
                    pieces + more, value, puzzle, self.bound_rules, found, self.words_known()
                )
                for value, more in top
            )
            return Outcome(
                status=Status.SOLVED if covers else Status.UNSOLVABLE,
                count=total,
                solutions=covers,
                statistics=engine.statistics(),
            )
        except BudgetSpentError as error:
            return _over(reason_of(error), engine)
        except TooManyPiecesError as error:
            return _over(Reason(code=ReasonCode.CAPACITY, sentence=str(error)), None)

    def _listed(
        self, puzzle: Puzzle, ask: Ask, part: Part | None, budget: Budget
    ) -> Outcome[Cover]:
        stream = self.stream(puzzle, ask, part, budget)
        most = budget.table_bytes // COVER_BYTES
        covers: list[Cover] = []
        for solution in stream:
            covers.append(solution)
            if len(covers) > most:
                return _over(Reason(code=ReasonCode.TABLE_BYTES), stream.engine)
        if stream.status is Status.OVER_BUDGET:
            return Outcome(
                status=stream.status,
                reason_code=stream.reason_code,
                reason=stream.reason,
                statistics=stream.statistics,
            )
        return Outcome(
            status=stream.status,
            count=len(covers),
            solutions=tuple(covers),
            truncated=stream.truncated and ask.kind == "all",
            statistics=stream.statistics,
        )

    def stream(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> CoverStream:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for another ask.
        """
        if ask.kind not in ("first", "all"):
            raise PermanentError(f"covers for {ask} are not streamed; ask for first or all")
        first = ask.kind == "first"
        limit = 1 if first else ask.limit
        return CoverStream(self, puzzle, part, budget or Budget(), limit, first=first)

    def merge(
        self,
        puzzle: Puzzle,  # noqa: ARG002  parts in the order of split are in canonical order
        ask: Ask,
        outcomes: Sequence[Outcome[Cover]],
    ) -> Outcome[Cover]:
        """Combine the outcomes of all parts, in the order of split, into that of the whole."""
        statistics = sum((o.statistics for o in outcomes), Statistics())
        failed = failure_of(outcomes)
        if failed is not None:
            return failed
        count = sum(o.count or 0 for o in outcomes)
        if ask.kind in ("count", "best") and count > MAX_COUNT:
            return Outcome(
                status=Status.OVER_BUDGET,
                reason_code=ReasonCode.COUNT_TOO_LARGE,
                statistics=statistics,
            )
        if ask.kind == "count":
            status = Status.SOLVED if count else Status.UNSOLVABLE
            return Outcome(status=status, count=count, statistics=statistics)
        found = [cover for o in outcomes for cover in o.solutions]
        if ask.kind == "best":
            # Stable: covers of one score stay in canonical order.
            found.sort(key=lambda cover: -cover.score)
        most = 1 if ask.kind == "first" else ask.limit
        kept = tuple(found[:most])
        return Outcome(
            status=Status.SOLVED if found else Status.UNSOLVABLE,
            count=count if ask.kind == "best" else len(kept),
            solutions=kept,
            truncated=ask.kind == "all"
            and (len(found) > len(kept) or any(o.truncated for o in outcomes)),
            statistics=statistics,
        )

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Count every row, one board after the other: each is milliseconds to seconds of work.

        Raises PermanentError for an ask other than `count`.
        """
        if ask.kind != "count":
            raise PermanentError(f"a batch of Strands boards can be counted, not asked for {ask}")
        rows = len(arrays["size"])
        names = ("states", "nodes", "kernel_ns", "table_bytes")
        out: dict[str, npt.NDArray[Any]] = {name: np.zeros(rows, np.int64) for name in names}
        out |= {name: np.zeros(rows, np.uint8) for name in ("status", "reason")}
        out |= {name: np.zeros(rows, np.uint64) for name in ("count_hi", "count_lo")}
        for row in range(rows):
            outcome = self.solve(from_arrays(arrays, row), ask, None, budget)
            out["status"][row] = STATUS_CODES.index(outcome.status)
            out["reason"][row] = reason_index(REASONS, outcome.reason_code)
            out["count_hi"][row] = (outcome.count or 0) >> 64
            out["count_lo"][row] = (outcome.count or 0) & (2**64 - 1)
            for name in names:
                out[name][row] = getattr(outcome.statistics, name)
        return out

    def words_known(self) -> Lexicon:
        """Return the lexicon, or raise PermanentError when bound to none."""
        if self.lexicon is None:
            raise PermanentError("Strands is solved with a lexicon; this game is bound to none")
        return self.lexicon

    def find(self, puzzle: Puzzle) -> Found | WideFound:
        """Find the pieces of a board; those of the last board asked for are kept."""
        if self._found is None or self._found[0] != puzzle:
            # Counting and ranking one board one after the other finds its pieces once.
            self._found = puzzle, find_any_pieces(puzzle, self.bound_rules, self.words_known())
        return self._found[1]

    def layered(self, puzzle: Puzzle, budget: Budget) -> None:
        """Return None: no board of this game is counted by layers."""

    def cost_s(
        self,
        arrays: Arrays,
        ask: Ask,  # noqa: ARG002  every ask about a board costs about the same
    ) -> npt.NDArray[np.float64]:
        """Estimate the seconds that each row will take one core, for planning."""
        return np.full(len(arrays["size"]), BOARD_S)

    def features(self, arrays: Arrays) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
        """Tell of each row what its time depends on: cells, words to find, letters."""
        names = ("cells", "theme_words", *LETTER_FEATURES)
        columns = [arrays["size"], arrays["theme_word_count"], letter_features(arrays)]
        return names, np.column_stack(columns)

    def warm(self) -> None:
        """Compile or load every kernel, so that the first solve pays for nothing."""
        lexicon = compile_lexicon([("AB", 500), ("ABAB", 500), ("BA", 500)])
        for words in (None, 1):
            game = StrandsGame(Rules(min_letters=2), lexicon)
            board = Puzzle(board=("ABAB", "BABA"), theme_words=words)
            for ask in (Ask(kind="count"), Ask(kind="best", limit=2), Ask(kind="first")):
                game.solve(board, ask)
        loose = Rules(spangram="off", words="any", min_letters=2)
        wide = Puzzle(board=("AB" * 20, "BA" * 20, "AB" * 20))
        StrandsGame(loose, lexicon).solve(wide, Ask(kind="first"))


def _over(reason: Reason, engine: Any) -> Outcome[Cover]:
    return Outcome(
        status=Status.OVER_BUDGET,
        reason_code=reason.code,
        reason=reason.sentence,
        statistics=Statistics() if engine is None else engine.statistics(),
    )


def _values(engine: Any, part: Part | None, state: Any) -> tuple[list[int], list[int], list[Any]]:
    """Value the children that a part names: counts, best scores, and (index, child) where any."""
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
