"""Boards of Tiles for corpora: `tiles:n=1000,layers=3,seed=7`."""

from __future__ import annotations

from nightgrid.archive.games.generator_spec import (
    SEEDS_PER_STREAM,
    Board,
    Generated,
    Make,
    read_number,
    read_span,
)
from nightgrid.solvers.tiles.generate import Form, generate


def maker(spec: Generated) -> Make:
    """Parse the form of the boards."""
    said = dict(spec.options)
    given: dict[str, int] = {
        name: read_number(name, said[name], 1, 2**24)
        for name in ("tiles", "layers")
        if name in said
    }
    if "shapes" in said:
        given["shapes_min"], given["shapes_max"] = read_span("shapes", said["shapes"])
    form = Form(**given)
    first = spec.seed * SEEDS_PER_STREAM
    return lambda start, stop: (Board(generate(form, first + i), None) for i in range(start, stop))
