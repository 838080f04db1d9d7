"""Parts of sentences that are said to people."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """Write a number with its noun: 1 solution, 10,464 solutions, 2 dominoes."""
    ending = "" if number == 1 else "es" if noun.endswith("o") else "s"
    return f"{number:,} {noun}{ending}"


def numbered(noun: str, start: int, stop: int) -> str:
    """Name the things from index `start` to before `stop`, counted from 1: words 3-7, word 3."""
    if stop - start == 1:
        return f"{noun} {stop:,}"
    return f"{plural(stop - start, noun).partition(' ')[2]} {start + 1:,}-{stop:,}"
