"""Letters for alphabets of any size, unchanged in upper case."""

from __future__ import annotations

from collections.abc import Collection

from nightgrid.solvers.errors import PermanentError

_BLOCKS = ((0x41, 0x5A), (0x1401, 0x166C), (0xA000, 0xA48C), (0xAC00, 0xD7A3))
"""A to Z, then syllables of Canadian scripts, Yi and Hangul, which have no case."""
_BLANK = "\u1427"
"""Left out: it looks like a dot, which marks blank cells."""


def distinct_letters(count: int, without: Collection[str] = ()) -> str:
    """Return distinct letters, A to Z first, none of them in `without`.

    Raises PermanentError for more than there are, about 12,900.
    """
    chosen: list[str] = []
    for first, last in _BLOCKS:
        for point in range(first, last + 1):
            if len(chosen) == count:
                return "".join(chosen)
            letter = chr(point)
            if letter.isalpha() and letter != _BLANK and letter not in without:
                chosen.append(letter)
    if len(chosen) < count:
        raise PermanentError(f"{count} different letters are needed; there are {len(chosen)}")
    return "".join(chosen)
