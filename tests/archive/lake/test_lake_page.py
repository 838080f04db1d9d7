"""docs/reference/lake.md shows every table as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake import tables
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import GAMES

PAGE = (Path(__file__).parents[3] / "docs/reference/lake.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\*\*([\w.]+)\*\*.*?```json\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE))
SCHEMAS = {
    value.metadata[b"nightgrid.table"].decode(): value
    for value in (
        *vars(tables).values(),
        *(archive_plug(game).puzzles() for game in GAMES),
        *(tables.ranks_schema(game) for game in GAMES if archive_plug(game).ranked),
    )
    if isinstance(value, pa.Schema) and value.metadata
}


def test_every_table_is_on_the_page() -> None:
    assert set(ROWS) == set(SCHEMAS) | {"manifest", "frontier"}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_example_row_has_exactly_the_columns_of_the_table(name: str) -> None:
    row = json.loads(ROWS[name])
    assert list(row) == SCHEMAS[name].names
    for field in SCHEMAS[name]:
        assert field.nullable or row[field.name] is not None


def test_the_example_of_a_manifest_begins_with_its_own_columns() -> None:
    assert list(json.loads(ROWS["manifest"]))[:5] == [field.name for field in tables.MANIFEST_HEAD]


def test_the_example_of_a_frontier_has_a_key_of_two_words() -> None:
    assert list(json.loads(ROWS["frontier"])) == tables.frontier_schema(4).names
    assert len(bytes.fromhex(json.loads(ROWS["frontier"])["state"])) == 4 * 8


def test_the_version_and_every_reason_code_are_on_the_page() -> None:
    assert f"The version is {tables.SCHEMA_VERSION};" in PAGE
    section = PAGE.partition("## Reason codes")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(ReasonCode)
