"""Boards of Pips for corpora: `pips:n=1000,mix=published,seed=7`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nightgrid.archive.games.generator_spec import (
    Board,
    Generated,
    Make,
    read_choice,
    read_number,
    read_share,
    read_span,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import LEVELS, PRESETS, Mix, too_few_pips

PUBLISHED = "published"
"""The mix of the published archive: easy, medium and hard in turn."""
DOMINOES_MAX = 300
"""Dominoes of a board whose freedom is bounded, as that of all mixes but loose is: it is drawn
several times, in time that grows with the cube of its size. This one takes about a second."""
LOOSE_DOMINOES_MAX = 5_000
"""Dominoes of a board without such a bound, which takes about a second too."""

MAX_PIP = 99
"""The highest pip of a set whose dominoes are enough for all of these boards."""


def maker(spec: Generated) -> Make:
    """Choose the mixes that boards are drawn from, in turn."""
    said = dict(spec.options)
    changes: dict[str, Any] = {}
    if "dominoes" in said:
        least, most = read_span("dominoes", said["dominoes"], LOOSE_DOMINOES_MAX)
        changes["dominoes"] = tuple((count, 1.0) for count in range(least, most + 1))
    if "rows" in said:
        changes["rows"] = read_number("rows", said["rows"], 1, 1_000)
    if "unconstrained" in said:
        changes["unconstrained"] = read_share("unconstrained", said["unconstrained"])
    if "max_pip" in said:
        changes["max_pip"] = read_number("max_pip", said["max_pip"], 0, MAX_PIP)
    if "duplicates" in said:
        changes["duplicates"] = (
            read_choice("duplicates", said["duplicates"], ("yes", "no")) == "yes"
        )
    # Boards of a given size are made like the hard ones, which have the most sizes.
    mix = said.get("mix", "hard" if "dominoes" in said else PUBLISHED)
    names: list[str] = []
    for name in mix.split("+"):
        known = (PUBLISHED, *PRESETS)
        names += LEVELS if read_choice("mix", name, known) == PUBLISHED else [name]

    def changed(name: str) -> Mix:
        _check_sizes(spec, name, PRESETS[name], changes)
        mix = replace(PRESETS[name], **changes)
        if "max_pip" in said and (fault := too_few_pips(mix, "duplicates=yes")):
            raise PermanentError(f"generator spec {str(spec)!r:.80}: max_pip {fault} (mix={name})")
        return mix

    mixes = [changed(name) for name in names]

    def make(start: int, stop: int) -> Iterator[Board]:
        made = generate_many(spec.seed, stop - start, mixes, start)
        for i, (puzzle, _) in zip(range(start, stop), made, strict=True):
            yield Board(puzzle, names[i % len(names)])

    return make


def _check_sizes(spec: Generated, name: str, mix: Mix, changes: Mapping[str, Any]) -> None:
    """Check the dominoes of a mix against the limits, with messages in terms of the spec."""
    sizes = [count for count, _ in changes.get("dominoes", mix.dominoes)]
    text = f"generator spec {str(spec)!r:.80}: dominoes is "
    if mix.freedom_bits is not None and max(sizes) > DOMINOES_MAX:
        raise PermanentError(
            f"{text}{dict(spec.options)['dominoes']!r:.40}; expected at most {DOMINOES_MAX:,} with "
            f"mix={name} (mix=loose: {LOOSE_DOMINOES_MAX:,})"
        )
    rows = changes.get("rows", mix.rows)
    if rows is None or not any(2 * count % rows for count in sizes):
        return
    step = rows // math.gcd(rows, 2)
    span = f"{min(sizes)} to {max(sizes)}" if len(sizes) > 1 else str(sizes[0])
    whose = "" if "dominoes" in changes else f" with mix={name}"
    why = f"rows={rows}" if "rows" in changes else f"mix={name}"
    raise PermanentError(
        f"{text}{span}{whose}; expected one multiple of {step}, such as "
        f"dominoes={step * max(1, -(-min(sizes) // step))}, for rectangles of {rows} rows ({why})"
    )
