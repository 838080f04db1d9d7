"""Parts of a Letter Boxed job: ranges of the word that a chain begins with."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError

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
