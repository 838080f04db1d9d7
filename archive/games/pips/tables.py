"""The puzzles table of Pips, as an explicit Arrow schema."""

from __future__ import annotations

import pyarrow as pa

from nightgrid.archive.lake.tables import list_of, puzzles_schema

PIPS_PUZZLES = puzzles_schema(
    "pips",
    pa.field("cell_row", list_of(pa.int32()), nullable=False),
    pa.field("cell_col", list_of(pa.int32()), nullable=False),
    pa.field("cell_region", list_of(pa.int32()), nullable=False),
    pa.field("region_type", list_of(pa.uint8()), nullable=False),
    pa.field("region_target", list_of(pa.int64()), nullable=False),
    pa.field("domino_a", list_of(pa.int32()), nullable=False),
    pa.field("domino_b", list_of(pa.int32()), nullable=False),
)
"""One row per board. cell_* run over the board's cells (sorted by row, then column), region_*
over its regions (codes of nightgrid.solvers.pips.puzzle.REGION_TYPES; target 0 where there is
none), domino_* over its dominoes; `size` is the number of dominoes."""
