"""Mixes of Pips boards as a person asks for them, and payloads made from them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS, Mix


def chosen_mixes(said: Mapping[str, Any]) -> dict[str, Mix]:
    """Look the levels' mixes up and change what was said; options by name, those alone given.

    Raises PermanentError for an unknown level and for a mix that no board can follow.
    """
    changes: dict[str, Any] = {}
    if "dominoes" in said:
        changes["dominoes"] = ((said["dominoes"], 1.0),)
    if "rows" in said:
        changes |= {"shape": "rectangle", "rows": said["rows"], "cols": None}
    for name in ("unconstrained", "max_pip", "duplicates"):
        if name in said:
            changes[name] = said[name]
    mixes = {}
    for name in dict.fromkeys(level.lower() for level in said.get("level", LEVELS)):
        if name not in PRESETS:
            raise PermanentError(f"unknown level {name!r}; expected one of {', '.join(PRESETS)}")
        mixes[name] = replace(PRESETS[name], **changes)
    return mixes


def pips_payloads(
    mixes: dict[str, Mix], days: int, seed: int
) -> Callable[[dt.date, int], dict[str, Any]]:
    """Generate boards, of each mix in turn; return what makes the payload of the next day."""
    # It loads the kernels, which a mix that is wrong needs none of.
    from nightgrid.solvers.pips.generate.generator import generate_many, to_payload

    boards = generate_many(seed, days * len(mixes), list(mixes.values()))
    return lambda date, _day: to_payload(date, dict(zip(mixes, boards, strict=False)))
