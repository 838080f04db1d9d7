"""The service's plugs of games, by name: the only access of this floor to games."""

from __future__ import annotations

from nightgrid.service.drawing import View
from nightgrid.service.games.plug import GameOption, Payload, ServicePlug, bound_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.plug import Plugs
from nightgrid.solvers.registry import GAMES

__all__ = ["ALL", "GameOption", "Payload", "ServicePlug", "bound_json", "service_plug", "view"]

PLUGS: Plugs[ServicePlug] = Plugs(__name__, "nightgrid.service")
_FOUND = dict(PLUGS.every())
ALL: dict[str, ServicePlug] = {game: _FOUND[game] for game in GAMES if game in _FOUND}
"""Every plug of this floor: the options of all games are options of the same commands."""


def service_plug(game: str) -> ServicePlug:
    """Return the service's plug of a game. Raises PermanentError if it has none."""
    if game not in ALL:
        raise PermanentError(
            f"boards of {game!r:.40} are not drawn; expected one of {', '.join(ALL)}"
        )
    return ALL[game]


def view(game: str) -> View:
    """Return the view of a game; imported on first use, so that no other game is loaded."""
    return service_plug(game).view()
