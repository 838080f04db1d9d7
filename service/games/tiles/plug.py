"""Plug Tiles in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from nightgrid.service.games.plug import GameOption, Payload, Said, ServicePlug, compact
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.solvers.tiles.generate import Form

BOARDS_A_SEED = 2**32
"""Boards have seeds of their own: those of one --seed are no other's."""


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

    def payloads(
        self,
        said: Said,
        start: dt.date,  # noqa: ARG002 - boards have no date
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make boards as the page holds them; they have numbers instead of dates."""
        from nightgrid.solvers.tiles.generate import generate, to_page

        form = _form_of(said)
        boards = (generate(form, seed * BOARDS_A_SEED + i) for i in range(days))
        payloads = (
            Payload(f"{i:0{len(str(days))}}", compact(to_page(board)))
            for i, board in enumerate(boards, 1)
        )
        return payloads, []


def _form_of(said: Said) -> Form:
    """Read what boards look like. Raises PermanentError for shapes that are no numbers."""
    from nightgrid.solvers.tiles.generate import Form

    given: dict[str, Any] = {name: said[name] for name in ("tiles", "layers") if name in said}
    if "shapes" in said:
        least, _, most = said["shapes"].partition("-")
        numbers = (least, most or least)
        if not all(n.isascii() and n.isdecimal() and len(n) <= 8 for n in numbers):
            raise PermanentError(
                f"--shapes is {said['shapes']!r:.40}; expected a number or two, such as 6-12"
            )
        given |= {"shapes_min": int(numbers[0]), "shapes_max": int(numbers[1])}
    return Form(**given)


PLUG = TilesServicePlug()
