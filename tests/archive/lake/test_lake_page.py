"""docs/reference/lake.md shows every table as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake import schemas
from nightgrid.archive.lake.location import LAKE_NAMES
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import GAMES

PAGE = (Path(__file__).parents[3] / "docs/reference/lake.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| `([\w.]+)` \|", PAGE.partition("\n## Tables\n")[2], re.MULTILINE)
SCHEMAS = {
    value.metadata[b"nightgrid.table"].decode(): value
    for value in (
        *vars(schemas).values(),
        *(archive_plug(game).puzzles() for game in GAMES),
    )
    if isinstance(value, pa.Schema) and value.metadata
}


def test_every_table_is_on_the_page_once() -> None:
    assert sorted(TABLES) == sorted({*SCHEMAS, "manifest", "frontier"})


def test_every_name_at_the_top_of_a_lake_is_on_the_page() -> None:
    section = PAGE.partition("\n## What lies where\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`([\w.]+?)(?:/[^`]*)?`", section))
    assert LAKE_NAMES - listed == set()


def test_the_version_and_every_reason_code_are_on_the_page() -> None:
    assert f"The version is {schemas.SCHEMA_VERSION};" in PAGE
    section = PAGE.partition("## Reason codes")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(ReasonCode)
