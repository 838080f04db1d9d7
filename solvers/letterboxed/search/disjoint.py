"""A largest set of chains without a shared word: the closing question of article 003.

Chains of one or two different words are edges of a graph of words, and the set is a largest
matching: exact, in polynomial time. With longer chains it would be set packing, which is NP-hard.
"""

from __future__ import annotations

from collections.abc import Iterable

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.solution import Chain


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
