"""Plug Pips in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nightgrid.service.games.plug import SAMPLES, GameOption, Payload, Said, ServicePlug, dated
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.solvers.pips.generate.mix import Mix


def _presets() -> Iterator[str]:
    from nightgrid.solvers.pips.generate.mix import PRESETS

    return iter(PRESETS)


class PipsServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "pips"
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
            values=_presets,
            metavar="LEVEL",
        ),
    )

    def reduced_svg(self, puzzle: Any, solution: Any | None, title: str) -> str:
        """Draw small cells: a hard problem takes many."""
        from nightgrid.service.games.pips.svg import SMALL, draw_svg

        return draw_svg(puzzle, solution, title, size=SMALL)

    def payloads(
        self, said: Said, start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make payloads with a board of each level."""
        mixes = _chosen_mixes(said)
        # It loads the kernels, which a mix that is wrong needs none of.
        from nightgrid.solvers.pips.generate.generator import generate_many, to_payload

        boards = generate_many(seed, days * len(mixes), list(mixes.values()))

        def make(date: dt.date, _day: int) -> dict[str, Any]:
            return to_payload(date, dict(zip(mixes, boards, strict=False)))

        return dated(start, days, make), list(mixes)


def _chosen_mixes(said: Said) -> dict[str, Mix]:
    """Look up the mixes of levels. Raises PermanentError for an unknown level."""
    from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS

    names = dict.fromkeys(level.lower() for level in said.get("level", LEVELS))
    for name in names:
        if name not in PRESETS:
            raise PermanentError(f"unknown level {name!r}; expected one of {', '.join(PRESETS)}")
    return {name: PRESETS[name] for name in names}


PLUG = PipsServicePlug()
