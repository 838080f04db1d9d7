"""The service's plug of Pips."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from nightgrid.service.games.plug import SAMPLES, Payload, ServicePlug, Wanted, dated
from nightgrid.solvers.errors import PermanentError


class PipsServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "pips"
    sample = SAMPLES / name
    sample_days = 30
    sample_seed = 2026

    def levels(self) -> Sequence[str]:
        """Return the names of the mixes of boards."""
        from nightgrid.solvers.pips.generate.mix import PRESETS

        return list(PRESETS)

    def payloads(
        self,
        levels: Sequence[str],
        start: dt.date,
        days: int,
        seed: int,
        wanted: Wanted | None = None,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Make payloads with a board of each level."""
        from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS

        names = list(dict.fromkeys(level.lower() for level in levels or LEVELS))
        for name in names:
            if name not in PRESETS:
                known = ", ".join(PRESETS)
                raise PermanentError(f"unknown level {name!r}; expected one of {known}")
        # Importing it loads the kernels, which the check of a wrong mix does not need.
        from nightgrid.solvers.pips.generate.generator import generate_many, to_payload

        if wanted is None:
            boards = generate_many(seed, days * len(names), [PRESETS[name] for name in names])
        else:
            from nightgrid.service.games.pips.wanted import wanted_boards

            boards = wanted_boards(seed, days * len(names), names, wanted)

        def make(date: dt.date, _day: int) -> dict[str, Any]:
            return to_payload(date, dict(zip(names, boards, strict=False)))

        return dated(start, days, make), names


PLUG = PipsServicePlug()
