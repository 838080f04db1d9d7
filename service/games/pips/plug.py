"""Plug Pips in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.service.games.plug import SAMPLES, Payload, ServicePlug, dated
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    from nightgrid.solvers.pips.generate.mix import Mix


class PipsServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "pips"
    sample = SAMPLES / name
    sample_days = 30
    sample_seed = 2026

    def levels(self) -> Sequence[str]:
        """Name the mixes of boards."""
        from nightgrid.solvers.pips.generate.mix import PRESETS

        return list(PRESETS)

    def payloads(
        self, levels: Sequence[str], start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make payloads with a board of each level."""
        mixes = _chosen_mixes(levels)
        # It loads the kernels, which a mix that is wrong needs none of.
        from nightgrid.solvers.pips.generate.generator import generate_many, to_payload

        boards = generate_many(seed, days * len(mixes), list(mixes.values()))

        def make(date: dt.date, _day: int) -> dict[str, Any]:
            return to_payload(date, dict(zip(mixes, boards, strict=False)))

        return dated(start, days, make), list(mixes)


def _chosen_mixes(levels: Sequence[str]) -> dict[str, Mix]:
    """Look up the mixes of levels. Raises PermanentError for an unknown level."""
    from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS

    names = dict.fromkeys(level.lower() for level in levels or LEVELS)
    for name in names:
        if name not in PRESETS:
            raise PermanentError(f"unknown level {name!r}; expected one of {', '.join(PRESETS)}")
    return {name: PRESETS[name] for name in names}


PLUG = PipsServicePlug()
