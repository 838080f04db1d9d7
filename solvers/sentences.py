"""Parts of sentences that are said to people."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """Write a number with its noun: 1 solution, 10,464 solutions, 2 dominoes."""
    ending = "" if number == 1 else "es" if noun.endswith("o") else "s"
    return f"{number:,} {noun}{ending}"
