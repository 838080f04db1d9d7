"""Plug Tiles in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from nightgrid.service.games.plug import GameOption, Payload, Said, ServicePlug
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.service.drawing import View


class TilesAtDoors(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "tiles"
    sample_days = 5
    sample_seed = 2026
    dated = False
    rule_options = (
        GameOption(
            name="teleports",
            kind=Literal["yes", "forced", "no"],
            help="a move to a tile that shares nothing with the one before is allowed at any time "
            "(yes, the default), only from a cleared tile (forced), or never (no).",
        ),
        GameOption(
            name="no_teleports",
            kind=bool,
            flags=("--no-teleports",),
            help="the same as --teleports no.",
        ),
    )
    shape_options = (
        GameOption(name="tiles", kind=int, metavar="N", help="tiles a board. Default: 30."),
        GameOption(name="layers", kind=int, metavar="N", help="layers a tile. Default: 3."),
        GameOption(name="shapes", kind=str, metavar="N|N-N", help="shapes a layer. Default: 6-12."),
    )

    def view(self) -> View:
        """Return how boards and walks are drawn."""
        from nightgrid.service.games.tiles.view import TilesView

        return TilesView()

    def rule_line(self, said: Said) -> str:
        """Write which moves are allowed."""
        from nightgrid.solvers.tiles.rules import Rules

        if "no_teleports" in said:
            if "teleports" in said:
                raise PermanentError("--teleports and --no-teleports exclude one another; give one")
            return str(Rules(teleports="no"))
        return str(Rules(teleports=said.get("teleports", "yes")))

    def payloads(
        self,
        said: Said,
        start: dt.date,  # noqa: ARG002 - boards have no date
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make boards as the page holds them; they have numbers instead of dates."""
        from nightgrid.service.games.tiles.random_payloads import form_of, numbered_boards

        return numbered_boards(form_of(said), days, seed), []


PLUG = TilesAtDoors()
