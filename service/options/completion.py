"""What shells offer as the value of an option: loaded when a shell asks, and not before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nightgrid.solvers.registry import GAMES

Offer = Callable[[str], list[str]]
"""Returns the values that begin with what is typed so far."""
ASKS = ("first", "count", "all", "best(1)", "meant(100)")


def offer(values: Sequence[str] | Callable[[], Iterable[str]], *, listed: bool = False) -> Offer:
    """Offer values, or what a function gives; `listed` ones stand with commas between them."""

    def begun(incomplete: str) -> list[str]:
        every = values() if callable(values) else values
        before, comma, word = incomplete.rpartition(",") if listed else ("", "", incomplete)
        return [f"{before}{comma}{value}" for value in every if value.startswith(word.lower())]

    return begun


def levels() -> list[str]:
    """Name the levels of all games."""
    from nightgrid.archive.games import has_plug, reader

    return list(dict.fromkeys(x for game in GAMES if has_plug(game) for x in reader(game).LEVELS))
