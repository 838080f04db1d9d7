"""Parts of messages for people."""

from __future__ import annotations

import re

_CREDENTIALS = re.compile(r"(?<=://)\S*@")
"""Up to the last @: a badly quoted password may contain any character."""


def plural(number: int, noun: str) -> str:
    """Format a number with its noun: 1 solution, 10,464 solutions, 2 dominoes."""
    ending = "" if number == 1 else "es" if noun.endswith("o") else "s"
    return f"{number:,} {noun}{ending}"


def without_credentials(url: str) -> str:
    """Return a URL without its user and password, whether it can be parsed or not."""
    return _CREDENTIALS.sub("***@", url)
