"""A largest set of chains without a shared word: the closing question of article 003.

Chains of one or two different words are edges of a graph of words, and the set is a largest
matching: exact, in polynomial time. With longer chains it would be set packing, which is NP-hard.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.reasons import ReasonCode

CHAINS_MAX = 100_000
"""Most chains from which a set is chosen."""


def disjoint_chains(chains: Iterable[Chain]) -> tuple[Chain, ...]:
    """Choose a largest set of chains that share no word, in canonical order.

    One chain may repeat a word. Raises PermanentError for a chain of three different words or more.
    """
    import networkx as nx

    # Of chains with the same words only the first in canonical order is needed.
    first: dict[frozenset[str], Chain] = {}
    graph = nx.Graph()
    for chain in sorted(chains, key=lambda chain: chain.order):
        words = frozenset(chain.words)
        if len(words) > 2:
            raise PermanentError(
                "chains of three words are among them; a largest set without shared words is only"
                " found among chains of at most two"
            )
        first.setdefault(words, chain)
        one, *rest = sorted(words)
        # A chain of one word is matched with a vertex of its own.
        graph.add_edge(one, rest[0] if rest else (one,))
    matched = nx.max_weight_matching(graph, maxcardinality=True)
    words_of = (frozenset(word for word in pair if isinstance(word, str)) for pair in matched)
    return tuple(sorted((first[words] for words in words_of), key=lambda chain: chain.order))


def disjoint_set(
    game: Game[Puzzle, Chain], puzzle: Puzzle, budget: Budget
) -> tuple[Outcome[Chain], int | None]:
    """Find a largest set of chains that share no word; a board without chains is an answer.

    Returns it with the number of chains that it is chosen from, None if unknown. Raises
    PermanentError if chains have three words or more.
    """
    every = game.solve(puzzle, Ask(kind="all", limit=CHAINS_MAX), None, budget)
    if every.status is not Status.SOLVED:
        return every, None
    if every.truncated:
        reason = (
            f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
            "--rule words=N and --rule min_length=N leave fewer"
        )
        code = ReasonCode.CAPACITY
        return Outcome(status=Status.OVER_BUDGET, reason_code=code, reason=reason), None
    begun_ns = time.perf_counter_ns()
    best = disjoint_chains(every.solutions)
    took = Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)
    outcome = replace(every, count=len(best), solutions=best, statistics=every.statistics + took)
    return outcome, len(every.solutions)
