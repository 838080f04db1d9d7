"""Which game an option is for: options of one command that make sense in some games alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.options import game_title
from solvers.errors import PermanentError


def refuse_others(
    said: Mapping[str, Any], game: str, games_of: Mapping[str, tuple[str, ...]]
) -> None:
    """Raise PermanentError, naming the options, for what was said and is of other games.

    `said` holds options by name, those alone that were given; `games_of` the games of each.
    """
    others: dict[tuple[str, ...], list[str]] = {}
    for name, value in said.items():
        if game not in games_of[name]:
            others.setdefault(games_of[name], []).append(option(name, value))
    if others:
        parts = [
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} for "
            f"{' and '.join(map(game_title, games))}"
            for games, names in others.items()
        ]
        raise PermanentError(f"{', '.join(parts)}; this is {game_title(game)}")


def option(name: str, value: object) -> str:
    """Write an option as it is given: --compound-parts, --no-crossing."""
    switched_off = "no-" if value is False else ""
    return f"--{switched_off}{name.replace('_', '-')}"
