"""Chains of a part in canonical order, and how many there are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Budget, SolutionStream, Statistics, count_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_BYTES
from nightgrid.solvers.letterboxed.model import Model
from nightgrid.solvers.letterboxed.rules import Chains, Rules
from nightgrid.solvers.letterboxed.search.search import Search
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.letterboxed.states.graph import LIMIT, NODES, STATES, Step
from nightgrid.solvers.letterboxed.states.growing_tables import GrowingGraph
from nightgrid.solvers.letterboxed.states.lengths import (
    Lengths,
    Walk,
    count_walks,
    list_chains,
    no_lengths,
    one_word_more,
    work_out,
)

ROWS_FIRST, ROWS_MAX = 16, 4096
"""Chains that the kernel lists at a time: few at first, since callers may stop early."""
COLUMNS_MAX = 1 << 20
"""Words of all chains that the kernel lists at a time, if there is more than one."""
Part = dict[str, int]
"""{"from": first word, "to": past the last}, as indexes into the sorted playable words."""


def part_range(part: Part | None, words: int) -> range:
    """Return the words that the chains of a part start with.

    Raises PermanentError for an invalid part of a board with this many playable words.
    """
    if part is None:
        return range(words)
    start, stop = part.get("from"), part.get("to")
    if not (type(start) is type(stop) is int and 0 <= start <= words and 0 <= stop <= words):
        raise PermanentError(
            f"{part!r} is not a part of a Letter Boxed board with {words} playable words; expected"
            " `from` and `to`, both as indexes"
        )
    return range(start, stop)


class PartSearch:
    """The chains of one part of a job."""

    def __init__(self, model: Model, rules: Rules, part: Part | None, budget: Budget) -> None:
        self.model = model
        self.at = part_range(part, len(model))
        self.search = Search(model, budget)
        self.chains: Chains = rules.chains

    @cached_property
    def _explored(self) -> GrowingGraph | None:
        """The states of the chains that count, for counting and listing; None without any."""
        return self.search.explore(self.at, self.chains)

    @cached_property
    def _short(self) -> tuple[int, int, npt.NDArray[np.int64] | None]:
        """The chains of one or two words if these are the fewest: (words, number, chains)."""
        if self.search.engine != "distinct" or self.chains != "fewest-words":
            return 0, 0, None
        return self.search.short_chains(self.at)

    def count(self) -> tuple[int | None, int]:
        """Count the chains that count: (value of the best, how many). Raises BudgetSpentError."""
        words, count, _ = self._short
        if count:
            return words, count
        counts = None
        if isinstance(self.chains, int):
            counts = self.search.count_chains(self.at, self.chains)
        if counts is not None:
            return next((n for n, found in enumerate(counts, 1) if found), None), sum(counts)
        return self._count(self._explored) if self._explored else (None, 0)

    def _count(self, tables: GrowingGraph) -> tuple[int | None, int]:
        graph, search = tables.graph, self.search
        states = int(graph.control[STATES])
        step = search.step(self.chains)
        search.allow(tables)
        out = np.zeros(3, np.uint64)
        began = time.perf_counter_ns()
        high, low = np.zeros((2, states), np.uint64), np.zeros((2, states), np.uint64)
        # LIMIT, in words or letters, also bounds the number of words.
        most = int(graph.control[LIMIT])
        code = int(count_walks(graph, step, most, high, low, out))
        value = int(out[2]) if isinstance(self.chains, int) else most
        table_bytes = tables.bytes + 32 * states
        if code == DONE and table_bytes > search.budget.table_bytes:
            code = OUT_OF_BYTES
        search.spent(code, began, int(graph.control[NODES]), 0, table_bytes)
        graph.control[NODES] = 0
        count = count_of(out[0], out[1])
        return (value, count) if count else (None, 0)

    def found(self, skip: int = 0) -> Iterator[Chain]:
        """Yield chains in canonical order after the first `skip`. Raises BudgetSpentError."""
        word = self.model.word
        for rows in self.listed():
            # Skipped chains cost only the kernel's time.
            left_out = min(skip, len(rows))
            skip -= left_out
            for row in rows[left_out:]:
                doubt = None if self.model.doubt is None else int(self.model.doubt[row].sum())
                yield Chain(words=tuple(map(word, row.tolist())), doubt=doubt)

    def listed(self) -> Iterator[npt.NDArray[np.int64]]:
        """Yield chains in canonical order, some at a time: words by number, (chains, words).

        Raises BudgetSpentError.
        """
        if not isinstance(self.chains, int):
            chains = self._short[2]
            if chains is not None and len(chains):
                yield chains
                return
            if self._explored is not None:
                most = int(self._explored.graph.control[LIMIT])
                first = 1 if self.chains == "fewest-letters" else most
                yield from self._listed(self._explored, self.chains, first, most)
            return
        # The shortest chains need the smallest graph.
        tables = self.search.explore(self.at, "fewest-words", self.chains)
        if tables is None:
            return
        done = int(tables.graph.control[LIMIT])
        yield from self._listed(tables, "fewest-words", done, done)
        more = 1
        while done < self.chains:
            limit = min(self.chains, done + more)
            tables = self.search.explore(self.at, limit)
            assert tables is not None
            yield from self._listed(tables, limit, done + 1, limit)
            done, more = limit, 2 * more

    def _listed(
        self, tables: GrowingGraph, chains: Chains, first: int, most: int
    ) -> Iterator[npt.NDArray[np.int64]]:
        tables.release()
        step = self.search.listing_step(chains, most)
        lengths = no_lengths(tables.graph, int(step.weights.max(initial=0)))
        for words in range(1, most + 1):
            lengths = one_word_more(lengths)
            self._work_out(tables, lengths, step, most)
            if not lengths.bits[lengths.begins[-1] :].any():
                return  # No state has chains of this many words or more.
            if words >= first:
                for length in lengths.of_root():
                    yield from self._rows(tables, lengths, step, words, length)

    def _work_out(self, tables: GrowingGraph, lengths: Lengths, step: Step, most: int) -> None:
        search = self.search
        began = time.perf_counter_ns()
        search.allow(tables)
        code = OUT_OF_BYTES
        if tables.bytes + lengths.nbytes <= search.budget.table_bytes:
            code = int(work_out(tables.graph, step, lengths, most))
        self._spent(tables, lengths, code, began)

    def _rows(
        self, tables: GrowingGraph, lengths: Lengths, step: Step, words: int, length: int
    ) -> Iterator[npt.NDArray[np.int64]]:
        walk = Walk(
            state=np.zeros(words, np.int64),
            word=np.full(words, -1, np.int64),
            left=np.zeros(words, np.int64),
            place=np.zeros(2, np.int64),
        )
        walk.left[0] = length
        rows = ROWS_FIRST
        while walk.place[0] >= 0:
            out = np.empty((max(1, min(rows, COLUMNS_MAX // words)), words), np.int64)
            self.search.allow(tables)
            began = time.perf_counter_ns()
            code = int(list_chains(tables.graph, step, lengths, words, walk, out))
            self._spent(tables, lengths, code, began)
            yield out[: walk.place[1]]
            rows = min(2 * rows, ROWS_MAX)

    def _spent(self, tables: GrowingGraph, lengths: Lengths, code: int, began: int) -> None:
        control = tables.graph.control
        self.search.spent(code, began, int(control[NODES]), 0, tables.bytes + lengths.nbytes)
        control[NODES] = 0


class ChainStream(SolutionStream[Chain]):
    """Chains of a part."""

    def __init__(
        self, model: Model, rules: Rules, part: Part | None, budget: Budget, limit: int | None,
        *, first: bool = False,
    ) -> None:  # fmt: skip
        self.limit, self.first = limit, first
        self.part = PartSearch(model, rules, part, budget)

    @property
    def statistics(self) -> Statistics:
        """Cost of the stream so far."""
        return self.part.search.statistics

    @property
    def engine(self) -> str:
        """The engine of the board: distinct or general."""
        return self.part.search.engine

    def found(self) -> Iterator[Chain]:
        """Search for one chain after the other. Raises BudgetSpentError."""
        return self.part.found()

    def found_after(self, skip: int) -> Iterator[Chain]:
        """Search for the chains after the first `skip`. Raises BudgetSpentError."""
        return self.part.found(skip)
