"""Plug Pips in at the doors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nightgrid.service.games.plug import SAMPLES, GameOption, Payload, Said, ServicePlug, dated
from nightgrid.solvers.errors import PermanentError, RuleError

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
        GameOption(
            "dominoes", int, "dominoes a board, instead of the mix's.", least=1, metavar="N"
        ),
        GameOption("rows", int, "make every board a rectangle of N rows.", least=1, metavar="N"),
        GameOption(
            "unconstrained",
            float,
            "share of cells without a constraint, 0 to 1.",
            metavar="SHARE",
            allows=lambda share: 0 <= share <= 1,
            expects=("a share from 0 to 1",),
        ),
        GameOption("max_pip", int, "highest pip of the set of dominoes.", least=0, metavar="N"),
        GameOption("duplicates", bool, "let a board hold a domino several times."),
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
    """Look the levels' mixes up and change what was said.

    Raises PermanentError for an unknown level and for a mix that no board can follow.
    """
    from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS, too_few_pips

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
        try:
            mixes[name] = mix = replace(PRESETS[name], **changes)
        except RuleError as error:
            raise PermanentError(f"--{error.rule} {error.fault} (--level {name})") from error
        if "max_pip" in said and (fault := too_few_pips(mix, "--duplicates")):
            raise PermanentError(f"--max-pip {fault} (--level {name})")
    return mixes


PLUG = PipsServicePlug()
