"""Parts of a Letter Boxed job: the words that a chain begins with, and a range for the next."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import even_parts
from nightgrid.solvers.letterboxed.rules import Chains
from nightgrid.solvers.letterboxed.search.search import Search
from nightgrid.solvers.reasons import BudgetSpentError

Part = dict[str, Any]
"""{"under": words that the chain begins with, "from": first word, "to": behind the last}. Words
are indexes into the sorted playable words. Together the words of one level are a range of them."""

UNDER_MAX = 64
"""Words that the chains of a part begin with, at most: a part is not divided further."""


def part_range(part: Part | None, words: int) -> tuple[list[int], range]:
    """Take a part apart: the words before, and the range of the next.

    Raises PermanentError for what is no part of a board with so many playable words.
    """
    if part is None:
        return [], range(words)
    try:
        under, start, stop = list(part["under"]), part["from"], part["to"]
        numbers = [*under, start, stop]
    except (KeyError, TypeError):
        numbers = [None]
    if not all(type(n) is int and 0 <= n <= words for n in numbers) or words in numbers[:-2]:
        raise PermanentError(
            f"{part!r} is no part of a Letter Boxed board with {words} playable words; expected"
            " `under`, a list of words, and `from` and `to`, all as indexes"
        )
    return under, range(start, stop)


def divide(search: Search, part: Part | None, chains: Chains, into: int) -> list[Part]:
    """Divide a job or a part by first words, and what is one word by the words that follow."""
    under, at = part_range(part, len(search.model))
    while len(at) == 1 and len(under) < UNDER_MAX:
        try:
            root = search.walk([*under, at.start])
        except BudgetSpentError:
            break  # Solving it gives the reason why it cannot be.
        if root is None or (isinstance(chains, int) and len(under) + 2 > chains):
            break
        words = search.words_from(root)
        if not words:
            break
        under, at = [*under, at.start], words
    return even_parts(at, into, under=under)
