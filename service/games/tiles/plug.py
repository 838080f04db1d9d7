"""The service's plug of Tiles."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Literal

from nightgrid.service.games.plug import GameOption, Payload, ServicePlug

BOARDS_A_SEED = 2**32
"""Stride of seeds: boards of different --seed values are independent."""


class TilesServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "tiles"
    sample_days = 5
    payloads_help = "Boards of Tiles have no date: their files are FOLDER/NUMBER.json."
    sample_seed = 2026
    dated = False
    rule_options = (
        GameOption(
            "teleports",
            Literal["yes", "forced", "no"],
            "Moves to a tile that shares nothing with the one before are always allowed (yes, the "
            "default), only from a cleared tile (forced), or never.",
        ),
    )

    def payloads(
        self,
        levels: Sequence[str],  # noqa: ARG002 - boards have none
        start: dt.date,  # noqa: ARG002 - and no date
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Generate boards in the page's format; they have numbers instead of dates."""
        from nightgrid.solvers.tiles.generate import Form, generate, to_page

        boards = (generate(Form(), seed * BOARDS_A_SEED + i) for i in range(days))
        return map(to_page, boards), []


PLUG = TilesServicePlug()
