"""Plug Pips in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from nightgrid.service.games.plug import SAMPLES, GameOption, Payload, Said, ServicePlug, dated


class PipsAtDoors(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "pips"
    draws_svg = False
    sample = SAMPLES / name
    sample_days = 30
    sample_seed = 2026
    shape_options = (
        GameOption(
            "level",
            list[str],
            "mix of a board of every payload: easy, medium, hard or loose; may be given "
            "several times. Without it: easy, medium and hard.",
            flags=("--level", "-l"),
            metavar="LEVEL",
        ),
        GameOption(
            "dominoes", int, "dominoes a board, instead of the mix's.", least=1, metavar="N"
        ),
        GameOption("rows", int, "make every board a rectangle of N rows.", least=1, metavar="N"),
        GameOption(
            "unconstrained", float, "share of cells without a constraint, 0 to 1.", metavar="SHARE"
        ),
        GameOption("max_pip", int, "highest pip of the set of dominoes.", least=0, metavar="N"),
        GameOption("duplicates", bool, "let a board hold a domino several times."),
    )

    def payloads(
        self, said: Said, start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make payloads with a board of each level."""
        from nightgrid.service.games.pips.random_payloads import chosen_mixes, pips_payloads

        mixes = chosen_mixes(said)
        return dated(start, days, pips_payloads(mixes, days, seed)), list(mixes)


PLUG = PipsAtDoors()
