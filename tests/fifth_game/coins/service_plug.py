"""The plug of Coins: entry point of the group nightgrid.service."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from nightgrid.service.games import GameOption, Payload, ServicePlug


class CoinsServicePlug(ServicePlug):
    name = "coins"
    sample_days = 3
    rule_options = (
        GameOption(
            "most_coins",
            int,
            "most coins that may be taken. Default: any number.",
            rule="most",
        ),
    )

    def payloads(
        self, levels: Sequence[str], start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        from nightgrid.solvers.algebra import Ask

        from .archive_plug import random_puzzle
        from .game import CoinsGame
        from .rules import Rules

        def make() -> Iterator[Payload]:
            for day in range(days):
                puzzle = random_puzzle(f"day/{seed}/{day}", 6)
                solutions = CoinsGame(Rules()).solve(puzzle, Ask(kind="first")).solutions
                official = list(solutions[0]) if solutions else None
                date = (start + dt.timedelta(days=day)).isoformat()
                yield {"printDate": date, **puzzle.to_json(), "solution": official}

        return make(), ["daily"]


PLUG = CoinsServicePlug()
