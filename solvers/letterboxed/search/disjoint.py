"""A largest set of chains no two of which share a word: what article 003 asks for at its end.

Chains of one or two different words are edges of a graph of words, and the set is a largest
matching: exact, in polynomial time. With longer chains it is set packing, which is hard: a search
by branch and bound, which says how large the set could be at most where its budget runs out.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.letterboxed.solution import Chain

CLOCK_STEPS = 16
"""Steps of the search between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisjointChains:
    """Chains without a shared word, in canonical order, and how many there can be at most."""

    chains: tuple[Chain, ...]
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no larger set exists."""
        return len(self.chains) == self.bound


def disjoint_chains(chains: Iterable[Chain], budget: Budget | None = None) -> DisjointChains:
    """Choose a largest set of chains in which no word stands in two of them.

    The budget's nodes (chains looked at) and seconds bound the search for sets of chains of three
    words and more; a largest matching is found whatever they are. A word may stand twice in one
    chain.
    """
    # Of chains with the same words one is enough: the first in canonical order.
    first: dict[frozenset[str], Chain] = {}
    for chain in sorted(chains, key=lambda chain: chain.order):
        first.setdefault(frozenset(chain.words), chain)
    if all(len(words) <= 2 for words in first):
        chosen = _matching(list(first))
        bound = len(chosen)
    else:
        chosen, bound = _Packing(list(first), budget or Budget()).solve()
    found = sorted((first[words] for words in chosen), key=lambda chain: chain.order)
    return DisjointChains(chains=tuple(found), bound=bound)


def _matching(edges: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    import networkx as nx

    graph = nx.Graph()
    for words in edges:
        one, *rest = sorted(words)
        # A chain of one word is matched with a vertex of its own.
        graph.add_edge(one, rest[0] if rest else (one,))
    matched = nx.max_weight_matching(graph, maxcardinality=True)
    return [frozenset(word for word in pair if isinstance(word, str)) for pair in matched]


class _Packing:
    """Branch and bound over the word that the fewest chains hold."""

    def __init__(self, sets: Sequence[frozenset[str]], budget: Budget) -> None:
        self._sets = sorted(sets, key=lambda words: (len(words), sorted(words)))
        self._nodes = budget.nodes
        self._budget, self._deadline_ns = budget, budget.deadline_ns()
        self._best: list[frozenset[str]] = []
        self._steps = 0

    def solve(self) -> tuple[list[frozenset[str]], int]:
        bound = self._bound(self._sets)
        self._best = self._greedy(self._sets)
        complete = len(self._best) == bound or self._search(self._sets, [])
        return self._best, len(self._best) if complete else bound

    def _search(self, sets: list[frozenset[str]], chosen: list[frozenset[str]]) -> bool:
        """Search the sets that are left; return whether the search came to its end."""
        stack = [(sets, chosen)]
        while stack:
            left, taken = stack.pop()
            if not left:
                if len(taken) > len(self._best):
                    self._best = taken
                continue
            self._nodes -= len(left)
            self._steps += 1
            late = self._steps % CLOCK_STEPS == 0 and self._budget.is_over(self._deadline_ns)
            if self._nodes < 0 or late:
                return False
            if len(taken) + self._bound(left) <= len(self._best):
                continue
            counts = Counter(word for words in left for word in words)
            word = min(counts, key=lambda word: (counts[word], word))
            without = [words for words in left if word not in words]
            # Either no chain with this word is taken, or one of them is.
            stack.append((without, taken))
            for words in reversed([words for words in left if word in words]):
                rest = [other for other in without if not other & words]
                stack.append((rest, [*taken, words]))
        return True

    @staticmethod
    def _greedy(sets: Sequence[frozenset[str]]) -> list[frozenset[str]]:
        counts = Counter(word for words in sets for word in words)
        taken: list[frozenset[str]] = []
        used: set[str] = set()
        for words in sorted(
            sets, key=lambda words: (sum(counts[word] for word in words), sorted(words))
        ):
            if not words & used:
                taken.append(words)
                used |= words
        return taken

    @staticmethod
    def _bound(sets: Sequence[frozenset[str]]) -> int:
        """Bound a packing by words that every set holds one of: no two chosen sets share one.

        They are chosen greedily, the most frequent first. A packing is no larger, either, than the
        number of words allows.
        """
        holders: dict[str, list[int]] = {}
        for i, words in enumerate(sets):
            for word in words:
                holders.setdefault(word, []).append(i)
        whole = len(holders) // min(map(len, sets))
        counts = {word: len(held) for word, held in holders.items()}
        heap = [(-count, word) for word, count in counts.items()]
        heapq.heapify(heap)
        open_sets = [True] * len(sets)
        left, covering = len(sets), 0
        while left and covering < whole:
            count, word = heapq.heappop(heap)
            if -count != counts[word]:
                heapq.heappush(heap, (-counts[word], word))
                continue
            covering += 1
            for i in holders[word]:
                if open_sets[i]:
                    open_sets[i] = False
                    left -= 1
                    for other in sets[i]:
                        counts[other] -= 1
        return covering
