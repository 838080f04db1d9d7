"""Plug Pips in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nightgrid.service.games.plug import SAMPLES, GameOption, Payload, Said, ServicePlug, dated

if TYPE_CHECKING:
    from nightgrid.service.drawing import View


class PipsAtDoors(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "pips"
    draws_svg = False
    sample = SAMPLES / name
    sample_days = 30
    sample_seed = 2026
    shape_options = (
        GameOption(
            name="level",
            kind=list[str],
            flags=("--level", "-l"),
            metavar="LEVEL",
            help="mix of a board of every payload: easy, medium, hard or loose; may be given "
            "several times. Without it: easy, medium and hard.",
        ),
        GameOption(
            name="dominoes",
            kind=int,
            least=1,
            metavar="N",
            help="dominoes a board, instead of the mix's.",
        ),
        GameOption(
            name="rows",
            kind=int,
            least=1,
            metavar="N",
            help="make every board a rectangle of N rows.",
        ),
        GameOption(
            name="unconstrained",
            kind=float,
            metavar="SHARE",
            help="share of cells without a constraint, 0 to 1.",
        ),
        GameOption(
            name="max_pip",
            kind=int,
            least=0,
            metavar="N",
            help="highest pip of the set of dominoes.",
        ),
        GameOption(
            name="duplicates",
            kind=bool,
            flags=("--duplicates",),
            help="let a board hold a domino several times.",
        ),
    )

    def view(self) -> View:
        """Return how boards and solutions are drawn."""
        from nightgrid.service.games.pips.view import PipsView

        return PipsView()

    def payloads(
        self, said: Said, start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make payloads with a board of each level."""
        from nightgrid.service.games.pips.mixes import chosen_mixes, pips_payloads

        mixes = chosen_mixes(said)
        return dated(pips_payloads(mixes, start, days, seed)), list(mixes)


PLUG = PipsAtDoors()
