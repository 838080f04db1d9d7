"""Plug Tiles in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Literal

from nightgrid.service.games.plug import GameOption, Payload, Said, ServicePlug
from nightgrid.solvers.errors import PermanentError


class TilesAtDoors(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "tiles"
    sample_days = 5
    sample_seed = 2026
    dated = False
    rule_options = (
        GameOption(
            "teleports",
            Literal["yes", "forced", "no"],
            "a move to a tile that shares nothing with the one before is allowed at any time "
            "(yes, the default), only from a cleared tile (forced), or never (no).",
        ),
        GameOption(
            "no_teleports",
            bool,
            "the same as --teleports no.",
            rule="teleports",
            to_rule=lambda _yes: "no",
        ),
    )
    shape_options = (
        GameOption("tiles", int, "tiles a board. Default: 30.", metavar="N"),
        GameOption("layers", int, "layers a tile. Default: 3.", metavar="N"),
        GameOption("shapes", str, "shapes a layer. Default: 6-12.", metavar="N|N-N"),
    )

    def rule_line(self, said: Said) -> str:
        """Write which moves are allowed."""
        from nightgrid.solvers.tiles.rules import Rules

        if "teleports" in said and "no_teleports" in said:
            raise PermanentError("--teleports and --no-teleports exclude one another; give one")
        return str(Rules(**self.rules_said(said)))

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
