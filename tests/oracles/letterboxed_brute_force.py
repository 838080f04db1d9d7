"""Letter Boxed by trying everything: article 000, Definition 6, taken literally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

Chain = tuple[str, ...]


def solves(sides: Sequence[str], words: Chain) -> bool:
    """Return whether some choice of sides plays the words and collects every letter."""
    return any(
        all(found[side, letter] >= n for side, letter, n in _wanted(sides))
        for found in collected(sides, words)
    )


def playable(sides: Sequence[str], words: Chain) -> bool:
    """Return whether the words can be played one after the other."""
    return next(collected(sides, words), None) is not None


def collected(sides: Sequence[str], words: Chain) -> Iterator[Counter[tuple[int, str]]]:
    """Yield the letters that each way of playing collects."""
    for before, after in pairwise(words):
        if before[-1] != after[0]:
            return
    text = "".join(words)
    ends = set()
    at = -1
    for word in words:
        at += len(word)
        ends.add(at)
    for way in _ways(sides, text, ends, []):
        yield Counter(
            (side, text[j]) for j, side in enumerate(way) if j + 1 == len(text) or j not in ends
        )


def _wanted(sides: Sequence[str]) -> list[tuple[int, str, int]]:
    return [(i, c, n) for i, side in enumerate(sides) for c, n in Counter(side).items()]


def _ways(sides: Sequence[str], text: str, ends: set[int], way: list[int]) -> Iterator[list[int]]:
    j = len(way)
    if j == len(text):
        yield way
        return
    for side, letters in enumerate(sides):
        if text[j] not in letters:
            continue
        if j and (side == way[-1]) != (j - 1 in ends):
            continue
        yield from _ways(sides, text, ends, [*way, side])


def chains(
    sides: Sequence[str], dictionary: Sequence[str], words_max: int, letters_max: int = 10**9
) -> Iterator[Chain]:
    """Yield every chain that collects all letters with its last word, and not before."""
    layer: list[Chain] = [()]
    for _ in range(words_max):
        longer: list[Chain] = []
        for chain in layer:
            for word in sorted(set(dictionary)):
                new = (*chain, word)
                if letters_of(new) > letters_max or not playable(sides, new):
                    continue
                if solves(sides, new):
                    yield new
                else:
                    longer.append(new)
        layer = longer


def letters_of(chain: Chain) -> int:
    """Count the letters played."""
    return sum(map(len, chain)) - len(chain) + 1


def order(chain: Chain) -> tuple[int, int, Chain]:
    """Sort key of the canonical order."""
    return len(chain), letters_of(chain), chain
