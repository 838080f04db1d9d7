"""Search the chains of a board: choose the engine, allocate tables, run it."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_BYTES
from nightgrid.solvers.letterboxed.model import Model
from nightgrid.solvers.letterboxed.rules import Chains
from nightgrid.solvers.letterboxed.search import distinct, general
from nightgrid.solvers.letterboxed.states import graph as graphs
from nightgrid.solvers.letterboxed.states.graph import Step
from nightgrid.solvers.letterboxed.states.growing_tables import GrowingGraph
from nightgrid.solvers.letterboxed.states.ways_of_playing import fields_of
from nightgrid.solvers.reasons import BudgetSpentError

DISTINCT_LETTERS_MAX = 64
"""Most letters of a board whose set of letters left is one 64-bit word."""
SETS_STEPS_MAX = 1 << 24
"""Most words that `count_chains` looks at, each once for every set of letters that has it: some
hundredths of a second."""
PAIRS_MAX = 1 << 28
"""Most pairs of words that are tried without a look at the clock: a tenth of a second."""
SHORT_ROWS_MAX = 1 << 18
"""Most chains of two words that are listed without the graph of states."""


def engine_of(model: Model) -> str:
    """Choose the engine of a board."""
    is_distinct = model.distinct and len(model.alphabet) <= DISTINCT_LETTERS_MAX
    return "distinct" if is_distinct else "general"


class Search:
    """The search of one board within one budget."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model = model
        self.budget = budget
        self.statistics = Statistics()
        self.deadline_ns = budget.deadline_ns()
        self.sizes = np.diff(model.offsets).astype(np.int32)
        self.engine = engine_of(model)

    @cached_property
    def start(self) -> npt.NDArray[np.uint64]:
        """The engine's key of the initial state."""
        if self.engine == "distinct":
            return np.array([(1 << len(self.model.alphabet)) - 1], np.uint64)
        full: npt.NDArray[np.uint64] = self._fields.full
        return full

    @cached_property
    def _fields(self) -> Any:
        return fields_of(self.model)

    @cached_property
    def _lacking(self) -> npt.NDArray[np.uint64]:
        """uint64[words]: the letters that each word lacks, of a board of distinct ones."""
        lacking = np.repeat(self.start, len(self.model))
        if len(lacking):
            bits = np.uint64(1) << self.model.letters.astype(np.uint64)
            lacking ^= np.bitwise_or.reduceat(bits, self.model.offsets[:-1])
        return lacking

    @cached_property
    def _shared(self) -> npt.NDArray[np.int64]:
        return general.shared_beginnings(self.model.letters, self.model.offsets)

    @cached_property
    def _step(self) -> Step:
        model = self.model
        if self.engine == "distinct":
            fewest = int(np.bitwise_count(self._lacking).min(initial=64))
            gain = len(model.alphabet) - fewest - 1
        else:
            times = model.sides.sum(axis=0, dtype=np.int64)
            gain = general.most_gained(model.letters, model.offsets, times)
        return Step(
            begins=model.begins,
            sizes=self.sizes,
            last=model.letters[model.offsets[1:] - 1].astype(np.int32),
            weights=self.sizes,
            by_letters=False,
            fewest=False,
            gain=max(gain, 1),
        )

    @cached_property
    def collectable(self) -> bool:
        """Whether every letter of the board is in a word."""
        return len(np.unique(self.model.letters)) == len(self.model.alphabet)

    def step(self, chains: Chains) -> Step:
        """Return the costs of words under a rule."""
        return self._step._replace(
            by_letters=chains == "fewest-letters", fewest=not isinstance(chains, int)
        )

    def listing_step(self, chains: Chains, most: int) -> Step:
        """Return the same with weights that put chains of at most `most` words in order."""
        by_letters = chains == "fewest-letters"
        weights = np.zeros_like(self.sizes) if by_letters else self.sizes
        if self.model.doubt is not None:
            # Doubt outweighs all letters of a chain.
            unit = 1 + most * int(weights.max(initial=0))
            weights = weights + np.int32(unit) * self.model.doubt
        return self.step(chains)._replace(weights=weights)

    def short_chains(self, at: range) -> tuple[int, int, npt.NDArray[np.int64] | None]:
        """Find the chains of one word, else of two: (words, how many, the chains).

        The chains are words by number, (chains, words), in canonical order; None if there are more
        than SHORT_ROWS_MAX. No words where the graph of states has to look for them.
        """
        began = time.perf_counter_ns()
        chains = at.start + np.flatnonzero(self._lacking[at.start : at.stop] == 0)[:, None]
        count, nodes = len(chains), len(at)
        if not count:
            nodes += int(np.diff(self.model.begins)[self._step.last[at.start : at.stop]].sum())
            if nodes > min(PAIRS_MAX, self.nodes_left):
                return 0, 0, None
            chains = np.empty((SHORT_ROWS_MAX, 2), np.int64)
            count = int(distinct.pair_words(self._step, at.start, at.stop, self._lacking, chains))
        self.spent(DONE, began, nodes, 0, min(count, SHORT_ROWS_MAX) * chains.itemsize * 2)
        words = chains.shape[1] if count else 0
        if count > SHORT_ROWS_MAX:
            return words, count, None
        chains = chains[:count]
        weights = self.listing_step("fewest-words", words).weights
        # Found in the order of the alphabet, which a stable sort keeps.
        return words, count, chains[np.argsort(weights[chains].sum(axis=1), kind="stable")]

    def count_chains(self, at: range, most: int) -> list[int] | None:
        """Count the chains of 1, 2, ... and `most` words by the sets of letters that they lack.

        None if the graph of states is quicker or the only way: for pairs of words, for letters that
        stand several times, and for too many letters or chains.
        """
        model, letters = self.model, len(self.model.alphabet)
        if self.engine != "distinct" or most < 3 or not self.collectable:
            return None
        lacking = np.exp2(np.bitwise_count(self._lacking), dtype=np.float64)
        steps = 2.0**letters + most * float(lacking.sum())
        if steps > min(SETS_STEPS_MAX, self.nodes_left):
            return None
        follow = int(np.diff(model.begins).max())
        if len(at) * follow ** (most - 1) >= 2**63:
            return None
        within = distinct.Within(
            words=np.empty((letters + 1, len(model)), np.int32),
            held=np.empty(letters + 1, np.int64),
            ways=np.empty((2, letters), np.uint64),
            lost=np.empty(letters, np.uint64),
        )
        if within.words.nbytes > self.budget.table_bytes:
            return None
        began = time.perf_counter_ns()
        first = model.letters[model.offsets[:-1]]
        out = np.zeros(most, np.uint64)
        distinct.count_chains(self._step, at.start, at.stop, first, self._lacking, within, out)
        self.spent(DONE, began, int(steps), 0, within.words.nbytes)
        counts: list[int] = out.tolist()
        return counts

    def explore(
        self, at: range, chains: Chains, limit: int = graphs.NO_LIMIT
    ) -> GrowingGraph | None:
        """Find every state of the chains that count and cost at most `limit`; None without any.

        Raises BudgetSpentError.
        """
        if isinstance(chains, int):
            limit = min(limit, chains)
        if not self.collectable:
            return None
        tables = self._tables(at, limit)
        self._explore(tables, self.step(chains))
        return tables if tables.graph.control[graphs.FOUND] else None

    @property
    def nodes_left(self) -> int:
        """The rest of the budget's nodes."""
        return max(self.budget.nodes - self.statistics.nodes, 0)

    def spent(self, code: int, began_ns: int, nodes: int, states: int, table_bytes: int) -> None:
        """Record the cost of a kernel call; raise BudgetSpentError if it stopped early."""
        self.statistics += Statistics(
            states=states,
            nodes=nodes,
            kernel_ns=time.perf_counter_ns() - began_ns,
            table_bytes=table_bytes,
            engine=self.engine,
        )
        if code != DONE:
            raise BudgetSpentError(code)

    def allow(self, tables: GrowingGraph) -> None:
        """Allow tables to use the rest of the budget."""
        tables.allow(self.nodes_left, self.deadline_ns, self.budget.stop_address)

    def _tables(self, words: range, limit: int) -> GrowingGraph:
        # The first letter is collected at the start.
        left = int(self.model.sides.sum()) - 1
        tables = GrowingGraph(self.start, left, words, limit, self.budget.table_bytes)
        if self.engine == "general":
            longest = int(self.sizes.max(initial=0))
            tables.make_plays(len(self._fields.spare), longest, len(self.model.alphabet))
        self.allow(tables)
        return tables

    def _explore(self, tables: GrowingGraph, step: Step) -> None:
        model = self.model
        began = time.perf_counter_ns()
        code = graphs.GROW if tables.bytes <= self.budget.table_bytes else OUT_OF_BYTES
        while code == graphs.GROW:
            if self.engine == "general":
                code = int(
                    general.explore(
                        tables.graph, step, self._fields, tables.plays, model.letters,
                        model.offsets, self._shared,
                    )
                )  # fmt: skip
            else:
                code = int(distinct.explore(tables.graph, step, self._lacking))
            if code == graphs.GROW and not tables.grow():
                code = OUT_OF_BYTES
        control = tables.graph.control
        self.spent(
            code, began, int(control[graphs.NODES]), int(control[graphs.STATES]), tables.bytes
        )
        control[graphs.NODES] = 0
