"""`solve --disjoint`: as many chains as possible of which no two share a word."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from nightgrid.service.games.plug import SearchResult, bound_json
from nightgrid.service.terminal.console import duration
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.letterboxed.search.disjoint import disjoint_chains
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.solvers.letterboxed.game import LetterBoxedGame
    from nightgrid.solvers.letterboxed.puzzle import Puzzle
    from nightgrid.solvers.letterboxed.solution import Chain

CHAINS_MAX = 100_000
"""Chains of which a set without a shared word is chosen."""


class _Found(NamedTuple):
    """What a search has found; `{took}` in its sentence stands for its time."""

    status: Status
    sentence: str
    chains: tuple[Chain, ...] = ()
    reason_code: ReasonCode | None = None
    reason: str = ""
    bounds: dict[str, int | None] | None = None


def disjoint_set(game: LetterBoxedGame, puzzle: Puzzle, budget: Budget) -> SearchResult:
    """Find a largest set of chains that share no word; a board without chains is an answer."""
    begun = time.perf_counter_ns()
    found = _disjoint(game, puzzle, budget)
    took_ns = time.perf_counter_ns() - begun
    value: dict[str, Any] = {
        "search": "disjoint",
        **bound_json(game),
        "status": str(found.status),
        "count": len(found.chains),
        "value": len(found.chains[0].words) if found.chains else None,
        "wall_ns": took_ns,
        "reason_code": found.reason_code,
        "reason": found.reason,
        **(found.bounds or {}),
        "solutions": [game.solution_to_json(chain) for chain in found.chains],
    }
    return SearchResult(
        status=found.status,
        solutions=found.chains,
        sentence=found.sentence.format(took=duration(took_ns)),
        value=value,
    )


def _disjoint(game: LetterBoxedGame, puzzle: Puzzle, budget: Budget) -> _Found:
    stream = game.stream(puzzle, Ask(kind="all"), None, budget)
    every = tuple(islice(stream, CHAINS_MAX + 1))
    none: dict[str, int | None] = {"at_most": None, "of": None}
    if len(every) > CHAINS_MAX:
        reason = (
            f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
            "--rule words=N and --rule min_length=N leave fewer"
        )
        return _Found(Status.OVER_BUDGET, reason, (), ReasonCode.CAPACITY, reason, none)
    status = Status(stream.status)
    if status is not Status.SOLVED:
        reason = stream.reason or "No solution exists, and so no set of chains."
        return _Found(status, reason, (), stream.reason_code, reason, none)
    best = disjoint_chains(every, budget)
    largest = "no set is larger" if best.proven else f"no set has more than {best.bound:,}"
    return _Found(
        Status.SOLVED if best.proven else Status.OVER_BUDGET,
        f"{plural(len(best.chains), 'chain')} of {len(every):,} share no word; {largest}. "
        "Found in {took}:",
        best.chains,
        None if best.proven else ReasonCode.UNPROVEN,
        "" if best.proven else "the budget ran out before the set was proven largest",
        {"at_most": best.bound, "of": len(every)},
    )
