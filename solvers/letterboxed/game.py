"""Letter Boxed behind the contract of nightgrid.solvers.algebra: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
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
from nightgrid.solvers.kernel.codes import OUT_OF_BYTES
from nightgrid.solvers.letter_features import LETTER_FEATURES, letter_features
from nightgrid.solvers.letterboxed.columns import from_arrays, to_arrays
from nightgrid.solvers.letterboxed.model import Model, model_of
from nightgrid.solvers.letterboxed.parts import Part, divide
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.search.greedy import greedy_chains
from nightgrid.solvers.letterboxed.search.listing import GREEDY_STARTS_MAX, ChainStream, PartSearch
from nightgrid.solvers.letterboxed.search.search import Search
from nightgrid.solvers.letterboxed.solution import Chain, chain_from_json, chain_to_json
from nightgrid.solvers.letterboxed.states.growing_tables import warm as warm_tables
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import Dictionaries
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode, reason_index

BOARD_S = 0.01
REASONS: tuple[Reason | None, ...] = (
    None,
    Reason(code=ReasonCode.NODES),
    Reason(code=ReasonCode.TABLE_BYTES),
    Reason(code=ReasonCode.SECONDS),
    Reason(code=ReasonCode.COUNT_TOO_LARGE),
)
CHAIN_BYTES, WORD_BYTES = 120, 8
"""Share of a chain, and of each of its words, in a list of chains."""
NO_VALUE = -1


class LetterBoxedGame:
    """The room of Letter Boxed: see nightgrid.solvers.algebra.Game."""

    name = "letterboxed"
    solver_version = "letterboxed-1"
    reasons = REASONS

    def __init__(
        self, rules: Rules, lexicon: Lexicon | None, dictionaries: Dictionaries | None = None
    ) -> None:
        self.bound_rules = rules
        self.lexicon = lexicon
        self.dictionaries = dictionaries
        self.rules = str(rules)
        self.lexicon_id = "" if lexicon is None else lexicon.lexicon_id
        self._model: tuple[Puzzle, Model] | None = None

    def puzzle_from_json(self, value: object) -> Puzzle:
        """Validate a JSON value into a puzzle, or raise InvalidPuzzleError."""
        return Puzzle.from_json(value)

    def puzzle_to_json(self, puzzle: Puzzle) -> dict[str, Any]:
        """Write a puzzle in its canonical form."""
        return puzzle.to_json()

    def puzzle_id(self, puzzle: Puzzle) -> str:
        """Hash the canonical form."""
        return puzzle.puzzle_id

    def solution_to_json(self, solution: Chain) -> dict[str, Any]:
        """Write a chain as a JSON value."""
        return chain_to_json(solution)

    def solution_from_json(self, value: Any) -> Chain:
        """Read a chain as `solution_to_json` writes it."""
        return chain_from_json(value)

    def to_arrays(self, puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
        """Lay puzzles out column-wise, as the puzzles table of the lake stores them."""
        return to_arrays(puzzles)

    def from_arrays(self, arrays: Arrays, row: int) -> Puzzle:
        """Rebuild the puzzle of one row."""
        return from_arrays(arrays, row, self.dictionaries)

    def model(self, puzzle: Puzzle) -> Model:
        """Number a board and find its playable words; those of the last board are kept.

        Raises PermanentError when there are no words to play it with.
        """
        kept = self._model
        if kept is None or kept[0] is not puzzle:
            # Read once: another thread may ask about another board in between.
            self._model = kept = puzzle, model_of(puzzle, self.bound_rules, self.lexicon)
        return kept[1]

    def split(self, puzzle: Puzzle, ask: Ask, part: Part | None, into: int) -> list[Part]:
        """Divide a job or a part by first words, and what is one word by the words that follow."""
        del ask
        search = Search(self.model(puzzle), Budget())
        return divide(search, part, self.bound_rules.chains, into)

    def solve(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> Outcome[Chain]:
        """Answer the ask for the whole puzzle or one part of it."""
        if ask.kind in ("first", "all"):
            return self._listed(puzzle, ask, part, budget)
        budget = budget or Budget()
        part_search = PartSearch(self.model(puzzle), self.bound_rules, part, budget)
        chains: list[Chain] = []
        try:
            value, count = part_search.count()
            if ask.kind == "best" and count:
                chains = _kept(islice(part_search.found(), ask.limit), budget)
        except BudgetSpentError as error:
            return Outcome(
                status=Status.OVER_BUDGET,
                reason_code=error.reason_code,
                statistics=part_search.search.statistics,
            )
        return Outcome(
            status=Status.SOLVED if count else Status.UNSOLVABLE,
            count=count,
            solutions=tuple(chains),
            statistics=part_search.search.statistics,
            value=value,
        )

    def _listed(
        self, puzzle: Puzzle, ask: Ask, part: Part | None, budget: Budget | None
    ) -> Outcome[Chain]:
        budget = budget or Budget()
        stream = self.stream(puzzle, ask, part, budget)
        try:
            chains = _kept(stream, budget)
        except BudgetSpentError as error:
            return Outcome(
                status=Status.OVER_BUDGET,
                reason_code=error.reason_code,
                statistics=stream.statistics,
            )
        if stream.status is Status.OVER_BUDGET:
            return Outcome(
                status=stream.status,
                reason_code=stream.reason_code,
                reason=stream.reason,
                statistics=stream.statistics,
            )
        return Outcome(
            status=stream.status,
            count=len(chains),
            solutions=tuple(chains),
            truncated=stream.truncated and ask.kind == "all",
            statistics=stream.statistics,
            value=self.value_of(chains),
        )

    def value_of(self, chains: Sequence[Chain]) -> int | None:
        """Tell what the best of some chains is worth under the rules: words, or letters."""
        letters = self.bound_rules.chains == "fewest-letters"
        return min((c.letters if letters else len(c.words) for c in chains), default=None)

    def stream(
        self, puzzle: Puzzle, ask: Ask, part: Part | None = None, budget: Budget | None = None
    ) -> ChainStream:
        """Answer `first` or `all(limit)` one solution at a time.

        Raises PermanentError for another ask.
        """
        if ask.kind not in ("first", "all"):
            raise PermanentError(f"chains for {ask} are not streamed; ask for first or all")
        first = ask.kind == "first"
        limit = 1 if first else ask.limit
        budget = budget or Budget()
        return ChainStream(self.model(puzzle), self.bound_rules, part, budget, limit, first=first)

    def merge(
        self,
        puzzle: Puzzle,
        ask: Ask,
        outcomes: Sequence[Outcome[Chain]],
    ) -> Outcome[Chain]:
        """Combine the outcomes of all parts into what solving whole would have given."""
        statistics = sum((o.statistics for o in outcomes), Statistics())
        failed = failure_of(outcomes)
        if failed is not None:
            return failed
        value = min((o.value for o in outcomes if o.value is not None), default=None)
        if not isinstance(self.bound_rules.chains, int):
            outcomes = [o for o in outcomes if o.value == value]
        count = sum(o.count or 0 for o in outcomes)
        if ask.kind in ("count", "best") and count > MAX_COUNT:
            return Outcome(
                status=Status.OVER_BUDGET,
                reason_code=ReasonCode.COUNT_TOO_LARGE,
                statistics=statistics,
            )
        found = sorted((c for o in outcomes for c in o.solutions), key=lambda chain: chain.order)
        if ask.kind == "first" and found:
            found = [self._first_of(puzzle, found)]
            value = self.value_of(found)
        kept = tuple(found[: 1 if ask.kind == "first" else ask.limit])
        counted = ask.kind in ("count", "best")
        return Outcome(
            status=Status.SOLVED if count else Status.UNSOLVABLE,
            count=count if counted else len(kept),
            solutions=kept,
            truncated=ask.kind == "all"
            and (len(found) > len(kept) or any(o.truncated for o in outcomes)),
            statistics=statistics,
            value=value,
        )

    def _first_of(self, puzzle: Puzzle, found: Sequence[Chain]) -> Chain:
        """Choose what the whole would have found first: the greedy search before the exact one."""
        if not isinstance(self.bound_rules.chains, int) or len(found) == 1:
            return found[0]
        model = self.model(puzzle)
        chains = {chain.words[0]: chain for chain in reversed(found)}
        numbers = [model.words.index(word) for word in chains]
        greedy = [
            chain
            for number in numbers
            for chain in greedy_chains(
                model,
                self.bound_rules.chains,
                starts=range(number, number + 1),
                starts_max=GREEDY_STARTS_MAX,
            )
        ]
        spelled = [Chain(words=tuple(model.words[word] for word in chain)) for chain in greedy]
        known = [chain for chain in spelled if chain in found]
        # The longest first word comes first, of equal ones the last of the alphabet.
        return max(known, key=lambda c: (len(c.words[0]), c.words), default=found[0])

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Count every row, one board after the other.

        Raises PermanentError for an ask other than `count`.
        """
        if ask.kind != "count":
            raise PermanentError(
                f"a batch of Letter Boxed boards can be counted, not asked for {ask}"
            )
        rows = len(arrays["size"])
        names = ("states", "nodes", "kernel_ns", "table_bytes")
        out: dict[str, npt.NDArray[Any]] = {name: np.zeros(rows, np.int64) for name in names}
        out |= {name: np.zeros(rows, np.uint8) for name in ("status", "reason")}
        out |= {name: np.zeros(rows, np.uint64) for name in ("count_hi", "count_lo")}
        out["value"] = np.full(rows, NO_VALUE, np.int64)
        for row in range(rows):
            outcome = self.solve(self.from_arrays(arrays, row), ask, None, budget)
            out["status"][row] = STATUS_CODES.index(outcome.status)
            out["reason"][row] = reason_index(REASONS, outcome.reason_code)
            out["count_hi"][row] = (outcome.count or 0) >> 64
            out["count_lo"][row] = (outcome.count or 0) & (2**64 - 1)
            out["value"][row] = NO_VALUE if outcome.value is None else outcome.value
            for name in names:
                out[name][row] = getattr(outcome.statistics, name)
        return out

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
        """Tell of each row what its time depends on: its letters."""
        names = ("letters", *LETTER_FEATURES)
        return names, np.column_stack([arrays["size"], letter_features(arrays)])

    def warm(self) -> None:
        """Compile or load every kernel, so that the first solve pays for nothing."""
        for sides in (("AB", "CD"), ("ABA", "CDC")):
            board = Puzzle(sides=sides, dictionary=("AC", "CB", "BD", "BDA", "DA", "CA"))
            for chains in ("fewest-words", "fewest-letters", 6):
                game = LetterBoxedGame(Rules(chains=chains, min_letters=1), None)
                for ask in (Ask(kind="count"), Ask(kind="best", limit=2), Ask(kind="first")):
                    game.solve(board, ask)
        warm_tables()
        # A lexicon's letters are bytes that cannot be written to: a filter of its own.
        lexicon = compile_lexicon([("AC", 0), ("CBDA", 0)])
        model_of(Puzzle(sides=("AB", "CD")), Rules(), lexicon)


def _kept(chains: Iterable[Chain], budget: Budget) -> list[Chain]:
    """List chains. Raises BudgetSpentError when they take more than the budget's table bytes."""
    kept: list[Chain] = []
    taken = 0
    for chain in chains:
        kept.append(chain)
        taken += CHAIN_BYTES + WORD_BYTES * len(chain.words)
        if taken > budget.table_bytes:
            raise BudgetSpentError(OUT_OF_BYTES)
    return kept
