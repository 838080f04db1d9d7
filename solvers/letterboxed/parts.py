"""Parts of a Letter Boxed job: the words that a chain begins with, and a range for the next."""

from __future__ import annotations

from typing import Any

from solvers.errors import PermanentError

Part = dict[str, Any]
"""{"under": words that the chain begins with, "from": first word, "to": behind the last}. Words
are indexes into the sorted playable words. Together the words of one level are a range of them."""


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
