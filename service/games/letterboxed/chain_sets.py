"""`solve --greedy` and `--disjoint`: what article 003 finds on a board, and what it asks for.

The first follows the article's greedy search, for comparison with the exact ones; the second
chooses as many chains as possible of which no two share a word.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from nightgrid.service.games.plug import bound_json
from nightgrid.service.terminal.console import duration
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.letterboxed.search.disjoint import disjoint_chains
from nightgrid.solvers.letterboxed.search.greedy import WORDS_MAX, greedy_chains
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.solvers.letterboxed.game import LetterBoxedGame
    from nightgrid.solvers.letterboxed.puzzle import Puzzle
    from nightgrid.solvers.letterboxed.solution import Chain

Search = Literal["greedy", "disjoint"]
CHAINS_MAX = 100_000
"""Chains of which a set without a shared word is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSet:
    """Chains that a search has found, in canonical order."""

    search: Search
    status: Status
    solutions: tuple[Chain, ...] = ()
    at_most: int | None = None
    """For `disjoint`: most chains that such a set can have; None where that is not known."""
    of: int | None = None
    """For `disjoint`: the number of all chains."""
    reason_code: ReasonCode | None = None
    reason: str = ""
    took_ns: int = 0
    lists_itself: bool = False

    def sentence(self) -> str:
        """Say what was found."""
        if not self.solutions:
            return self.reason
        took = duration(self.took_ns)
        if self.search == "greedy":
            best = plural(len(self.solutions[0].words), "word")
            chains = plural(len(self.solutions), "chain")
            return f"The greedy search finds {chains} in {took}, the best of {best}:"
        proven = self.status is Status.SOLVED
        largest = "no set is larger" if proven else f"no set has more than {self.at_most:,}"
        return (
            f"{plural(len(self.solutions), 'chain')} of {self.of:,} share no word; {largest}. "
            f"Found in {took}:"
        )

    def to_json(self, game: LetterBoxedGame) -> dict[str, Any]:
        """Write it in the names of an outcome."""
        value: dict[str, Any] = {
            "search": self.search,
            **bound_json(game),
            "status": str(self.status),
            "count": len(self.solutions),
            "value": len(self.solutions[0].words) if self.solutions else None,
            "wall_ns": self.took_ns,
            "reason_code": self.reason_code,
            "reason": self.reason,
        }
        if self.search == "disjoint":
            value |= {"at_most": self.at_most, "of": self.of}
        return value | {"solutions": [game.solution_to_json(chain) for chain in self.solutions]}


def search_chains(
    game: LetterBoxedGame, puzzle: Puzzle, search: Search, budget: Budget
) -> ChainSet:
    """Search chains one way or the other; a board that a search does not take is told apart."""
    begun = time.perf_counter_ns()
    found = _greedy(game, puzzle) if search == "greedy" else _disjoint(game, puzzle, budget)
    return replace(found, took_ns=time.perf_counter_ns() - begun)


def _disjoint(game: LetterBoxedGame, puzzle: Puzzle, budget: Budget) -> ChainSet:
    stream = game.stream(puzzle, Ask(kind="all"), None, budget)
    every = tuple(islice(stream, CHAINS_MAX + 1))
    if len(every) > CHAINS_MAX:
        reason = (
            f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
            "--words N and --min-length N leave fewer"
        )
        return _nothing("disjoint", Status.OVER_BUDGET, ReasonCode.CAPACITY, reason)
    status = Status(stream.status)
    if status is not Status.SOLVED:
        reason = stream.reason or "No solution exists, and so no set of chains."
        return _nothing("disjoint", status, stream.reason_code, reason)
    best = disjoint_chains(every, budget)
    return ChainSet(
        search="disjoint",
        status=Status.SOLVED if best.proven else Status.OVER_BUDGET,
        solutions=best.chains,
        at_most=best.bound,
        of=len(every),
        reason_code=None if best.proven else ReasonCode.UNPROVEN,
        reason="" if best.proven else "the budget ran out before the set was proven largest",
    )


def _greedy(game: LetterBoxedGame, puzzle: Puzzle) -> ChainSet:
    from nightgrid.solvers.letterboxed.solution import Chain

    model = game.model(puzzle)
    if not model.distinct:
        letters = Counter("".join(puzzle.sides))
        twice = next((letter for letter, times in letters.items() if times > 1), "one")
        reason = f"--greedy takes boards whose letters are all different; {twice!r} stands twice"
        return _nothing("greedy", Status.INVALID, ReasonCode.REFUSED, reason)
    most = game.bound_rules.chains
    found = greedy_chains(model, most if isinstance(most, int) else WORDS_MAX)
    chains = [Chain(words=tuple(model.words[word] for word in words)) for words in found]
    if not chains:
        reason = "The greedy search finds no chain, which proves nothing."
        return _nothing("greedy", Status.OVER_BUDGET, ReasonCode.UNPROVEN, reason)
    best_first = tuple(sorted(chains, key=lambda chain: chain.order))
    return ChainSet(search="greedy", status=Status.SOLVED, solutions=best_first)


def _nothing(search: Search, status: Status, code: ReasonCode | None, reason: str) -> ChainSet:
    return ChainSet(search=search, status=status, reason_code=code, reason=reason)
