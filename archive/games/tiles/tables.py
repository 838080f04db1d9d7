"""The puzzles table of Tiles, as an explicit Arrow schema."""

from __future__ import annotations

import pyarrow as pa

from nightgrid.archive.lake.tables import list_of, puzzles_schema

TILES_PUZZLES = puzzles_schema(
    "tiles",
    pa.field("feature", list_of(pa.int32()), nullable=False),
    pa.field("tile_size", list_of(pa.int32()), nullable=False),
    pa.field("name_letter", list_of(pa.int32()), nullable=False),
    pa.field("name_size", list_of(pa.int32()), nullable=False),
)
"""One row per board. `feature` holds the features of each tile in turn, as numbers in order of
first appearance, `tile_size` how many each tile has. The names of features follow in the same
order: `name_letter` has their code points, `name_size` how many letters each has.
`size` is the number of tiles."""
